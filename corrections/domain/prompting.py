"""Steps that rules asked for, found again among the calls of a recorded run."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

MAX_STEPS = 10
"""Calls looked back before one; advice asks for fewer."""
STEP_ACTIONS = frozenset(("INSERT_STEP", "PROMPT_ENHANCEMENT"))


@dataclass(frozen=True)
class Advice:
    """What was asked to be called first: tools by name, and texts that may name one."""

    tools: frozenset[str] = frozenset()
    texts: tuple[str, ...] = ()

    def names(self, tool: str) -> bool:
        """Whether a call of the tool is what was asked for."""
        if tool in self.tools:
            return True
        return any(re.search(rf"(?<!\w){re.escape(tool)}(?!\w)", text) for text in self.texts)


def advice_of(body: dict[str, Any]) -> Advice | None:
    """What a rule version (its document) asks for; None for one that asks for no step."""
    detail = body.get("action_detail") or {}
    if body.get("action_type") == "INSERT_STEP":
        return Advice(frozenset((str(detail.get("tool")),)))
    if body.get("action_type") == "PROMPT_ENHANCEMENT":
        return Advice(texts=(str(detail.get("text")),))
    return None


def count_prompted(advice: Iterable[Advice], earlier: Sequence[str]) -> int:
    """How many calls directly before one were asked for. ``earlier`` are the tools of the calls before it."""
    told, count = list(advice), 0
    for tool in reversed(earlier[-MAX_STEPS:]):
        if not any(one.names(tool) for one in told):
            break
        count += 1
    return count
