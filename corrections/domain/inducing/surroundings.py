"""Facts about where a call stands: its environment, and the calls before it in the same run."""

from collections.abc import Iterator, Sequence
from typing import Any

from corrections.domain.inducing.calls import ObservedCall, PastCall
from corrections.domain.inducing.features import (
    MAX_NAME,
    MAX_SHORT,
    REDACTED,
    WHOLE_NUMBERS,
    Atom,
    Place,
    leaves_of,
)

MAX_HISTORY = 20
"""Calls looked back: what an agent tells before a call is hardly ever longer."""
MAX_ENV = 30
MAX_COMPARED = 40
MAX_PASSED = 100
HISTORY: Place = ()
"""The place of a fact that is about no argument."""


def surroundings_of(call: ObservedCall, history: Sequence[PastCall]) -> frozenset[Atom]:
    """Facts of the kinds ``env``, ``previous``, ``after_error``, ``called`` and ``passed``.

    ``called`` and ``passed`` are about calls that went well. ``passed`` stands at the argument whose very
    value an earlier call had; its value is that call's tool and argument.
    """
    past = history[-MAX_HISTORY:]
    found = set(_environment(call))
    if past:
        found.add(Atom(HISTORY, "previous", past[-1].tool))
        if past[-1].failed:
            found.add(Atom(HISTORY, "after_error"))
    fine = [other for other in past if not other.failed]
    found |= {Atom(HISTORY, "called", other.tool) for other in fine}
    return frozenset(found | set(_passed(call, fine)))


def _environment(call: ObservedCall) -> Iterator[Atom]:
    """What the environment says beside the scope."""
    scope = call.scope()[0]
    for name, value in list(call.env.items())[:MAX_ENV]:
        if isinstance(name, str) and 0 < len(name) <= MAX_NAME and name != scope and _is_plain(value):
            yield Atom((name,), "env", value)


def _is_plain(value: Any) -> bool:
    if isinstance(value, str):
        return bool(value.strip()) and len(value) <= MAX_SHORT and REDACTED not in value
    return isinstance(value, int) and abs(value) < WHOLE_NUMBERS


def _passed(call: ObservedCall, fine: Sequence[PastCall]) -> Iterator[Atom]:
    own = [leaf for leaf in leaves_of(call.input) if None not in leaf.place and is_telling(leaf.value)]
    left = MAX_PASSED
    for other in fine:
        for name, value in list(other.input.items())[:MAX_COMPARED]:
            for leaf in own[:MAX_COMPARED] if is_telling(value) and isinstance(name, str) else ():
                if left and type(leaf.value) is type(value) and leaf.value == value:
                    left -= 1
                    yield Atom(leaf.place, "passed", (other.tool, name))


def is_telling(value: Any) -> bool:
    """Whether two calls that have the value in common have it for a reason: no flags, no small numbers."""
    if isinstance(value, str):
        return 1 < len(value) <= 10 * MAX_SHORT and REDACTED not in value
    return type(value) is int and abs(value) > MAX_COMPARED
