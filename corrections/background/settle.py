"""Receipts and the calls that were made under them; the counters of the rules they name.

Three passes over rows, each row exactly once: *storing* turns issued tokens into receipts; *settling* takes
recorded calls that carry a token (``receipt_settled_at is null``) and makes the receipt from the token when
it is not there; *counting* takes receipts (``counted_at is null``). Each pass is one transaction for a batch,
so killing the worker anywhere loses nothing and counts nothing twice.
"""

import logging
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, date, datetime
from typing import Any, TypeVar

import orjson
from django.db import connection, transaction
from django.db.models import DateTimeField, F, Model, QuerySet, Value
from django.db.models.functions import Coalesce, Greatest
from django.utils import timezone

from corrections.background.exposures import exposed_body, write_exposures
from corrections.background.rule_days import add_days
from corrections.live.signing import verified
from corrections.models import IssuedToken, Receipt, ReceiptUse, Rule
from corrections.queries.effects import CHANGING
from hgmem import receipts as tokens
from memory.actions.receipts import mark_receipts_settled
from memory.actions.watching import tell_watchers
from memory.domain.plain_json import storable
from memory.queries.receipts import ReceiptedCall, claim_receipted_calls

log = logging.getLogger(__name__)
BATCH = 500
_OUTCOMES = {"ok": "helped_count", "error": "failed_count"}
NOT_MADE = frozenset({"rejected", "cancelled"})
Row = TypeVar("Row", bound=Model)
RuleKey = tuple[int, str]
"""Workspace and uuid: a receipt of one workspace never touches a rule of another."""


def store_backlog(batch: int = BATCH) -> int:
    """Make the receipts of every token that was appended; returns how many tokens."""
    return _drain(store_issued, batch)


def settle_backlog(batch: int = BATCH) -> int:
    """Settle every recorded call that waits; returns how many."""
    return _drain(settle_calls, batch)


def count_backlog(batch: int = BATCH) -> int:
    """Count every receipt that waits; returns how many."""
    return _drain(count_receipts, batch)


def _drain(work: Any, batch: int) -> int:
    total = 0
    while done := work(batch):
        total += done
    return total


@transaction.atomic
def store_issued(limit: int) -> int:
    """Turn up to ``limit`` issued tokens into receipts; those that are there already stay as they are."""
    issued = list(_locked(IssuedToken.objects.order_by("pk"))[:limit])
    rows = []
    for token in issued:
        try:
            receipt = tokens.read_receipt(token.token, None)
            row = receipt_row(token.workspace_id, receipt)
        except tokens.ReceiptError:  # one token must not hold up all others for ever
            log.exception("Issued token %s cannot be read; it is dropped.", token.pk)
            continue
        row.body |= {"blocked": token.blocked, "errors": storable(orjson.loads(token.errors))}
        row.body |= exposed_body(token.workspace_id, receipt.unit, orjson.loads(token.exposures))
        rows.append(row)
    Receipt.objects.bulk_create(rows, ignore_conflicts=True)
    IssuedToken.objects.filter(pk__in=[token.pk for token in issued]).delete()
    return len(issued)


@transaction.atomic
def settle_calls(limit: int) -> int:
    """Tie up to ``limit`` recorded calls to their receipts. A token that is not ours is marked and left."""
    calls = claim_receipted_calls(limit)
    read = {
        call.call_id: receipt
        for call in calls
        if (receipt := verified(call.receipt, call.workspace_id)) is not None
    }
    owners = {call.call_id: call.workspace_id for call in calls}
    Receipt.objects.bulk_create(
        [receipt_row(owners[call_id], receipt) for call_id, receipt in read.items()], ignore_conflicts=True
    )
    uuids = {receipt.uuid for receipt in read.values()}
    rows = {
        str(row.uuid): row
        for row in Receipt.objects.select_for_update().filter(uuid__in=uuids).order_by("pk")
    }
    now = timezone.now()
    settled = []
    for call in calls:
        receipt = read.get(call.call_id)
        row = rows.get(receipt.uuid) if receipt else None
        if row is not None and row.settled_at is None and row.workspace_id == call.workspace_id:
            _settle(row, call, now)
            settled.append(row)
    Receipt.objects.bulk_update(settled, ["call_task", "call_seq", "was_applied", "settled_at", "body"])
    followed = [row for row in settled if row.was_applied]
    _add_applied(followed)
    _add_outcomes(followed)
    mark_receipts_settled(call_ids=owners, at=now)
    tell_watchers(task_ids={row.call_task_id for row in settled if row.call_task_id})
    return len(calls)


def receipt_row(workspace_id: int, receipt: tokens.Receipt) -> Receipt:
    """The row of a token. Rules are ``[uuid, version, state]`` in the order of precedence.

    Only rules that had a say are among them; exposures to rules on trial are there when the token was opened
    with its key. The names in it are an agent's own words, kept the way a recorded call's are.
    """
    return Receipt(
        uuid=receipt.uuid,
        workspace_id=workspace_id,
        issued_at=receipt.issued_at,
        tool=storable(receipt.asked_tool),
        ruleset_version=receipt.ruleset_version[:40],
        task_external_id=storable(receipt.task_id),
        body={
            "tool": storable(receipt.tool),
            "input_digest": receipt.input_digest,
            "context_digest": receipt.context_digest,
            "rules": [[rule.uuid, rule.version, rule.state] for rule in receipt.rules],
            "rules_omitted": receipt.rules_omitted,
        }
        | exposed_body(workspace_id, receipt.unit, receipt.exposures or ()),
    )


def was_followed(body: dict[str, Any], *, tool: str, call_input: Any, status: str) -> bool | None:
    """Whether a recorded call is what its receipt told to do; None when that cannot be seen.

    A blocked call was followed when it was not made. Otherwise tool and input must be the effective ones;
    an input that was redacted or cut before it was stored has lost the digest it was made with.
    """
    if body.get("blocked"):
        return status in NOT_MADE
    if tool != body["tool"]:
        return False
    if tokens.digest_json(call_input) == body["input_digest"]:
        return True
    return None if _is_hidden(call_input) else False


def _is_hidden(value: Any) -> bool:
    if isinstance(value, dict):
        return "$payload" in value or any(_is_hidden(part) for pair in value.items() for part in pair)
    if isinstance(value, list):
        return any(_is_hidden(part) for part in value)
    return isinstance(value, str) and "[redacted" in value


def _settle(row: Receipt, call: ReceiptedCall, now: datetime) -> None:
    row.call_task_id, row.call_seq, row.settled_at = call.task_id, call.seq, now
    row.was_applied = was_followed(row.body, tool=call.tool, call_input=call.input, status=call.status)
    row.body["call_status"] = call.status


def _add_applied(rows: Iterable[Receipt]) -> None:
    counts: Counter[RuleKey] = Counter()
    for row in rows:
        for uuid, _, state, *_ in row.body["rules"]:
            counts[row.workspace_id, uuid] += state == "applied"
    for pk, key in sorted((pk, key) for key, pk in _rule_ids(counts).items()):
        Rule.objects.filter(pk=pk).update(applied_count=F("applied_count") + counts[key])


def _add_outcomes(rows: Iterable[Receipt]) -> None:
    """How the calls went, for the versions that changed them and are served now.

    A rule that stops, asks or hints changes no call, so how the call went says nothing about it.
    """
    counts: dict[str, Counter[tuple[RuleKey, int]]] = {"helped_count": Counter(), "failed_count": Counter()}
    for row in rows:
        counter = _OUTCOMES.get(row.body["call_status"])
        for uuid, version, state, *_ in row.body["rules"] if counter else ():
            if counter and state == "applied":
                counts[counter][(row.workspace_id, uuid), version] += 1
    ids = _rule_ids(key for counted in counts.values() for key, _version in counted)
    for counter, counted in counts.items():
        for (key, version), n in sorted(counted.items()):
            served = Rule.objects.filter(
                pk__in=[ids[key]] if key in ids else [], live_version__number=version
            )
            changing = served.filter(live_version__action_type__in=CHANGING)
            changing.update(**{counter: F(counter) + n})


@transaction.atomic
def count_receipts(limit: int) -> int:
    """Write the uses and exposures of up to ``limit`` receipts, add to the counters of the rules they name.

    A rule on trial that was withheld did not match, as far as its counters go: its exposure says so.
    """
    receipts = list(_locked(Receipt.objects.filter(counted_at=None).order_by("pk"))[:limit])
    tally = _Tally()
    for receipt in receipts:
        tally.add(receipt)
    rule_ids = _rule_ids(tally.keys)
    ReceiptUse.objects.bulk_create(
        [
            ReceiptUse(receipt=receipt, rule_id=rule_ids[key], version=version, role=role)
            for receipt, key, version, role in tally.uses
            if key in rule_ids
        ],
        ignore_conflicts=True,
    )
    for pk, key in sorted((pk, key) for key, pk in rule_ids.items()):
        _add_counts(pk, key, tally)
    add_days({(rule_ids[key], day): n for (key, day), n in tally.days.items() if key in rule_ids})
    write_exposures(receipts)  # last: whoever decides about a canary locks its rule first, too
    Receipt.objects.filter(pk__in=[receipt.pk for receipt in receipts]).update(counted_at=timezone.now())
    return len(receipts)


class _Tally:
    """What a batch of receipts says about rules."""

    def __init__(self) -> None:
        self.uses: list[tuple[Receipt, RuleKey, int, str]] = []
        self.keys: set[RuleKey] = set()
        self.matches: Counter[RuleKey] = Counter()
        self.days: Counter[tuple[RuleKey, date]] = Counter()
        self.errors: Counter[RuleKey] = Counter()
        self.matched_at: dict[RuleKey, datetime] = {}
        self.last_error: dict[RuleKey, str] = {}

    def add(self, receipt: Receipt) -> None:
        roles: dict[str, tuple[int, str]] = {}
        for uuid, version, state, *_ in receipt.body["rules"]:
            key = (receipt.workspace_id, uuid)
            self.matches[key] += 1
            self.days[key, receipt.issued_at.astimezone(UTC).date()] += 1
            self.matched_at[key] = max(receipt.issued_at, self.matched_at.get(key, receipt.issued_at))
            roles[uuid] = (version, state)
        for fault in receipt.body.get("errors", ()):
            key = (receipt.workspace_id, fault["rule"])
            self.errors[key] += 1
            self.last_error[key] = fault["detail"]
            roles[fault["rule"]] = (fault["version"], "errored")
        for uuid, (version, role) in roles.items():
            self.uses.append((receipt, (receipt.workspace_id, uuid), version, role))
            self.keys.add((receipt.workspace_id, uuid))


def _add_counts(pk: int, key: RuleKey, tally: _Tally) -> None:
    changes: dict[str, Any] = {
        "match_count": F("match_count") + tally.matches[key],
        "error_count": F("error_count") + tally.errors[key],
    }
    if key in tally.matched_at:
        at = Value(tally.matched_at[key], output_field=DateTimeField())
        changes["last_matched_at"] = Greatest(Coalesce("last_matched_at", at), at)
    if key in tally.last_error:
        changes["last_error"] = tally.last_error[key]
    Rule.objects.filter(pk=pk).update(**changes)


def _rule_ids(keys: Iterable[RuleKey]) -> dict[RuleKey, int]:
    wanted = set(keys)
    rows = Rule.objects.filter(
        workspace_id__in={workspace_id for workspace_id, _ in wanted}, uuid__in={uuid for _, uuid in wanted}
    )
    found = {
        (workspace_id, str(uuid)): pk
        for pk, workspace_id, uuid in rows.values_list("pk", "workspace_id", "uuid")
    }
    return {key: pk for key, pk in found.items() if key in wanted}


def _locked(rows: QuerySet[Row]) -> QuerySet[Row]:
    """Lock the rows where the database can; another worker's are skipped, not waited for."""
    if connection.features.has_select_for_update_skip_locked:
        return rows.select_for_update(skip_locked=True)
    return rows
