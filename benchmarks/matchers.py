"""The matchers that anybody could write in an hour, beside the product in the same replay."""

import json
import re
from collections.abc import Iterator
from typing import Any, Protocol

from benchmarks.streams import Call

NEAR = 0.8
_TOKEN = re.compile(r"\w+")


class Matcher(Protocol):
    """Asked before a call, told afterwards."""

    name: str

    def flags(self, call: Call, domain: str) -> bool:
        """Whether the call looks like one that failed."""

    def learn(self, call: Call, domain: str) -> None:
        """How the call went."""


class ToolFailed:
    """The tool has failed before."""

    name = "tool failed before"

    def __init__(self) -> None:
        self._failed: set[str] = set()

    def flags(self, call: Call, domain: str) -> bool:
        """Any call of such a tool."""
        return call.tool in self._failed

    def learn(self, call: Call, domain: str) -> None:
        """Remember the tool."""
        if call.failed:
            self._failed.add(call.tool)


class SameCallFailed:
    """Exactly this call failed before."""

    name = "same call failed before"

    def __init__(self) -> None:
        self._failed: set[str] = set()

    def flags(self, call: Call, domain: str) -> bool:
        """Same tool, same arguments, same environment."""
        return _exactly(call, domain) in self._failed

    def learn(self, call: Call, domain: str) -> None:
        """Remember the call."""
        if call.failed:
            self._failed.add(_exactly(call, domain))


class NearestFailed:
    """The most similar past call of the tool (token Jaccard of the arguments >= 0.8) failed."""

    name = "nearest call failed"

    def __init__(self) -> None:
        self._past: dict[tuple[str, str], list[tuple[frozenset[str], bool]]] = {}

    def flags(self, call: Call, domain: str) -> bool:
        """The nearest one decides; among equals the newest."""
        mine = _tokens(call)
        best, failed = NEAR, False
        for theirs, was_failure in self._past.get((domain, call.tool), ()):
            if min(len(mine), len(theirs)) < best * max(len(mine), len(theirs)):
                continue
            both = len(mine & theirs)
            near = both / (len(mine) + len(theirs) - both or 1)
            if near >= best:
                best, failed = near, was_failure
        return failed

    def learn(self, call: Call, domain: str) -> None:
        """Remember the call and how it went."""
        self._past.setdefault((domain, call.tool), []).append((_tokens(call), call.failed))


def simple_matchers() -> list[Matcher]:
    """Fresh ones for a stream."""
    return [ToolFailed(), SameCallFailed(), NearestFailed()]


def _exactly(call: Call, domain: str) -> str:
    return json.dumps([domain, call.tool, call.args], sort_keys=True)


def _tokens(call: Call) -> frozenset[str]:
    return frozenset(token.lower() for text in _texts(call.args) for token in _TOKEN.findall(text))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
    else:
        yield str(value)
