"""Tool sequences as rows: counted with every task that ends, judged a little later."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from memory.domain.insights.lifts import Rank, Stratum, rank_sequences
from memory.domain.insights.sequences import (
    LEAST_TASKS,
    NAME,
    Change,
    Count,
    Tools,
    changes_of,
    contribute,
    counted,
    dropped_bounds,
    kept_examples,
    sequence_digest,
    without,
)
from memory.models import SequenceKind, ToolSequence
from memory.writer.prepare import as_json
from memory.writer.tables import Row, Table, identifier, update_rows

__all__ = ["NAME", "apply", "contribute", "rank_kinds"]

KEPT = 20_000
"""Sequences a workspace keeps, of all its kinds together; a tenth more before the rarest are dropped."""
MOST_KINDS = 500
"""The kinds that come later are counted among all tasks only."""
RANK_EVERY = timedelta(seconds=60)
CHUNK = 5_000

SEQUENCES = Table(
    ToolSequence,
    (
        "uuid", "workspace", "kind", "digest", "tools", "won", "lost", "tasks", "missed", "examples",
        "is_closed", "verdict", "strength",
    ),
)  # fmt: skip
COUNTED = ("won", "lost", "tasks", "missed", "examples")
RANKED = ("is_closed", "lift", "lift_low", "lift_high", "verdict", "strength")


def apply(workspace_id: int, removed: Iterable[Any], added: Iterable[Any]) -> None:
    """Take the shares of some tasks away and add others. Call it inside a transaction."""
    kinds, sequences = changes_of(removed, added)
    if not kinds:
        return
    rows = _count_kinds(workspace_id, kinds)
    digests = {tools: sequence_digest(tools) for tools in {tools for _kind, tools in sequences}}
    wanted = {
        (rows[kind].pk, digests[tools]): (rows[kind], tools, change)
        for (kind, tools), change in sequences.items()
        if kind in rows
    }
    known = _known(wanted)
    _update_known(known, wanted)
    fresh = [_row(workspace_id, *wanted[key]) for key in sorted(wanted) if key not in known]
    SEQUENCES.append([row for row in fresh if row is not None])
    _drop_rarest(workspace_id)


def _count_kinds(workspace_id: int, changes: dict[str, Change]) -> dict[str, SequenceKind]:
    """The rows of the kinds by name, locked and counted; new ones are made while there is room."""
    mine = SequenceKind.objects.filter(workspace_id=workspace_id)
    known = set(mine.filter(name__in=list(changes)).values_list("name", flat=True))
    fresh = [name for name in sorted(changes) if name not in known and any(changes[name].added)]
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


def _known(wanted: Iterable[tuple[int, str]]) -> dict[tuple[int, str], ToolSequence]:
    keys = set(wanted)
    kinds = sorted({kind for kind, _ in keys})
    digests = sorted({digest for _, digest in keys})
    found = {}
    for start in range(0, len(digests), CHUNK):
        some = ToolSequence.objects.filter(kind__in=kinds, digest__in=digests[start : start + CHUNK])
        fields = ("kind_id", "digest", "won", "lost", "missed", "examples")
        found.update({(row.kind_id, row.digest): row for row in some.only(*fields)})
    return {key: row for key, row in found.items() if key in keys}


def _update_known(
    known: dict[tuple[int, str], ToolSequence],
    wanted: dict[tuple[int, str], tuple[SequenceKind, Tools, Change]],
) -> None:
    updates, empty = [], []
    for key, row in known.items():
        change = wanted[key][2]
        count = counted(Count(row.won, row.lost, row.missed), change)
        if not count.tasks and not count.missed:
            empty.append(row.pk)
            continue
        examples = as_json(kept_examples(row.examples, change))
        updates.append((count.won, count.lost, count.tasks, count.missed, examples, row.pk))
    update_rows(ToolSequence, COUNTED, updates)
    for start in range(0, len(empty), CHUNK):
        ToolSequence.objects.filter(pk__in=empty[start : start + CHUNK]).delete()


def _row(workspace_id: int, kind: SequenceKind, tools: Tools, change: Change) -> Row | None:
    """A new row; None where tasks only left, which were dropped with their row then."""
    if not any(change.added):
        return None
    count = counted(Count(missed=kind.floor), change)
    return (
        identifier(uuid4()), workspace_id, kind.pk, sequence_digest(tools), as_json(tools), count.won,
        count.lost, count.tasks, count.missed, as_json(kept_examples((), change)), True, "rare", 0.0,
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
    for start in range(0, len(rows), CHUNK):
        ToolSequence.objects.filter(pk__in=[row[0] for row in rows[start : start + CHUNK]]).delete()


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
