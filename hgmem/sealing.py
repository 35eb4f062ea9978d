"""Exposures inside a receipt, sealed: whoever carries the token can read neither the arm nor the length.

A stream cipher: the key stream is SHAKE256 (FIPS 202) over a key of its own, made from the signing key, and
the receipt's uuid. A sponge that begins with a secret of fixed length is a keyed pseudo-random function, and
one call gives the whole stream. The receipt's signature covers the sealed text: it needs no other.
"""

import hmac
from collections.abc import Sequence
from functools import lru_cache
from hashlib import shake_256
from struct import Struct
from typing import Final, NamedTuple
from uuid import UUID

from hgmem.rules.assignment import Arm
from hgmem.rules.decision import Exposure

MAX_SEALED: Final = 8
"""Exposures that one receipt carries."""
_PURPOSE: Final = b"hgmem receipt: sealed exposures"
_SLOT: Final = Struct(">16sHHB")
_ARMS: Final[tuple[Arm, ...]] = ("canary", "control", "shadow")


class Exposed(NamedTuple):
    """A task met a rule on trial: which trial, in which stage, with which share of 10,000, in which arm."""

    canary: UUID
    stage: int
    share: int
    arm: Arm


def seal(exposures: Sequence[Exposure], *, trials: int, key: bytes, nonce: bytes) -> bytes:
    """The exposures, encrypted; as long as it takes for all ``trials`` on the tool, up to ``MAX_SEALED``."""
    slots = min(trials, MAX_SEALED)
    plain = b"".join(
        _SLOT.pack(seen.canary.bytes, seen.stage, seen.share, _ARMS.index(seen.arm) + 1)
        for seen in exposures[:slots]
    )
    return _mask(plain.ljust(slots * _SLOT.size, b"\0"), key, nonce)


def unseal(sealed: bytes, *, key: bytes, nonce: bytes) -> tuple[Exposed, ...]:
    """What :func:`seal` was given; raises ValueError or IndexError for what it never made."""
    if len(sealed) % _SLOT.size:
        raise ValueError(len(sealed))
    slots = _SLOT.iter_unpack(_mask(sealed, key, nonce))
    return tuple(
        Exposed(UUID(bytes=canary), stage, share, _ARMS[arm - 1])
        for canary, stage, share, arm in slots
        if arm
    )


def _mask(text: bytes, key: bytes, nonce: bytes) -> bytes:
    stream = shake_256(_own_key(key) + nonce).digest(len(text))
    return (int.from_bytes(text, "big") ^ int.from_bytes(stream, "big")).to_bytes(len(text), "big")


@lru_cache(maxsize=256)
def _own_key(key: bytes) -> bytes:
    return hmac.digest(key, _PURPOSE, "sha256")
