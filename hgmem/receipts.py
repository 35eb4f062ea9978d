"""Receipts: a signed note of what one decision really said, carried by whoever asked.

A receipt is self-contained: nothing has to be stored to issue it, and nothing can be lost before an
experience brings it back. The token is ``payload.signature``, both base64url without padding: the
payload is a JSON array, the signature HMAC-SHA256 (RFC 2104) over the encoded payload. Where rules are on
trial it also holds the exposures, sealed and of one length, so that nobody who carries it learns an arm.
"""

import hashlib
import hmac
import json
import os
import random
import uuid as uuids
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from json.encoder import c_make_encoder, encode_basestring  # type: ignore[attr-defined]
from typing import Any, Final, Literal

from hgmem.rules.assignment import unit_of
from hgmem.rules.decision import Decision
from hgmem.sealing import Exposed, seal, unseal

_FORMAT: Final = 2
_MAX_TOKEN_CHARS: Final = 8_000
_MAX_RULES: Final = 60
_MAX_TEXT_CHARS: Final = 200
_MIN_KEY_BYTES: Final = 16
_DIGEST_BYTES: Final = 16

_numbers = random.Random()  # noqa: S311
"""Names receipts; the signature guards them. A system call for each would cost as much as a digest."""
os.register_at_fork(after_in_child=_numbers.seed)


def _writer(*, sort_keys: bool) -> Callable[[Any], str]:
    """``json.dumps`` without white space, its C encoder made once.

    ``JSONEncoder.encode`` makes one for every value, which costs as much as writing a small one.
    """
    encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=sort_keys)
    try:
        run = c_make_encoder(
            None, encoder.default, encode_basestring, None, ":", ",", sort_keys, False, True
        )  # fmt: skip
    except TypeError:  # an interpreter without it, or with another one
        return encoder.encode
    return lambda value: "".join(run(value, 0))


_compact = _writer(sort_keys=False)
_canonical = _writer(sort_keys=True)

RuleState = Literal["applied", "suppressed", "matched"]
_STATES: Final[tuple[RuleState, ...]] = ("applied", "suppressed", "matched")


class ReceiptError(ValueError):
    """A token that is no receipt, or whose signature is wrong."""


@dataclass(frozen=True, slots=True)
class ReceiptRule:
    """A rule that matched, and what became of it: applied, suppressed or only matched (a check passed)."""

    uuid: str
    version: int
    state: RuleState


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a decision said. ``verified`` tells whether the signature was checked.

    ``rules_omitted`` counts matched rules beyond the 60 that a receipt names. ``unit`` is the root task where
    rules are on trial. ``exposures`` are those of the first 8; None while they are sealed: it was read
    without a key.
    """

    uuid: str
    issued_at: datetime
    ruleset_version: str
    asked_tool: str
    tool: str
    task_id: str
    context_digest: str
    input_digest: str
    rules: tuple[ReceiptRule, ...]
    rules_omitted: int
    unit: str
    exposures: tuple[Exposed, ...] | None
    verified: bool


def digest_json(value: Any) -> str:
    """A digest of a JSON value: 32 hex digits of SHA-256 over its canonical text.

    Canonical: UTF-8, keys sorted by code point, no white space, shortest digits for doubles.
    """
    return _digest(value).hex()


def issue_receipt(
    decision: Decision,
    *,
    ruleset_version: str,
    key: bytes,
    issued_at: datetime | None = None,
) -> str:
    """A token for a decision.

    Raises:
        ValueError: the key has fewer than 16 bytes.
    """
    if len(key) < _MIN_KEY_BYTES:
        raise ValueError(f"the key needs at least {_MIN_KEY_BYTES} bytes")
    moment = issued_at if issued_at is not None else datetime.now(UTC)
    context = decision.context
    task = context.variables.get("task") or {}
    rules = _rules(decision) if decision.matched else []
    nonce = _numbers.randbytes(16)
    payload = [
        _FORMAT,
        nonce.hex(),
        int(moment.timestamp() * 1000),
        ruleset_version[:_MAX_TEXT_CHARS],
        context.tool[:_MAX_TEXT_CHARS],
        "" if decision.tool == context.tool else decision.tool,
        str(task.get("id") or "")[:_MAX_TEXT_CHARS],
        _digest(context.variables).hex(),
        "" if decision.input is context.input else _digest(decision.input).hex(),
        rules[:_MAX_RULES],
        max(0, len(rules) - _MAX_RULES),
        *(_trial_parts(decision, key, nonce) if decision.trials else ("", "")),
    ]
    if not payload[8]:
        payload[8] = _digest(context.input).hex()
    body = urlsafe_b64encode(_compact(payload).encode("utf-8", "surrogatepass")).rstrip(b"=")
    return f"{body.decode()}.{_signature(body, key)}"


def read_receipt(token: str, key: bytes | None) -> Receipt:
    """Read a token; with a key the signature is checked, without one ``verified`` is False.

    Raises:
        ReceiptError: the token is no receipt, or its signature does not fit the key.
    """
    body, _, signature = token.partition(".")
    if not signature or len(token) > _MAX_TOKEN_CHARS or not token.isascii():
        raise ReceiptError("this is no receipt")
    if key is not None and not hmac.compare_digest(_signature(body.encode(), key), signature):
        raise ReceiptError("the receipt's signature is wrong")
    try:
        payload = json.loads(
            urlsafe_b64decode(body + "=" * (-len(body) % 4)).decode("utf-8", "surrogatepass")
        )
        return _receipt(payload, key)
    except (ValueError, TypeError, IndexError, OverflowError, RecursionError, OSError):
        raise ReceiptError("this is no receipt") from None


def _trial_parts(decision: Decision, key: bytes, nonce: bytes) -> tuple[str, str]:
    """The root task, and the exposures sealed: both also where there is no exposure, or one would see it."""
    sealed = seal(decision.exposures, trials=decision.trials, key=key, nonce=nonce)
    return unit_of(decision.context.variables), urlsafe_b64encode(sealed).decode()


def _rules(decision: Decision) -> list[list[Any]]:
    states = {entry["rule"]: 0 for entry in decision.applied}
    states |= {entry["rule"]: 1 for entry in decision.suppressed}
    return [[rule.uuid, rule.version, states.get(rule.uuid, 2)] for rule in decision.matched]


def _receipt(payload: Any, key: bytes | None) -> Receipt:
    form, *parts = payload
    if form == 1:  # before there were trials
        parts += ["", ""]
    elif form != _FORMAT:
        raise ValueError(form)
    uuid, issued_ms, version, asked, tool, task, context, call_input, rules, omitted, unit, sealed = parts
    texts = (uuid, version, asked, tool, task, context, call_input, unit, sealed)
    if not all(isinstance(text, str) for text in texts) or not isinstance(omitted, int):
        raise ValueError(form)
    nonce = uuids.UUID(uuid).bytes
    return Receipt(
        uuid=str(uuids.UUID(uuid)),
        issued_at=datetime.fromtimestamp(issued_ms / 1000, UTC),
        ruleset_version=version,
        asked_tool=asked,
        tool=tool or asked,
        task_id=task,
        context_digest=context,
        input_digest=call_input,
        rules=tuple(ReceiptRule(str(rule[0]), int(rule[1]), _STATES[rule[2]]) for rule in rules),
        rules_omitted=omitted,
        unit=unit,
        exposures=None if key is None else unseal(urlsafe_b64decode(sealed), key=key, nonce=nonce),
        verified=key is not None,
    )


def _digest(value: Any) -> bytes:
    return hashlib.sha256(_canonical(value).encode("utf-8", "surrogatepass")).digest()[:_DIGEST_BYTES]


def _signature(body: bytes, key: bytes) -> str:
    return urlsafe_b64encode(hmac.digest(key, body, "sha256")).rstrip(b"=").decode()
