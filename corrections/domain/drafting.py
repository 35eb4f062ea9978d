"""The rule that the editor starts with: empty, or from an error pattern."""

from dataclasses import dataclass
from typing import Any

MAX_MESSAGE = 500
NEVER = "false"


@dataclass(frozen=True)
class PatternWords:
    """What a pattern says, for the words of a rule."""

    title: str
    tool: str
    message: str
    occurrences: int
    tasks: int
    last_seen: str


def blank_rule(tool: str = "") -> dict[str, Any]:
    """A rule that does nothing yet."""
    return {
        "applies_to": {"tool": tool},
        "condition": "",
        "action_type": "PRE_CALL_VALIDATION",
        "action_detail": {"on_failure": "block"},
        "priority": 0,
    }


def rule_from_pattern(words: PatternWords, condition: str = NEVER) -> dict[str, Any]:
    """Refuse the call with the error's own words, on a suggested condition.

    Without a suggestion the condition is ``false``: better a rule that never fires than one that always does.
    """
    times = f"{words.occurrences} {'time' if words.occurrences == 1 else 'times'}"
    tasks = f"{words.tasks} {'task' if words.tasks == 1 else 'tasks'}"
    return blank_rule(words.tool) | {
        "name": f"Prevent: {words.title}"[:200],
        "condition": condition,
        "action_detail": {"on_failure": "block", "message": as_message(words.message or words.title)},
        "description": f"Seen {times} in {tasks}, last on {words.last_seen}: {words.title}"[:5000],
    }


def as_message(text: str) -> str:
    """Recorded words as message text: cut, on one line, and no placeholder of ours in it."""
    plain = " ".join(text.replace("{{", "{ {").replace("}}", "} }").split())
    cut = plain if len(plain) <= MAX_MESSAGE else plain[: MAX_MESSAGE - 1] + "…"
    return f"This call is known to fail: {cut}"
