"""From a callable's arguments to the input that rules see, and back.

The input is ``{parameter: value}`` of what was passed (defaults are left out: rules see what the agent said),
with values made plain JSON. On the way back an argument whose plain value the rules left alone is the very
object that was passed.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from hgmem.runtime.plain import plain

_OWNERS: Final = ("self", "cls")
_Kind = inspect.Parameter


@dataclass(frozen=True, slots=True)
class Bound:
    """Arguments of one call, by parameter. ``owner`` is what a method was called on."""

    owner: tuple[Any, ...]
    given: dict[str, Any]
    input: dict[str, Any]


class Binder:
    """Knows the parameters of one callable. One without a readable signature takes keywords only."""

    def __init__(self, function: Callable[..., Any]) -> None:
        try:
            parameters = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):
            parameters = [_Kind("input", _Kind.VAR_KEYWORD)]
        self._has_owner = bool(parameters) and parameters[0].name in _OWNERS
        self._signature = inspect.Signature(parameters[self._has_owner :])
        kinds = {parameter.kind: name for name, parameter in self._signature.parameters.items()}
        self._rest = kinds.get(_Kind.VAR_KEYWORD)

    def bind(self, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Bound:
        """The arguments by parameter; a rule may still add one that is missing.

        Raises TypeError for what the callable has no parameter for, as the call itself would.
        """
        owner, args = (args[:1], args[1:]) if self._has_owner else ((), args)
        given = dict(self._signature.bind_partial(*args, **keywords).arguments)
        if self._rest is not None:
            given |= given.pop(self._rest, {})
        return Bound(owner, given, plain(given))

    def arguments(
        self, effective: Mapping[str, Any], bound: Bound | None = None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Positional and keyword arguments for an effective input.

        What the callable has no parameter for is left out: a rule must not turn a call into a TypeError.
        """
        values = {name: _original(name, value, bound) for name, value in effective.items()}
        args: list[Any] = list(bound.owner) if bound else []
        keywords: dict[str, Any] = {}
        by_position = True
        for name, parameter in self._signature.parameters.items():
            if parameter.kind == _Kind.VAR_POSITIONAL:
                args += values.pop(name, ()) if by_position else ()
            elif parameter.kind == _Kind.VAR_KEYWORD or name not in values:
                by_position = by_position and parameter.kind == _Kind.VAR_KEYWORD
            elif parameter.kind == _Kind.KEYWORD_ONLY or not by_position:
                keywords[name] = values.pop(name)
            else:
                args.append(values.pop(name))
        return tuple(args), keywords | values if self._rest is not None else keywords


def _original(name: str, value: Any, bound: Bound | None) -> Any:
    """The very object that was passed, where rules left its plain value alone."""
    if bound is not None and name in bound.given and bound.input.get(name) == value:
        return bound.given[name]
    return value
