"""Rule proposals for pages, API and worker; the rules that say the same."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from corrections.domain.proposing import read_proposed, rule_key
from corrections.models import Induction, ProposalCall, Rule, RuleProposal
from corrections.models.proposals import RuleProposalQuerySet
from hgmem.rules import RuleError
from memory.queries.paging import Page, most_first, newest_first

SHOWN_CALLS = 200
PARTS = {"waiting": RuleProposalQuerySet.waiting, "once": RuleProposalQuerySet.met_once}
"""Of what is proposed."""
GONE = ("retired", "deleted")


@dataclass(frozen=True)
class ProposalFilters:
    """What of the list is asked for; "" and 0 for everything. ``q`` looks in name, tool and condition.

    ``status`` may also be ``waiting`` (a person is to decide) or ``once`` (met in too few tasks to ask).
    """

    status: str = "proposed"
    tool: str = ""
    source: str = ""
    action_type: str = ""
    q: str = ""
    min_caught: int = 0


def list_proposals(*, workspace_id: int, filters: ProposalFilters) -> QuerySet[RuleProposal]:
    """The workspace's proposals, newest first, without transcripts."""
    rows = RuleProposal.objects.filter(workspace_id=workspace_id).select_related("rule", "change")
    exact = {"status": filters.status, "tool": filters.tool, "source": filters.source,
             "action_type": filters.action_type, "caught__gte": filters.min_caught}  # fmt: skip
    if filters.status in PARTS:
        rows, exact = PARTS[filters.status](rows), exact | {"status": ""}
    rows = rows.filter(**{name: value for name, value in exact.items() if value})
    if filters.q:
        rows = rows.filter(
            Q(name__icontains=filters.q)
            | Q(tool__icontains=filters.q)
            | Q(document__condition__icontains=filters.q)
        )
    return rows.defer("transcript")


def page_of_proposals(
    *, workspace_id: int, filters: ProposalFilters, order: str, cursor: str
) -> Page[RuleProposal]:
    """One page for people: by evidence (most failures caught first), or newest first."""
    rows = list_proposals(workspace_id=workspace_id, filters=filters)
    return newest_first(rows, cursor) if order == "recent" else most_first(rows, "caught", cursor)


def find_proposal(*, workspace_id: int, uuid: UUID) -> RuleProposal | None:
    """One proposal of the workspace with what accepting it made, or None."""
    rows = RuleProposal.objects.select_related("workspace", "rule", "change")
    return rows.filter(workspace_id=workspace_id, uuid=uuid).first()


def chosen_proposals(*, workspace_id: int, uuids: Iterable[UUID]) -> list[RuleProposal]:
    """These proposals of the workspace, those with most evidence first; unknown ones are left out."""
    rows = RuleProposal.objects.filter(workspace_id=workspace_id, uuid__in=list(uuids))
    return list(rows.defer("transcript").order_by("-caught", "-id"))


def proposals_of_pattern(*, workspace_id: int, pattern: UUID, most: int = 10) -> list[RuleProposal]:
    """What is proposed (or being drafted) against an error pattern, most evidence first."""
    rows = RuleProposal.objects.filter(
        workspace_id=workspace_id, patterns__uuid=pattern, status__in=("proposed", "queued", "given_up")
    )
    return list(rows.defer("transcript").order_by("-caught", "-id")[:most])


def following_proposal(proposal: RuleProposal) -> RuleProposal | None:
    """The next one to decide in the order of the list; None at its end."""
    rows = _to_decide(proposal).order_by("-caught", "-id")
    return rows.filter(Q(caught__lt=proposal.caught) | Q(caught=proposal.caught, pk__lt=proposal.pk)).first()


def preceding_proposal(proposal: RuleProposal) -> RuleProposal | None:
    """The one before it in the order of the list; None at its beginning."""
    rows = _to_decide(proposal).order_by("caught", "id")
    return rows.filter(Q(caught__gt=proposal.caught) | Q(caught=proposal.caught, pk__gt=proposal.pk)).first()


def count_proposals(workspace_id: int) -> dict[str, int]:
    """How many proposals are in each status (a status without any is left out)."""
    rows = RuleProposal.objects.filter(workspace_id=workspace_id).order_by()
    counts = dict(rows.values_list("status").annotate(n=Count("id")))
    proposed = counts.pop("proposed", 0)
    once = rows.met_once().count() if proposed else 0
    parts = {"waiting": proposed - once, "once": once}
    return {name: n for name, n in parts.items() if n} | counts


@dataclass(frozen=True)
class ShownCall:
    """A recorded call of a backtest, and what its error said ("" for a good one)."""

    role: str
    task_uuid: UUID
    task_name: str
    seq: int
    input: object
    message: str


def calls_of_proposal(proposal: RuleProposal) -> dict[str, list[ShownCall]]:
    """The listed calls by role (``caught``, ``missed``, ``hit``), newest first. Two queries."""
    rows = ProposalCall.objects.filter(proposal=proposal).select_related("call__task").order_by("-call_id")
    found: dict[str, list[ShownCall]] = defaultdict(list)
    calls = list(rows.prefetch_related("call__failures"))
    for row in calls:
        failures = row.call.failures.all()
        message = failures[0].message if failures else ""
        task = row.call.task
        found[row.role].append(
            ShownCall(row.role, task.uuid, task.external_id, row.call.seq, row.call.input, message)
        )
    return found


def similar_rules(proposal: RuleProposal, *, most: int = 5) -> list[Rule]:
    """Rules for the same tool with the same kind of action, the newest first."""
    rows = Rule.objects.filter(
        workspace_id=proposal.workspace_id, latest_version__tool=proposal.tool,
        latest_version__action_type=proposal.action_type,
    ).exclude(status__in=GONE)  # fmt: skip
    rows = rows.exclude(pk=proposal.rule_id) if proposal.rule_id else rows
    return list(rows.select_related("latest_version").order_by("-pk")[:most])


def rules_by_key(*, workspace_id: int, tools: Collection[str]) -> dict[str, Rule]:
    """The rules of these tools by what they say (latest and served version). One query."""
    rows = Rule.objects.filter(workspace_id=workspace_id, latest_version__tool__in=list(tools))
    rows = rows.exclude(status__in=GONE).select_related("latest_version", "live_version")
    found: dict[str, Rule] = {}
    for rule in rows:
        for version in (rule.latest_version, rule.live_version):
            if version is not None:
                try:
                    found.setdefault(rule_key(read_proposed(version.body)), rule)
                except RuleError:
                    continue
    return found


def get_induction(workspace_id: int) -> Induction | None:
    """How far the inducer is; None before it began."""
    return Induction.objects.filter(workspace_id=workspace_id).first()


def _to_decide(proposal: RuleProposal) -> QuerySet[RuleProposal]:
    rows = RuleProposal.objects.waiting().filter(workspace_id=proposal.workspace_id)
    return rows.exclude(pk=proposal.pk).defer("transcript")
