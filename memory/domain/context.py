"""The circumstances of a failure, kept with it: what led up to the call, and what the call was.

Everything in it comes from rows, so it is redacted already; here it is only cut to size.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from memory.domain.failures import CallSnapshot

LAST_STEPS = 5
MAX_BYTES = 16 * 1024
_PREVIEW = 300
_SMALLER = (2_000, 500, 100)

_encode = msgspec.json.Encoder(order="deterministic").encode


class PastCall(msgspec.Struct, frozen=True):
    """A call that came before, with its place and the digest of its reasoning."""

    seq: int
    call: CallSnapshot
    reasoning_digest: str = ""


def snapshot_context(
    failed: PastCall,
    earlier: Sequence[PastCall],
    env: Mapping[str, Any],
    *,
    goal: str = "",
    max_bytes: int = MAX_BYTES,
) -> dict[str, Any]:
    """Return the context of a failure as one JSON document of at most ``max_bytes``.

    ``earlier`` are the calls of the same task, in any order; the last ``LAST_STEPS`` before the failed
    one are kept as previews. When it is too large, the oldest steps go first, then input and
    environment are cut to previews; ``cut`` says so.
    """
    before = sorted((item for item in earlier if item.seq < failed.seq), key=lambda item: item.seq)[
        -LAST_STEPS:
    ]
    steps = [_step(item) for item in before]
    document: dict[str, Any] = {
        "seq": failed.seq,
        "tool": failed.call.tool,
        "goal": goal[: 2 * _PREVIEW],
        "input": failed.call.input,
        "output": _preview(failed.call.output, 2 * _PREVIEW),
        "env": dict(env),
        "reasoning_digest": failed.reasoning_digest,
        "steps": steps,
        "cut": False,
    }
    return _fitted(document, max_bytes)


def _step(item: PastCall) -> dict[str, Any]:
    call = item.call
    return {
        "seq": item.seq,
        "tool": call.tool,
        "status": call.status,
        "input": _preview(call.input, _PREVIEW),
        "input_digest": hashlib.blake2b(_encode(call.input), digest_size=8).hexdigest(),
        "output": _preview(call.output, _PREVIEW),
        "error": (call.error_message or call.error_type)[:_PREVIEW],
        "reasoning_digest": item.reasoning_digest,
    }


def _preview(value: Any, size: int) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else _encode(value).decode()
    return text if len(text) <= size else text[: size - 1] + "…"


def _fitted(document: dict[str, Any], max_bytes: int) -> dict[str, Any]:
    while len(_encode(document)) > max_bytes and document["steps"]:
        document = {**document, "steps": document["steps"][1:], "cut": True}
    for size in _SMALLER:
        if len(_encode(document)) <= max_bytes:
            break
        document = {
            **document,
            "input": {"preview": _preview(document["input"], size)},
            "env": {"preview": _preview(document["env"], size)},
            "cut": True,
        }
    return document
