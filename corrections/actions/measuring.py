"""The backtest of a proposed rule: what it would have done to the calls that are recorded."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from corrections.actions.coverage import Coverage, cover
from corrections.models import ProposalCall, RuleProposal
from corrections.queries.proposals import SHOWN_CALLS
from memory.permissions import system_actor
from memory.queries.evidence import RecordedCall, patterns_of_calls
from memory.queries.linking import pattern_ids_of

MEASURING = system_actor("backtest")


@dataclass(frozen=True)
class Measured:
    """What a rule catches, misses and hits among the newest recorded calls."""

    caught: list[RecordedCall]
    missed: list[RecordedCall]
    hit: list[RecordedCall]
    good: int
    errors: list[str]

    @property
    def runs(self) -> int:
        """In how many tasks it catches a failure."""
        return len({call.task_uuid for call in self.caught})


def measure_rule(*, workspace_id: int, document: Any, patterns: Sequence[UUID], now: datetime) -> Measured:
    """Try a document on the failing calls of its patterns and on the newest calls of its tool.

    Whoever proposes need not be allowed to read the calls: only the figures are told. Raises
    :class:`hgmem.rules.RuleError`.
    """
    by = replace(MEASURING, workspace_id=workspace_id)
    found: Coverage = cover(document=document, patterns=patterns, now=now, by=by)
    return Measured(
        caught=[*found.pattern.hits, *found.failed.hits],
        missed=[*found.pattern.missed, *found.failed.missed],
        hit=found.good.hits,
        good=found.good.n,
        errors=found.errors,
    )


def write_backtest(proposal: RuleProposal, measured: Measured, *, patterns: Iterable[UUID] = ()) -> None:
    """Keep it with the proposal, in the caller's transaction: figures, the newest calls, their patterns.

    ``patterns`` stay linked, whatever it catches.
    """
    proposal.caught, proposal.hit = len(measured.caught), len(measured.hit)
    proposal.failures = len(measured.caught) + len(measured.missed)
    proposal.good, proposal.runs = measured.good, measured.runs
    proposal.last_error = "; ".join(measured.errors)[:2_000]
    proposal.save(update_fields=["caught", "failures", "hit", "good", "runs", "last_error"])
    proposal.calls.all().delete()
    rows = [
        *_rows(proposal, measured.caught, "caught"),
        *_rows(proposal, measured.missed, "missed"),
        *_rows(proposal, measured.hit, "hit"),
    ]
    ProposalCall.objects.bulk_create(rows, ignore_conflicts=True)
    found = [pk for pk, _uuid in patterns_of_calls(call.id for call in measured.caught)]
    proposal.patterns.set([*pattern_ids_of(proposal.workspace_id, patterns), *found])


def _rows(proposal: RuleProposal, calls: Iterable[RecordedCall], role: str) -> list[ProposalCall]:
    newest = sorted({call.id for call in calls})[-SHOWN_CALLS:]
    return [ProposalCall(proposal=proposal, call_id=pk, role=role) for pk in newest]
