"""Which tasks a rule on trial acts on: a fixed function of the rule, the salt and the root task.

The unit is the root task: all its calls and sub-tasks share one arm. ``tests/cases/assignment`` holds test
vectors for other implementations.
"""

from collections.abc import Collection
from hashlib import sha256
from typing import Annotated, Any, Final, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from hgmem.rules.limits import MAX_NAME_CHARS

BUCKETS: Final = 10_000
"""Shares are counted in buckets: 1,000 of 10,000 is 10 %."""
DIGEST_CHARS: Final = 16

Arm = Literal["canary", "control", "shadow"]
Mode = Literal["canary", "shadow", "holdout"]


class Trial(BaseModel):
    """A version of a rule on trial. The server adds it to the candidate; documents never bring it.

    ``mode``: ``canary`` (the candidate acts on ``share`` of 10,000 buckets of root tasks), ``shadow`` (it
    never acts) or ``holdout`` (as ``canary``, and it also acts where no task is named). Where it does not
    act, the other version of the rule in the same set does, if there is one. ``kept`` holds digests of units
    that stay in the control arm whatever the share. ``canary`` is the trial's own uuid.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    canary: UUID
    salt: Annotated[str, Field(max_length=MAX_NAME_CHARS)]
    share: Annotated[int, Field(ge=0, le=BUCKETS)]
    stage: Annotated[int, Field(ge=0)] = 0
    mode: Mode = "canary"
    kept: tuple[str, ...] = ()


def unit_of(variables: dict[str, Any]) -> str:
    """The root task that a question's variables name, else the task itself, or ``""``.

    No task of a name beyond 200 characters can be recorded: such a one counts as none.
    """
    task = variables.get("task")
    unit: str = (task.get("root") or task.get("id") or "") if task else ""
    return unit if len(unit) <= MAX_NAME_CHARS else ""


def unit_digest(unit: str) -> str:
    """The first 16 hex digits of SHA-256 of the unit: short, and no name of a task."""
    return sha256(_encoded(unit)).hexdigest()[:DIGEST_CHARS]


def bucket_of(rule_uuid: str, salt: str, unit: str) -> int:
    """The first 8 bytes of SHA-256 of ``uuid:salt:unit`` as a big-endian number, modulo 10,000."""
    digest = sha256(_encoded(f"{rule_uuid}:{salt}:{unit}")).digest()
    return int.from_bytes(digest[:8]) % BUCKETS


def assign(
    rule_uuid: str, salt: str, unit: str, *, share: int, kept: Collection[str] = ()
) -> Literal["canary", "control"]:
    """The arm of a root task: canary for the buckets below ``share``, but for the units in ``kept``.

    Raising the share moves tasks from control to canary only, never back.
    """
    if bucket_of(rule_uuid, salt, unit) >= share:
        return "control"
    return "control" if kept and unit_digest(unit) in kept else "canary"


def _encoded(text: str) -> bytes:
    """UTF-8; half a surrogate pair, which JSON can carry, is taken as it is."""
    return text.encode("utf-8", "surrogatepass")
