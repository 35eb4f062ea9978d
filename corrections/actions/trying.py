"""Trying rules without saving or serving them: a check, a simulation, a backtest. Nothing is written."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from corrections.actions.coverage import outside_time
from corrections.domain.documents import read_document
from corrections.live.rulesets import ruleset_for
from hgmem.rules import Condition, FieldError, Rule, RuleError, Ruleset, parse_context
from memory.domain.access import Actor, check_may
from memory.queries.contexts import call_context
from memory.queries.evidence import list_calls_at, list_recent_calls

SHOWN_CALLS = 50


@dataclass(frozen=True)
class Checked:
    """What the engine says about a document or a condition."""

    errors: list[FieldError] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    description: str = ""

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, with ``ok``."""
        return {"ok": not self.errors, **asdict(self)}


def check_document(document: Any) -> Checked:
    """All faults of a rule document, or what it reads, writes and does. Never raises."""
    try:
        rule = read_document(document, author="human")
    except RuleError as error:
        return Checked(errors=error.errors)
    return Checked(
        reads=sorted(rule.compiled_condition.read_set | rule.action.reads()),
        writes=sorted(rule.action.writes()),
        description=rule.action.describe(),
    )


def check_condition(source: str) -> Checked:
    """The faults of a condition, or the fields it reads. Never raises: the editor calls it as people type."""
    try:
        condition = Condition.compile(source)
    except RuleError as error:
        return Checked(errors=error.errors)
    return Checked(reads=sorted(condition.read_set))


def simulate(
    *,
    context: dict[str, Any],
    now: datetime,
    by: Actor,
    documents: Iterable[Any] | None = None,
    with_live: bool = False,
) -> dict[str, Any]:
    """The decision, explained, that agents would get for ``context`` from the live rules.

    ``documents`` are tried instead, or beside them with ``with_live``; a document with the ``uuid`` of a live
    rule takes its place. No receipt. Raises :class:`NotPermitted`, :class:`hgmem.rules.RuleError`.
    """
    check_may(by, "look")
    if by.workspace_id is None:
        raise ValueError("A simulation needs a workspace.")
    asked = parse_context(context)
    live = ruleset_for(by.workspace_id)
    if documents is None:
        ruleset, version = live.ruleset, live.version
    else:
        tried = {rule.uuid: rule for rule in _read_all(documents)}
        near = live.parsed.values() if with_live else ()  # the other tools' rules have no say: not compiled
        others = [rule for rule in near if rule.uuid not in tried and rule.applies_to.fits_tool(asked.tool)]
        ruleset, version = Ruleset.compile([*others, *tried.values()], version="simulation"), "simulation"
    decision = ruleset.decide(asked, now=now, explain=True)
    return {**decision.to_dict(), "ruleset_version": version}


def _read_all(documents: Iterable[Any]) -> Iterable[Rule]:
    for index, document in enumerate(documents):
        try:
            rule = read_document(document, author="human")
        except RuleError as error:
            raise error.under(f"documents.{index}") from error
        given = document.get("uuid")
        uuid = given if isinstance(given, str) and given else f"document-{index}"
        yield rule.model_copy(update={"uuid": uuid, "version": rule.version or 1})


def simulate_recorded(
    *, task_uuid: UUID, seq: int, now: datetime, by: Actor, documents: Iterable[Any] | None = None,
    with_live: bool = False, after: bool = False,
) -> dict[str, Any] | None:  # fmt: skip
    """:func:`simulate` for a recorded call of the actor's workspace; None when there is no such call."""
    check_may(by, "look")
    context = call_context(workspace_id=by.workspace_id or 0, task_uuid=task_uuid, seq=seq, after=after)
    if context is None:
        return None
    answer = simulate(context=context, now=now, by=by, documents=documents, with_live=with_live)
    return {**answer, "context": context}


@dataclass
class Backtested:
    """How often a rule would have matched among ``n`` recorded calls, newest first."""

    n: int = 0
    failed: int = 0
    matched: int = 0
    matched_failed: int = 0
    matched_good: int = 0
    errors: int = 0
    complete: bool = True
    calls: list[dict[str, Any]] = field(default_factory=list)

    def add(self, *, failed: bool, matched: bool, error: bool, call: dict[str, Any]) -> None:
        """Count one call."""
        self.n += 1
        self.failed += failed
        self.errors += error
        if matched:
            self.matched += 1
            self.matched_failed += failed
            self.matched_good += not failed
            if len(self.calls) < SHOWN_CALLS:
                self.calls.append(call)


def backtest(*, document: Any, limit: int, now: datetime, by: Actor) -> Backtested:
    """Try a rule on the newest recorded calls of its tool, regardless of its validity window.

    ``failed`` is what the analysis has found so far. Conditions on ``history`` see none here. Of a tool
    pattern, those of the newest calls that fit it.
    Raises :class:`NotPermitted`, :class:`hgmem.rules.RuleError`.
    """
    check_may(by, "look")
    rule = outside_time(read_document(document, author="human"))
    ruleset = Ruleset.compile([rule], version="backtest")
    scope = rule.applies_to
    calls = list_recent_calls(
        workspace_id=by.workspace_id or 0, tool="" if scope.is_glob else scope.tool, limit=limit + 1,
        after=rule.point == "after",
    )  # fmt: skip
    result = Backtested(complete=len(calls) <= limit)
    for call in calls[:limit]:
        if not scope.fits_tool(call.tool):
            continue
        try:
            decision = ruleset.decide(parse_context(call.context | {"point": rule.point}), now=now)
        except RuleError:  # stored before the caps were what they are
            continue
        where = {"task": str(call.task_uuid), "seq": call.seq, "failed": call.failed}
        matched, error = bool(decision.matched), bool(decision.errors)
        result.add(failed=call.failed, matched=matched, error=error, call=where)
    return result


def try_on_calls(
    *, document: Any, places: Iterable[tuple[UUID, int]], now: datetime, by: Actor
) -> dict[tuple[UUID, int], dict[str, Any]]:
    """What one rule alone would do to recorded calls (task uuid, number), regardless of its validity window.

    Each answer is a decision with its ``context``. Calls that are not there, or that cannot be asked about,
    are left out. Raises :class:`NotPermitted`, :class:`hgmem.rules.RuleError`.
    """
    check_may(by, "look")
    rule = outside_time(read_document(document, author="human"))
    named = rule.model_copy(
        update={"uuid": document.get("uuid") or "document-0", "version": rule.version or 1}
    )
    ruleset = Ruleset.compile([named], version="simulation")
    calls = list_calls_at(
        workspace_id=by.workspace_id or 0, places=places, after=rule.point == "after", history=True
    )
    answers = {}
    for place, call in calls.items():
        context = call.context | {"point": rule.point}
        try:
            answers[place] = ruleset.decide(parse_context(context), now=now).to_dict() | {"context": context}
        except RuleError:  # stored before the caps were what they are
            continue
    return answers
