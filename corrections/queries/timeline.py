"""The receipts on a task's timeline, read from their tokens, with the names of their rules."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from corrections.models import Receipt as StoredReceipt
from corrections.queries.rules import names_of
from hgmem.receipts import Receipt, ReceiptError, read_receipt


@dataclass(frozen=True)
class NamedRule:
    """A rule that a receipt names. ``name`` is empty when the rule is not of this workspace (any more)."""

    uuid: str
    name: str
    version: int
    state: str


@dataclass(frozen=True)
class ShownReceipt:
    """What a decision said. ``problem`` instead, when the token cannot be read.

    ``was_applied``: the call was made with the effective tool and input; None while nobody can tell.
    """

    receipt: Receipt | None
    rules: list[NamedRule]
    was_applied: bool | None = None
    problem: str = ""


def show_receipts(
    *, workspace_id: int, task_id: int, tokens: Mapping[int, str], keys: Sequence[bytes]
) -> dict[int, ShownReceipt]:
    """By ``seq``. Two queries, however many tokens."""
    if not tokens:
        return {}
    read = {seq: _read(token, keys) for seq, token in tokens.items()}
    uuids = {rule.uuid for receipt in read.values() if isinstance(receipt, Receipt) for rule in receipt.rules}
    names = names_of(workspace_id=workspace_id, uuids=uuids)
    stored = StoredReceipt.objects.filter(call_task_id=task_id, call_seq__in=list(tokens))
    applied = dict(stored.values_list("call_seq", "was_applied"))
    return {seq: _shown(receipt, names, applied.get(seq)) for seq, receipt in read.items()}


def _read(token: str, keys: Sequence[bytes]) -> Receipt | str:
    """The receipt, or why it is none. Tokens come back from agents: anybody may have written them."""
    problem = ""
    for key in keys:
        try:
            return read_receipt(token, key)
        except ReceiptError as refusal:
            problem = str(refusal)
    return problem


def _shown(receipt: Receipt | str, names: Mapping[str, str], was_applied: bool | None) -> ShownReceipt:
    if isinstance(receipt, str):
        return ShownReceipt(None, [], problem=receipt)
    rules = [
        NamedRule(rule.uuid, names.get(rule.uuid, ""), rule.version, rule.state) for rule in receipt.rules
    ]
    return ShownReceipt(receipt, rules, was_applied)
