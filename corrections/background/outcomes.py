"""How exposed tasks ended, each exposure exactly as its task is now, however many workers there are.

The outbox is ``Exposure.is_due``. A new exposure is due. So is one whose task got news: its name is watched
before it is looked at first, and the analysis marks watched names in its own transaction. An exposure
stays due while the worker has still to look at some of its task, so no change is ever missed.
"""

import logging
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from django.db import OperationalError, connection, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from corrections.domain.canary_outcomes import MadeCall, TaskFacts, slow_limit, what_became
from corrections.models import Canary, Exposure, Receipt, Rule
from memory.actions.watching import take_news, watch_tasks
from memory.queries.units import Unit, UnitCall, UnitTasks, load_units, usual_durations

BATCH = 200
FLAGS = ("failed", "tool_error", "slow", "retried", "overridden")
CHANGED = (*FLAGS, "task", "decided_at", "is_due")
log = logging.getLogger(__name__)


def settle_exposures(batch: int = BATCH) -> int:
    """Look at every exposure with news; how many got another outcome.

    Safe to run anywhere, at any time, many at once, and to kill at any moment.
    """
    while hear_news(batch):
        pass
    changed, after = 0, 0
    while ids := list(_due().filter(pk__gt=after).values_list("pk", flat=True)[:batch]):
        changed += _settle_some(ids)
        after = ids[-1]
    return changed


@transaction.atomic
def hear_news(limit: int) -> int:
    """Exposures whose task got news are due again; how many names were heard of."""
    heard = set(take_news(limit=limit))
    rows = Exposure.objects.filter(
        workspace__in={workspace for workspace, _ in heard},
        unit__in={unit for _, unit in heard},
        is_due=False,
    )
    locked = rows.order_by("canary_id", "unit").select_for_update()
    found = [pk for pk, *unit in locked.values_list("pk", "workspace_id", "unit") if tuple(unit) in heard]
    Exposure.objects.filter(pk__in=found).update(is_due=True)
    return len(heard)


def _due() -> QuerySet[Exposure]:
    return Exposure.objects.filter(is_due=True).order_by("pk")


def _settle_some(ids: Sequence[int]) -> int:
    """A batch; when it cannot be settled, one by one, and what cannot is left out until it has news."""
    try:
        return settle_batch(ids)
    except OperationalError:  # the database is away or busy: the rows wait
        raise
    except Exception:
        log.exception("A batch of exposures could not be settled; going through it one by one.")
    changed = 0
    for pk in ids:
        try:
            changed += settle_batch([pk])
        except OperationalError:
            raise
        except Exception:
            log.exception("Exposure %s cannot be settled.", pk)
            Exposure.objects.filter(pk=pk).update(is_due=False)
    return changed


def settle_batch(ids: Sequence[int]) -> int:
    """Look at the tasks of these exposures, as far as they are due and no other worker has them.

    First their names are watched, in a transaction of its own: what the look below does not see is news.
    Rules are locked before exposures, as by whoever counts receipts or decides about a canary.
    """
    watch_tasks(units=_due().filter(pk__in=ids).values_list("workspace_id", "unit"))
    with transaction.atomic():
        _lock_rules(ids)
        exposures = list(_locked(_due().filter(pk__in=ids)).select_related("canary", "receipt"))
        looking = _Looking(exposures, timezone.now())
        changed = [exposure for exposure in exposures if looking.settle(exposure)]
        _write([one for one in exposures if not one.is_due])
        looking.keep_limits()
        _tell({exposure.canary_id for exposure in changed}, {one.canary.rule_id for one in changed})
    return len(changed)


def _lock_rules(ids: Sequence[int]) -> None:
    about = Exposure.objects.filter(pk__in=ids).values("canary__rule")
    rules = Rule.objects.filter(pk__in=about).order_by("pk")
    list(rules.select_for_update(no_key=True).values_list("pk", flat=True))


def _write(exposures: Sequence[Exposure]) -> None:
    """One plain statement for all: Django's own bulk update takes ten times as long for so many columns."""
    fields = [field for field in Exposure._meta.concrete_fields if field.name in CHANGED]
    quote = connection.ops.quote_name
    columns = ", ".join(f"{quote(str(field.column))} = %s" for field in fields)
    rows = [
        [*(field.get_db_prep_save(getattr(one, field.attname), connection) for field in fields), one.pk]
        for one in exposures
    ]
    with connection.cursor() as cursor:
        table = quote(Exposure._meta.db_table)
        cursor.executemany(f"UPDATE {table} SET {columns} WHERE id = %s", rows)  # noqa: S608


def _tell(canary_ids: set[int], rule_ids: set[int]) -> None:
    """The controller has something to look at, and the rules are to be judged anew."""
    for pk in sorted(rule_ids):
        Rule.objects.filter(pk=pk).update(score_due=True)
    for pk in sorted(canary_ids):
        Canary.objects.filter(pk=pk).update(is_due=True)


class _Looking:
    """One batch with what is recorded of its tasks. Six queries, and one for each tool never timed before."""

    def __init__(self, exposures: Sequence[Exposure], now: datetime) -> None:
        self._now = now
        self._units = load_units((one.workspace_id, one.unit) for one in exposures)
        self._stopped = _stopped_calls(self._units.values())
        self._limits: dict[int, dict[str, float | None]] = {}
        self._kept = {one.canary_id: dict(one.canary.slow_ms) for one in exposures}

    def settle(self, exposure: Exposure) -> bool:
        """Bring one up to date; whether its outcome is another one now."""
        unit: Unit = (exposure.workspace_id, exposure.unit)
        tasks = self._units[unit]
        if tasks.is_fresh:
            return False
        exposure.is_due = False
        if not tasks.tasks:
            return False
        exposure.task_id = tasks.own(exposure.unit)[0].id
        became = what_became(self._facts(exposure, tasks))
        values = {name: getattr(became, name) if became else None for name in FLAGS}
        if values == {name: getattr(exposure, name) for name in FLAGS}:
            return False
        for name, value in values.items():
            setattr(exposure, name, value)
        exposure.decided_at = self._now if became else None
        return True

    def _facts(self, exposure: Exposure, tasks: UnitTasks) -> TaskFacts:
        own = tasks.own(exposure.unit)
        tools = {exposure.tool}
        if exposure.receipt is not None:
            tools.add(str(exposure.receipt.body.get("tool") or exposure.tool))
        said = [tasks.said.get(task.id, {}) for task in own]
        return TaskFacts(
            outcome=_outcome([task.outcome for task in own]),
            is_final=all(task.is_final for task in own),
            tools=frozenset(tools),
            calls=[_made(call) for call in self._calls_since(exposure, tasks)],
            contradicted=any("human" in by and by["human"] != by.get("agent", by["human"]) for by in said),
            slow_ms=self._slow_ms(exposure),
        )

    def _calls_since(self, exposure: Exposure, tasks: UnitTasks) -> list[UnitCall]:
        """From the call on that carries the receipt; without one, from the moment of the decision on."""
        since, receipt = exposure.exposed_at, exposure.receipt
        start = (receipt.call_task_id, receipt.call_seq) if receipt is not None else (None, None)
        calls = [call for call in tasks.calls if (call.task_id, call.seq) not in self._stopped]
        asked = next((call for call in tasks.calls if (call.task_id, call.seq) == start), None)
        if asked is None:
            return [call for call in calls if call.at >= since]
        return [
            call
            for call in calls
            if (call.seq >= asked.seq if call.task_id == asked.task_id else call.at >= asked.at)
        ]

    def _slow_ms(self, exposure: Exposure) -> float | None:
        """The limit that was fixed when the canary began: worked out once, from the calls before."""
        canary = exposure.canary
        known = self._kept[canary.pk]
        if exposure.tool not in known:
            began = canary.started_at or canary.requested_at
            durations = usual_durations(canary.workspace_id, exposure.tool, before=began)
            known[exposure.tool] = slow_limit(durations)
            self._limits[canary.pk] = known
        limit: float | None = known[exposure.tool]
        return limit

    def keep_limits(self) -> None:
        """Write the limits that were worked out just now."""
        for pk, limits in sorted(self._limits.items()):
            Canary.objects.filter(pk=pk).update(slow_ms=limits)


def _outcome(outcomes: Sequence[str]) -> str:
    """Of several sub-tasks without a root: one failure is a failure, a success takes all."""
    if "failure" in outcomes:
        return "failure"
    return "success" if set(outcomes) == {"success"} else "unknown"


def _made(call: UnitCall) -> MadeCall:
    return MadeCall(call.tool, call.status, call.failed, call.duration_ms)


def _stopped_calls(units: Iterable[UnitTasks]) -> set[tuple[Any, Any]]:
    """Calls that were not made because a correction stopped them: no failure, and nobody's override."""
    tasks = {task.id for unit in units for task in unit.tasks}
    rows = Receipt.objects.filter(call_task__in=tasks, was_applied=True).filter(Q(body__blocked=True))
    return set(rows.values_list("call_task_id", "call_seq"))


def _locked(rows: QuerySet[Exposure]) -> QuerySet[Exposure]:
    """Another worker's rows are skipped where the database can; on SQLite the transaction is the lock."""
    if connection.features.has_select_for_update_skip_locked:
        return rows.select_for_update(skip_locked=True, of=("self",))
    return rows
