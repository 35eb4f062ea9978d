"""What is proposed now: each mistake's conditions, put together by action, as rules that the engine takes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from corrections.domain.inducing.covering import Clause
from corrections.domain.inducing.features import Atom
from corrections.domain.inducing.forgotten import StepKey
from corrections.domain.inducing.groups import Group, Mistake
from corrections.domain.inducing.ledger import Book, Ledger
from corrections.domain.inducing.proposals import Action, Changes, Evidence, Joined, Proposal, join, propose
from corrections.domain.inducing.repeats import RepeatKey, Repeats
from hgmem.rules import Rule, RuleError

MAX_TAKEN = 20_000
Bucket = tuple[Mistake, Action]
"""A tool and scope, and what is done there: conditions of several mistakes may become one rule."""
Source = Bucket | RepeatKey | StepKey


class Board:
    """Every proposal, kept true to the groups it is made of."""

    def __init__(self, groups: Mapping[Mistake, Group], ledger: Ledger, repeats: Repeats) -> None:
        self._groups, self._ledger, self._repeats = groups, ledger, repeats
        self._by_action: dict[Bucket, dict[Mistake, None]] = {}
        self._made: dict[Source, dict[str, Proposal]] = {}
        self._taken: dict[str, bool] = {}
        self._told: dict[str, Proposal] = {}
        self._said: dict[str, tuple[Book, Joined]] = {}

    def proposals(self) -> list[Proposal]:
        """Everything proposed now, with the number of good calls as it is now."""
        found = []
        for source, made in self._made.items():
            good = self._ledger.size(_book(source))
            found += [replace(it, backtest=replace(it.backtest, good=good)) for it in made.values()]
        return found

    def changes(self) -> Changes:
        """What was proposed, gained evidence or was withdrawn since this was last asked."""
        now = {key: proposal for made in self._made.values() for key, proposal in made.items()}
        told, self._told = self._told, now
        return Changes(
            proposed=tuple(new for key, new in now.items() if key not in told),
            updated=tuple(new for key, new in now.items() if key in told and told[key] != new),
            withdrawn=tuple(key for key in told if key not in now),
        )

    def hits(self, key: str) -> int:
        """How many good calls a proposal would hit that was made once, whether it still stands or not."""
        book, joined = self._said.get(key, (None, None))
        return len(self._hit(book, joined)) if book is not None and joined is not None else 0

    def set_parts(self, mistake: Mistake, parts: dict[Action, tuple[Clause, ...]]) -> None:
        """What is proposed about a mistake from now on."""
        group = self._groups[mistake]
        before, group.parts = group.parts, parts
        for action in before.keys() - parts.keys():
            self._by_action.get(_bucket(mistake, action), {}).pop(mistake, None)
        for action in parts:
            self._by_action.setdefault(_bucket(mistake, action), {})[mistake] = None
        for action in before | parts:
            self._propose(_bucket(mistake, action))

    def refresh(self, tool: str) -> None:
        """Say the conditions of a tool anew."""
        for bucket in [bucket for bucket in self._by_action if bucket[0].tool == tool]:
            self._propose(bucket)

    def set_repeat(self, key: RepeatKey) -> None:
        """What is proposed about a text that failed before."""
        found = self._repeats.rule(key)
        self._made.pop(key, None)
        if found is not None:
            joined, action, evidence = found
            evidence = replace(evidence, good=self._ledger.size((key.tool, key.scope[1])))
            texts = self._ledger.always_text(key.tool)
            proposal = propose(key.tool, key.scope, joined, action, evidence, texts)
            if proposal is not None and self._is_rule(proposal):
                self._made[key] = {proposal.key: proposal}

    def set_step(self, key: StepKey, proposals: Sequence[Proposal]) -> None:
        """What is proposed about a step that was forgotten before one call."""
        self._made.pop(key, None)
        made = {proposal.key: proposal for proposal in proposals if self._is_rule(proposal)}
        if made:
            self._made[key] = made

    def _propose(self, bucket: Bucket) -> None:
        where, action = bucket
        failing: dict[str, tuple[str, str, frozenset[Atom]]] = {}
        clauses: list[Clause] = []
        for mistake in self._by_action.get(bucket, ()):
            group = self._groups[mistake]
            clauses += group.parts.get(action, ())
            failing |= {
                seen.call.id: (seen.call.id, seen.call.run, seen.facts) for seen in group.failing.values()
            }
        evidence = Evidence(list(failing.values()), good=self._ledger.size(where.book))
        made = [self._proposal(where, joined, action, evidence) for joined in join(clauses)]
        self._made[bucket] = {proposal.key: proposal for proposal in made if proposal is not None}
        if not self._made[bucket]:
            del self._made[bucket]
        if not self._by_action.get(bucket, True):
            del self._by_action[bucket]

    def _proposal(
        self, where: Mistake, joined: Joined, action: Action, evidence: Evidence
    ) -> Proposal | None:
        """One rule with its backtest; None for one that the engine does not take."""
        hit = self._hit(where.book, joined)
        names = tuple(self._ledger.name(where.book, number) for number in sorted(hit))
        texts = self._ledger.always_text(where.tool)
        proposal = propose(where.tool, where.scope, joined, action, replace(evidence, hit=names), texts)
        if proposal is None or not self._is_rule(proposal):
            return None
        self._said[proposal.key] = where.book, joined
        if len(self._said) > MAX_TAKEN:
            del self._said[next(iter(self._said))]
        return proposal

    def _hit(self, book: Book, joined: Joined) -> set[int]:
        found: set[int] = set()
        for extra in joined.any_of or (None,):
            facts = joined.all_of if extra is None else joined.all_of | {extra}
            found |= self._ledger.hit(book, facts, joined.none_of)
        return found

    def _is_rule(self, proposal: Proposal) -> bool:
        if len(self._taken) > MAX_TAKEN:
            self._taken.clear()
        if proposal.key not in self._taken:
            try:
                Rule.from_document(proposal.document() | {"uuid": proposal.key})
            except RuleError:
                self._taken[proposal.key] = False
            else:
                self._taken[proposal.key] = True
        return self._taken[proposal.key]


def _book(source: Source) -> Book:
    """Whose good calls the proposals of a bucket, of a repeated text or of a forgotten step are tried on."""
    if isinstance(source, RepeatKey | StepKey):
        return source.tool, source.scope[1]
    return source[0].book


def _bucket(mistake: Mistake, action: Action) -> Bucket:
    return Mistake(mistake.tool, mistake.scope), action
