"""How often findings really happened: replayed over recorded calls with the real evaluator."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from django.utils import timezone

from corrections.domain.documents import served_rule
from corrections.models import Conflict, RuleVersion
from hgmem.rules import Rule, RuleError, Ruleset, parse_context
from memory.queries.evidence import RecordedCall, list_recent_calls

CALLS = 2_000
CALLS_WITH_HISTORY = 400
AT_ONCE = 250
SHOWN = 20


@dataclass
class Met:
    """The calls in which a finding really happened: how many, and the newest of them."""

    n: int = 0
    calls: list[dict[str, object]] = field(default_factory=list)


def count_frequencies(workspace_id: int, is_over: Callable[[], bool]) -> bool:
    """Count findings that are not counted yet, some at a time; whether none is left when the time is over."""
    while True:
        rows = Conflict.objects.filter(
            workspace_id=workspace_id, frequency=None, status__in=("open", "ruled")
        )
        first = rows.order_by("pk").values_list("tool", "point").first()
        if first is None:
            return True
        tool, point = first
        some = rows.filter(tool=tool, point=point).select_related("rule_a", "rule_b").order_by("pk")
        _count(workspace_id, tool, point, list(some[:AT_ONCE]))
        if is_over():
            return False


def _count(workspace_id: int, tool: str, point: str, conflicts: Sequence[Conflict]) -> None:
    rules = _rules_of(conflicts)
    history = any("history" in (rule.condition or "") for rule in rules.values())
    calls = list_recent_calls(
        workspace_id=workspace_id, tool="" if set("*?") & set(tool) else tool, history=history,
        limit=CALLS_WITH_HISTORY if history else CALLS, after=point == "after",
    )  # fmt: skip
    met, looked_at = _replay(calls, rules, point, conflicts)
    for conflict, seen in zip(conflicts, met, strict=True):
        conflict.frequency, conflict.frequency_of = seen.n, looked_at
        conflict.detail = conflict.detail | {"calls": seen.calls}
    Conflict.objects.bulk_update(conflicts, ["frequency", "frequency_of", "detail"], batch_size=100)


def _replay(
    calls: Iterable[RecordedCall], rules: dict[tuple[str, int], Rule], point: str,
    conflicts: Sequence[Conflict],
) -> tuple[list[Met], int]:  # fmt: skip
    """Which calls each finding happened in, out of how many that could be read.

    It happens where its rules match together; a ``can_error`` happens where its rule cannot be evaluated.
    Two versions of one rule may be there: each gets a name of its own for the replay.
    """
    named = {f"{uuid}:{version}": rule for (uuid, version), rule in rules.items()}
    ruleset = Ruleset.compile(
        [rule.model_copy(update={"uuid": name, "valid_from": None, "valid_until": None})
         for name, rule in named.items()], version="frequency",
    )  # fmt: skip
    wanted = [
        (one.kind == "can_error", frozenset(f"{uuid}:{version}" for uuid, version in _sides(one)))
        for one in conflicts
    ]
    met, n, now = [Met() for _ in conflicts], 0, timezone.now()
    for call in calls:
        try:
            decision = ruleset.decide(parse_context(call.context | {"point": point}), now=now)
        except RuleError:  # stored before the caps were what they are
            continue
        n += 1
        matched = {rule.uuid for rule in decision.matched}
        failed = {error["rule"] for error in decision.errors}
        if not matched and not failed:
            continue
        for (of_failures, names), seen in zip(wanted, met, strict=True):
            if names <= (failed if of_failures else matched):
                seen.n += 1
                if len(seen.calls) < SHOWN:
                    seen.calls.append(
                        {"task": str(call.task_uuid), "name": call.task_name, "seq": call.seq,
                         "failed": call.failed}
                    )  # fmt: skip
    return met, n


def _sides(conflict: Conflict) -> list[tuple[str, int]]:
    sides = [(str(conflict.rule_a.uuid), conflict.version_a)]
    if conflict.rule_b is not None and conflict.version_b is not None:
        sides.append((str(conflict.rule_b.uuid), conflict.version_b))
    return sides


def _rules_of(conflicts: Sequence[Conflict]) -> dict[tuple[str, int], Rule]:
    wanted = {side for conflict in conflicts for side in _sides(conflict)}
    rows = RuleVersion.objects.select_related("rule").filter(
        rule__in={pk for one in conflicts for pk in (one.rule_a_id, one.rule_b_id) if pk},
        number__in={number for _uuid, number in wanted},
    )
    found = {}
    for version in rows:
        side = (str(version.rule.uuid), version.number)
        if side not in wanted:
            continue
        try:
            found[side] = served_rule(version, side[0])
        except RuleError:  # left out of what is served, too
            continue
    return found
