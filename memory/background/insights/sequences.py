"""Tool sequences as rows: counted with every task that ends, judged a little later."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import uuid4

import msgspec
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from memory.domain.insights.lifts import Rank, Stratum, rank_sequences
from memory.domain.insights.sequences import (
    LEAST_TASKS,
    NAME,
    NO_EXAMPLES,
    Change,
    Count,
    Tools,
    changed_examples,
    changes_of,
    contribute,
    counted,
    digest_of,
    dropped_bounds,
    without,
)
from memory.models import SequenceKind, ToolSequence
from memory.writer.tables import Row, Table, delete_rows, find_rows, identifier, update_rows

__all__ = ["NAME", "apply", "contribute", "rank_kinds"]

KEPT = 20_000
"""Sequences a workspace keeps, of all its kinds together; a tenth more before the rarest are dropped."""
MOST_KINDS = 500
"""The kinds that come later are counted among all tasks only."""
RANK_EVERY = timedelta(seconds=60)

SEQUENCES = Table(
    ToolSequence,
    (
        "uuid", "workspace", "kind", "digest", "tools", "won", "lost", "tasks", "missed", "examples",
        "is_closed", "verdict", "strength",
    ),
)  # fmt: skip
BY = ("kind", "digest")
COUNTED = ("won", "lost", "tasks", "missed", "examples")
RANKED = ("is_closed", "lift", "lift_low", "lift_high", "verdict", "strength")


class Known(NamedTuple):
    """What is stored of a sequence; ``examples`` as JSON text."""

    id: int
    won: int
    lost: int
    missed: int
    examples: str


Key = tuple[int, str]
"""Kind and digest of a sequence."""
Wanted = dict[Key, tuple[SequenceKind, bytes, Change]]
"""Its kind, its tools as JSON, what happens to it."""


def apply(workspace_id: int, removed: Iterable[Any], added: Iterable[Any]) -> None:
    """Take the shares of some tasks away and add others. Call it inside a transaction."""
    kinds, sequences = changes_of(removed, added)
    if not kinds:
        return
    rows = _count_kinds(workspace_id, kinds)
    texts = {tools: msgspec.json.encode(tools) for _kind, tools in sequences}
    digests = {tools: digest_of(text) for tools, text in texts.items()}
    wanted: Wanted = {
        (rows[kind].pk, digests[tools]): (rows[kind], texts[tools], change)
        for (kind, tools), change in sequences.items()
        if kind in rows
    }
    known = _known(wanted)
    _update_known(known, wanted)
    fresh = sorted(key for key, found in wanted.items() if key not in known and _grows(found[2]))
    SEQUENCES.append([_row(workspace_id, key[1], *wanted[key]) for key in fresh])
    _drop_rarest(workspace_id)


def _count_kinds(workspace_id: int, changes: dict[str, Change]) -> dict[str, SequenceKind]:
    """The rows of the kinds by name, locked and counted; new ones are made while there is room."""
    mine = SequenceKind.objects.filter(workspace_id=workspace_id)
    known = set(mine.filter(name__in=list(changes)).values_list("name", flat=True))
    fresh = [name for name in sorted(changes) if name not in known and _grows(changes[name])]
    if fresh:
        room = max(0, MOST_KINDS - mine.count())
        made = [SequenceKind(workspace_id=workspace_id, name=name) for name in fresh[:room]]
        SequenceKind.objects.bulk_create(made, ignore_conflicts=True)
    rows = {row.name: row for row in mine.filter(name__in=list(changes)).select_for_update().order_by("id")}
    for name, row in rows.items():
        count = counted(Count(row.won, row.lost), changes[name])
        row.won, row.lost, row.is_stale = count.won, count.lost, True
    values = [(row.won, row.lost, True, row.pk) for row in rows.values()]
    update_rows(SequenceKind, ("won", "lost", "is_stale"), values)
    return rows


def _grows(change: Change) -> bool:
    return bool(change.won or change.lost)


def _known(wanted: Iterable[Key]) -> dict[Key, Known]:
    rows = find_rows(ToolSequence, (*BY, *Known._fields), list(wanted), by=BY)
    return {(kind, digest): Known(*rest) for kind, digest, *rest in rows}


def _update_known(known: Mapping[Key, Known], wanted: Wanted) -> None:
    updates, empty = [], []
    for key, row in known.items():
        change = wanted[key][2]
        count = counted(Count(row.won, row.lost, row.missed), change)
        if not count.tasks and not count.missed:
            empty.append((row.id,))
            continue
        examples = changed_examples(row.examples, change)
        updates.append((count.won, count.lost, count.tasks, count.missed, examples, row.id))
    update_rows(ToolSequence, COUNTED, updates)
    delete_rows(ToolSequence, empty)


def _row(workspace_id: int, digest: str, kind: SequenceKind, tools: bytes, change: Change) -> Row:
    count = counted(Count(missed=kind.floor), change)
    return (
        identifier(uuid4()), workspace_id, kind.pk, digest, tools.decode(), count.won, count.lost,
        count.tasks, count.missed, changed_examples(NO_EXAMPLES, change), True, "rare", 0.0,
    )  # fmt: skip


def _drop_rarest(workspace_id: int) -> None:
    """Back to ``KEPT`` rows; each kind remembers in how many tasks one that went may have been."""
    mine = ToolSequence.objects.filter(workspace_id=workspace_id)
    surplus = mine.count() - KEPT
    if surplus <= KEPT // 10:
        return
    rarest = mine.annotate(most=F("tasks") + F("missed")).order_by("most", "id")
    rows = list(rarest.values_list("pk", "kind_id", "most")[:surplus])
    for kind, most in sorted(dropped_bounds((kind, most) for _, kind, most in rows).items()):
        SequenceKind.objects.filter(pk=kind, floor__lt=most).update(floor=most)
    delete_rows(ToolSequence, [(row[0],) for row in rows])


def rank_kinds(now: datetime | None = None) -> int:
    """Judge the sequences of the kinds with news, each at most once a minute; how many kinds were."""
    at = now or timezone.now()
    waiting = SequenceKind.objects.filter(is_stale=True).filter(
        Q(ranked_at=None) | Q(ranked_at__lte=at - RANK_EVERY)
    )
    ids = list(waiting.order_by("id").values_list("pk", flat=True))
    for pk in ids:
        with transaction.atomic():
            # First the mark, then the counts: what is counted meanwhile sets the mark again.
            SequenceKind.objects.filter(pk=pk).update(is_stale=False, ranked_at=at)
            _rank_kind(SequenceKind.objects.get(pk=pk))
    return len(ids)


def _rank_kind(kind: SequenceKind) -> None:
    fields = ("pk", "tools", "won", "lost", "missed", *RANKED)
    rows = list(ToolSequence.objects.filter(kind=kind).order_by("id").values_list(*fields))
    counts = [(tuple(row[1]), Count(row[2], row[3], row[4])) for row in rows]
    whole = Count(kind.won, kind.lost)
    strata = _domains(kind.workspace_id, dict(counts), whole) if not kind.name else {}
    ranks = rank_sequences(counts, whole, strata)
    updates = []
    for row, rank in zip(rows, ranks, strict=True):
        values = _ranked(rank, row[2] + row[3])
        if values != row[5:]:
            updates.append((*values, row[0]))
    update_rows(ToolSequence, RANKED, updates)


def _domains(workspace_id: int, counts: dict[Tools, Count], whole: Count) -> dict[Tools, list[Stratum]]:
    """Of all tasks, how often each sequence was in each domain; tasks without a domain are one more."""
    kinds = SequenceKind.objects.filter(workspace_id=workspace_id, name__startswith="domain:")
    wholes = {kind.pk: Count(kind.won, kind.lost) for kind in kinds}
    found: dict[Tools, list[Stratum]] = defaultdict(list)
    rows = ToolSequence.objects.filter(kind__in=list(wholes)).order_by("id")
    for kind, tools, won, lost in rows.values_list("kind", "tools", "won", "lost"):
        found[tuple(tools)].append((Count(won, lost), wholes[kind]))
    rest = without(whole, wholes.values())
    if not rest.tasks and len(wholes) < 2:
        return {}
    for tools, count in counts.items():
        mine = without(count, (held for held, _ in found[tools]))
        if mine.tasks and rest.tasks:
            found[tools].append((mine, rest))
    return found


def _ranked(rank: Rank, tasks: int) -> Sequence[Any]:
    """The values of ``RANKED``. What is too rare to be judged has no lift."""
    lift = rank.lift if tasks >= LEAST_TASKS else None
    said = (lift.value, lift.low, lift.high) if lift else (None, None, None)
    return (rank.is_closed, *said, rank.verdict, rank.strength)
