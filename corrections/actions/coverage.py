"""How much a rule would hit of what was recorded: a pattern's failing calls and the tool's good ones."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from corrections.domain.documents import read_document
from hgmem.rules import Condition, Rule, RuleError, Ruleset, parse_context
from memory.domain.access import Actor, check_may
from memory.queries.evidence import RecordedCall, list_failing_calls, list_recent_calls

FAILING = 200
RECENT = 400


@dataclass
class Tally:
    """``hit`` of ``n`` calls; ``hits`` and ``missed`` list them. ``full`` when there may be more."""

    n: int = 0
    full: bool = False
    hits: list[RecordedCall] = field(default_factory=list)
    missed: list[RecordedCall] = field(default_factory=list)

    @property
    def hit(self) -> int:
        """How many."""
        return len(self.hits)


@dataclass
class Coverage:
    """What a rule would have hit. ``errors`` are sentences of conditions that could not be evaluated."""

    pattern: Tally = field(default_factory=Tally)
    failed: Tally = field(default_factory=Tally)
    good: Tally = field(default_factory=Tally)
    errors: list[str] = field(default_factory=list)
    error_count: int = 0
    skipped: int = 0


def cover(*, document: Any, patterns: Sequence[UUID], now: datetime, by: Actor) -> Coverage:
    """Try a rule on the newest recorded calls: of its patterns, and of its tool. Nothing is written.

    The validity window is left aside. ``failed`` are the tool's failing calls beside those of the patterns.
    At most ``FAILING`` and ``RECENT`` calls are looked at.
    Raises :class:`NotPermitted`, :class:`hgmem.rules.RuleError`.
    """
    check_may(by, "look")
    rule = outside_time(read_document(document, author="human"))
    ruleset = Ruleset.compile([rule], version="coverage")
    looks = {"after": rule.point == "after", "history": _reads_history(rule)}
    workspace_id, tool = by.workspace_id or 0, "" if rule.applies_to.is_glob else rule.applies_to.tool
    ours: list[RecordedCall] = []
    if patterns:
        ours = list_failing_calls(workspace_id=workspace_id, patterns=patterns, limit=FAILING, **looks)
    recent = list_recent_calls(workspace_id=workspace_id, tool=tool, limit=RECENT, **looks)
    result = Coverage()
    result.pattern.full, result.good.full = len(ours) == FAILING, len(recent) == RECENT
    known = {(call.task_uuid, call.seq) for call in ours}
    _tally(result, result.pattern, ours, ruleset, now)
    others = [call for call in recent if (call.task_uuid, call.seq) not in known]
    others = [call for call in others if rule.applies_to.fits_tool(call.tool)]
    _tally(result, result.failed, [call for call in others if call.failed], ruleset, now)
    _tally(result, result.good, [call for call in others if not call.failed], ruleset, now)
    return result


def _tally(
    result: Coverage, tally: Tally, calls: Iterable[RecordedCall], ruleset: Ruleset, now: datetime
) -> None:
    point = ruleset.rules[0].rule.point if ruleset.rules else "before"
    for call in calls:
        try:
            decision = ruleset.decide(parse_context(call.context | {"point": point}), now=now)
        except RuleError:  # stored before the caps were what they are
            result.skipped += 1
            continue
        tally.n += 1
        (tally.hits if decision.matched else tally.missed).append(call)
        for error in decision.errors:
            result.error_count += 1
            if error["detail"] not in result.errors and len(result.errors) < 5:
                result.errors.append(error["detail"])


def outside_time(rule: Rule) -> Rule:
    """The rule without its validity window: what it would have said at any time."""
    return rule.model_copy(update={"valid_from": None, "valid_until": None})


def _reads_history(rule: Rule) -> bool:
    reads = Condition.compile(rule.condition).read_set | rule.action.reads()
    return any(path.partition(".")[0].partition("[")[0] == "history" for path in reads)
