"""Which tasks met a rule on trial: rows from receipts, one for each canary and root task.

Receipts come late, twice and in any order. The first arm of a task counts, by the time at which its receipt
was issued, whatever the order in which the receipts are read.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from corrections.domain.canaries import LIVE_STATES
from corrections.models import Canary, Exposure, Receipt
from hgmem.rules.assignment import unit_digest
from memory.queries.names import task_name

Key = tuple[int, str]
"""Canary and unit."""
CORRECTED = ("stage", "arm", "share", "tool", "receipt", "exposed_at", "is_crossed", "is_due")


@dataclass(frozen=True)
class Seen:
    """What one receipt says about one canary."""

    receipt: Receipt
    unit: str
    digest: str
    stage: int
    share: int
    arm: str
    is_crossed: bool = False

    @property
    def at(self) -> datetime:
        """When the question was answered."""
        return self.receipt.issued_at

    def joined(self, other: "Seen") -> "Seen":
        """Both as one: the earlier, and whether the arms differ."""
        first = min(self, other, key=lambda seen: seen.at)
        return replace(first, is_crossed=self.is_crossed or other.is_crossed or self.arm != other.arm)


def exposed_body(workspace_id: int, unit: str, exposures: Sequence[Any]) -> dict[str, Any]:
    """What a receipt's row keeps of its exposures, ``[canary, stage, share, arm]`` each; nothing without any.

    ``unit`` is kept under the name that the recorded task will have, and its digest as it was sent.
    """
    if not exposures:
        return {}
    return {
        "unit": task_name(workspace_id, unit),
        "unit_digest": unit_digest(unit),
        "exposures": [[str(canary), stage, share, arm] for canary, stage, share, arm in exposures],
    }


def write_exposures(receipts: Iterable[Receipt]) -> int:
    """Add what the receipts say to the exposures; returns how many rows are new or changed.

    Must run in the transaction that marks the receipts as read. A fixed number of queries. Rows are locked in
    one order (exposures by canary and unit, then canaries), so that two workers wait for each other. No rule
    may be locked after them: whoever decides about a canary locks its rule first.
    """
    receipts = [receipt for receipt in receipts if receipt.body.get("exposures")]
    if not receipts:
        return 0
    seen = _first_of(receipts, _canary_ids(receipts))
    Exposure.objects.bulk_create(
        [_row(canary_id, each) for (canary_id, _), each in sorted(seen.items())], ignore_conflicts=True
    )
    rows = Exposure.objects.filter(
        canary_id__in={canary_id for canary_id, _ in seen}, unit__in={unit for _, unit in seen}
    )
    found = {(row.canary_id, row.unit): row for row in rows.select_for_update().order_by("canary_id", "unit")}
    pairs = [(found[key], each) for key, each in seen.items() if key in found]
    new = [row for row, each in pairs if row.receipt_id == each.receipt.pk]
    corrected = [row for row, each in pairs if row.receipt_id != each.receipt.pk and _correct(row, each)]
    Exposure.objects.bulk_update(corrected, CORRECTED)
    _ask_for_a_look({row.canary_id for row in (*new, *corrected)})
    return len(new) + len(corrected)


def _canary_ids(receipts: Iterable[Receipt]) -> dict[tuple[int, str], int]:
    """By workspace and uuid: a receipt of one workspace never touches a canary of another."""
    uuids = {UUID(canary) for receipt in receipts for canary, *_ in receipt.body["exposures"]}
    workspaces = {receipt.workspace_id for receipt in receipts}
    rows = Canary.objects.filter(uuid__in=uuids, workspace_id__in=workspaces)
    columns = rows.values_list("workspace_id", "uuid", "pk")
    return {(workspace_id, str(uuid)): pk for workspace_id, uuid, pk in columns}


def _first_of(receipts: Iterable[Receipt], canaries: Mapping[tuple[int, str], int]) -> dict[Key, Seen]:
    found: dict[Key, Seen] = {}
    for receipt in receipts:
        unit, digest = receipt.body["unit"], receipt.body["unit_digest"]
        for canary, stage, share, arm in receipt.body["exposures"]:
            canary_id = canaries.get((receipt.workspace_id, canary))
            if canary_id is None:  # deleted since, or not of this workspace
                continue
            each = Seen(receipt, unit, digest, stage, share, arm)
            known = found.get((canary_id, unit))
            found[canary_id, unit] = known.joined(each) if known else each
    return found


def _row(canary_id: int, seen: Seen) -> Exposure:
    return Exposure(
        workspace_id=seen.receipt.workspace_id, canary_id=canary_id, stage=seen.stage, unit=seen.unit,
        unit_digest=seen.digest, arm=seen.arm, share=seen.share, tool=seen.receipt.tool, receipt=seen.receipt,
        exposed_at=seen.at, is_crossed=seen.is_crossed,
    )  # fmt: skip


def _correct(row: Exposure, seen: Seen) -> bool:
    """Bring a row up to date with a receipt that it was not made from; whether anything changed."""
    is_crossed = row.is_crossed or seen.is_crossed or row.arm != seen.arm
    is_earlier = seen.at < row.exposed_at
    if not is_earlier and is_crossed == row.is_crossed:
        return False
    if is_earlier:
        row.stage, row.arm, row.share, row.tool = seen.stage, seen.arm, seen.share, seen.receipt.tool
        row.receipt, row.exposed_at = seen.receipt, seen.at
    row.is_crossed, row.is_due = is_crossed, True
    return True


def _ask_for_a_look(canary_ids: Iterable[int]) -> None:
    due = Canary.objects.filter(pk__in=canary_ids, state__in=LIVE_STATES, is_due=False)
    ids = [canary.pk for canary in due.select_for_update(no_key=True).order_by("pk")]
    Canary.objects.filter(pk__in=ids).update(is_due=True)
