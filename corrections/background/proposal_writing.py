"""What the inducer proposes, as rows: new ones, ones that gained evidence, ones that it took back.

Call :func:`write_proposals` inside a transaction that holds the workspace's ``Induction`` row. What a person
decided is never touched.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

from django.db.models import Max

from corrections.domain.documents import body_of
from corrections.domain.inducing import Backtest, Proposal
from corrections.domain.proposing import check_proposal
from corrections.live.inducers import Reader
from corrections.models import ProposalCall, RuleProposal
from corrections.models import Rule as StoredRule
from corrections.queries.proposals import SHOWN_CALLS, rules_by_key
from hgmem.rules import Rule

INDUCER = "inducer"
TAKEN_BACK = (
    "The inducer took it back: a call that went well would be hit, or another proposal covers its calls."
)
SAYS_THE_SAME = "The rule “{name}” says the same."
FIGURES = ("caught", "failures", "hit", "good", "runs")
Proposed = dict[str, tuple[Proposal, Rule]]


def write_proposals(reader: Reader, *, now: datetime) -> int:
    """Make the rows what the inducer proposes; how many are new."""
    proposed = reader.proposed()
    known = {row.key: row for row in RuleProposal.objects.filter(workspace=reader.workspace_id).defer(
        "document", "transcript", "reason")}  # fmt: skip
    gaining = [key for key in proposed if key in known and _is_ours(known[key])]
    _update(reader, [(known[key], proposed[key][0]) for key in gaining], now)
    new = {key: pair for key, pair in proposed.items() if key not in known and pair[0].backtest.caught}
    created = _create(reader, _without_rejected(reader.workspace_id, new), now) if new else []
    _refute(reader.refuted(), known.values(), now)
    _take_back(reader, [row for key, row in known.items() if key not in proposed], now)
    return len(created)


def _refute(hits: dict[str, int], rows: Iterable[RuleProposal], now: datetime) -> None:
    """What was accepted stays accepted; that good calls would be hit by now is told, and its rule doubted."""
    changed = [
        row
        for row in rows
        if row.status == "accepted" and row.source == INDUCER and hits.get(row.key, 0) > row.hit
    ]
    for row in changed:
        row.hit, row.updated_at = hits[row.key], now
    RuleProposal.objects.bulk_update(changed, ["hit", "updated_at"], batch_size=200)


def _is_ours(row: RuleProposal) -> bool:
    """Proposed, or taken back by the inducer and by nobody else."""
    return row.status == "proposed" or (row.status == "withdrawn" and not row.decided_by and not row.rule_id)


def _update(reader: Reader, pairs: Sequence[tuple[RuleProposal, Proposal]], now: datetime) -> None:
    changed, regained = [], []
    good: dict[int, list[int]] = defaultdict(list)
    for row, proposal in pairs:
        is_back = row.status == "withdrawn"
        evidence = hash((proposal.backtest.caught, proposal.backtest.hit))
        if reader.written.get(row.key) != evidence or is_back:
            regained.append((row, proposal.backtest))
            reader.written[row.key] = evidence
        figures = dict(zip(FIGURES, _figures(proposal), strict=True))
        differs = {name for name, value in figures.items() if value != getattr(row, name)}
        if is_back or differs - {"good"}:
            _gain(row, figures, now, is_back=is_back)
            changed.append(row)
        elif differs:
            good[figures["good"]].append(row.pk)
    columns = [*FIGURES, "times_proposed", "updated_at", "status", "decision_reason"]
    RuleProposal.objects.bulk_update(changed, columns, batch_size=200)
    for number, rows in good.items():  # every good call changes this of all proposals of its tool and scope
        RuleProposal.objects.filter(pk__in=rows).update(good=number)
    _list_calls(reader, regained)


def _gain(row: RuleProposal, figures: dict[str, int], now: datetime, *, is_back: bool) -> None:
    row.times_proposed += is_back or figures["caught"] > row.caught
    if is_back:
        row.status, row.decision_reason = check_proposal(row.status, "propose_again"), ""
    for name, value in figures.items():
        setattr(row, name, value)
    row.updated_at = now


def _create(reader: Reader, new: Proposed, now: datetime) -> list[RuleProposal]:
    same = rules_by_key(
        workspace_id=reader.workspace_id, tools={proposal.tool for proposal, _rule in new.values()}
    )
    rows = [
        _row(reader.workspace_id, key, proposal, rule, same.get(key), now)
        for key, (proposal, rule) in new.items()
    ]
    RuleProposal.objects.bulk_create(rows, ignore_conflicts=True)  # an agent may have been faster
    mine = {row.uuid for row in rows}
    stored = [
        row
        for row in RuleProposal.objects.filter(workspace=reader.workspace_id, key__in=list(new))
        if row.uuid in mine
    ]
    _list_calls(reader, [(row, new[row.key][0].backtest) for row in stored])
    for row in stored:
        backtest = new[row.key][0].backtest
        reader.written[row.key] = hash((backtest.caught, backtest.hit))
    return stored


def _row(
    workspace_id: int, key: str, proposal: Proposal, rule: Rule, same: StoredRule | None, now: datetime
) -> RuleProposal:
    row = RuleProposal(
        workspace_id=workspace_id, key=key, source=INDUCER, name=proposal.name[:200],
        tool=proposal.tool[:200], action_type=proposal.action_type, document=body_of(rule),
        proposed_by=INDUCER, proposed_at=now, updated_at=now,
        **dict(zip(FIGURES, _figures(proposal), strict=True)),
    )  # fmt: skip
    if same is not None:
        row.status, row.rule = check_proposal(row.status, "withdraw"), same
        row.decision_reason = SAYS_THE_SAME.format(name=same)
    return row


def _figures(proposal: Proposal) -> tuple[int, ...]:
    test = proposal.backtest
    return len(test.caught), test.failures, len(test.hit), test.good, proposal.runs


def _without_rejected(workspace_id: int, new: Proposed) -> Proposed:
    """Leave out what only repeats a rejected proposal in other words: same tool and action, no new call."""
    rejected = RuleProposal.objects.filter(
        workspace=workspace_id, status="rejected", tool__in={pair[0].tool for pair in new.values()}
    )
    caught: dict[tuple[int, str, str], set[int]] = defaultdict(set)
    rows = ProposalCall.objects.filter(proposal__in=rejected, role="caught")
    for pk, tool, action_type, call in rows.values_list(
        "proposal", "proposal__tool", "proposal__action_type", "call"
    ):
        caught[pk, tool, action_type].add(call)
    return {
        key: pair
        for key, pair in new.items()
        if not any(
            (tool, action_type) == (pair[0].tool, pair[0].action_type)
            and calls.issuperset(map(int, pair[0].backtest.caught))
            for (_pk, tool, action_type), calls in caught.items()
        )
    }


def _take_back(reader: Reader, rows: Iterable[RuleProposal], now: datetime) -> None:
    """Withdraw what the inducer does not propose any more.

    What it saw before its window stays, and what a person proposed again.
    """
    ours = [row for row in rows if row.source == INDUCER and not row.decided_by]
    gone = {row.pk: row for row in ours if row.status == "proposed"}
    if not gone:
        return
    if not reader.is_whole:
        newest = ProposalCall.objects.filter(proposal__in=gone, role="caught")
        for pk, last in newest.values_list("proposal").annotate(last=Max("call_id")):
            if reader.first is None or last < reader.first:
                del gone[pk]
    RuleProposal.objects.filter(pk__in=gone, status="proposed").update(
        status=check_proposal("proposed", "withdraw"), decision_reason=TAKEN_BACK, updated_at=now
    )


def _list_calls(reader: Reader, pairs: Sequence[tuple[RuleProposal, Backtest]]) -> None:
    """The newest calls of each role, and the patterns of what is caught."""
    rows = [row for row, _backtest in pairs]
    ProposalCall.objects.filter(proposal__in=rows).delete()
    calls, links = [], []
    through = RuleProposal.patterns.through
    for row, backtest in pairs:
        caught = sorted(map(int, backtest.caught))
        hit = sorted(set(map(int, backtest.hit)) - set(caught))
        calls += [ProposalCall(proposal=row, call_id=pk, role="caught") for pk in caught[-SHOWN_CALLS:]]
        calls += [ProposalCall(proposal=row, call_id=pk, role="hit") for pk in hit[-SHOWN_CALLS:]]
        patterns = {pattern for pk in caught for pattern in reader.patterns.get(pk, ())}
        links += [through(ruleproposal_id=row.pk, errorpattern_id=pattern) for pattern in sorted(patterns)]
    ProposalCall.objects.bulk_create(calls, batch_size=500, ignore_conflicts=True)
    through.objects.bulk_create(links, batch_size=500, ignore_conflicts=True)
