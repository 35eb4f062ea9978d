"""A path as text for a model's prompt, no longer than a number of tokens.

A token is counted as four ASCII characters or one other character, plus one for each line: an estimate that
errs on the long side for English and is about right for Chinese with today's tokenizers. Everything an agent
wrote is on one line each and cut, so that a path cannot end the list it stands in.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from memory.domain.paths.document import EdgeDoc, NodeDoc, PathDoc
from memory.domain.paths.walking import ERROR, OK

DEFAULT_TOKENS = 800
MIN_TOKENS = 50
MAX_TOKENS = 20_000
GOAL_SIZE = 400
PARAMS_SIZES = (600, 240, 80)
SEEN_SIZES = (160, 60, 0)
HEAD_SIZES = (GOAL_SIZE, 160, 60, 8)
NOTE_SIZE = 60
"""With less room than this nothing is said about the end."""

_encode = msgspec.json.Encoder(enc_hook=str).encode


class Prompt(msgspec.Struct, frozen=True):
    """The text, its estimated tokens, and how many steps had to be left out."""

    text: str
    tokens: int
    left_out: int = 0


def count_tokens(text: str) -> int:
    """The estimate described above."""
    plain = len(text.encode("ascii", "ignore"))
    return -(-plain // 4) + len(text) - plain + text.count("\n")


def render_prompt(doc: PathDoc, *, tokens: int = DEFAULT_TOKENS) -> Prompt:
    """The path in ``tokens``: first with less of each step, then with fewer steps, and it says so."""
    head = _head(doc, GOAL_SIZE)
    for params, seen in zip(PARAMS_SIZES, SEEN_SIZES, strict=True):
        text = "\n".join([*head, *_steps(doc, params, seen)])
        if count_tokens(text) <= tokens:
            return Prompt(text, count_tokens(text))
    lines = list(_steps(doc, PARAMS_SIZES[-1], SEEN_SIZES[-1]))
    heads = (_head(doc, size) for size in HEAD_SIZES)
    small = next((head for head in heads if 2 * count_tokens("\n".join(head)) <= tokens), None)
    return _fitted(small or _head(doc, HEAD_SIZES[-1]), lines, tokens)


def _fitted(head: Sequence[str], lines: Sequence[str], tokens: int) -> Prompt:
    """The first and the last steps, as many as there is room for; the end matters as much as the start."""
    room = tokens - count_tokens("\n".join(head)) - count_tokens("… 999 steps are left out here …") - 2
    first: list[str] = []
    last: list[str] = []
    waiting = list(lines)
    while waiting:
        takes_last = len(last) < len(first)
        line = waiting[-1 if takes_last else 0]
        room -= count_tokens(line) + 1
        if room < 0:
            break
        if takes_last:
            last.insert(0, waiting.pop())
        else:
            first.append(waiting.pop(0))
    gap = [f"… {len(waiting)} steps are left out here …"] if waiting else []
    text = "\n".join([*head, *first, *gap, *last])
    return Prompt(text, count_tokens(text), len(waiting))


def _head(doc: PathDoc, size: int) -> list[str]:
    """What it is, how it ended, and how far to trust it; ``size`` characters of the agent's own words."""
    ended = {
        "success": f"It reached its goal (reward {doc.reward:.2f}).",
        "retry": f"It reached its goal after something had failed (reward {doc.reward:.2f}).",
        "failure": "It FAILED. Do not repeat it as it is: see what went wrong.",
        "pending": "Nobody has said yet whether it reached its goal.",
        "template": "A general pattern, not a recorded run. Adapt it.",
    }
    lines = [f"Goal: {_line(doc.goal, size)}", ended[doc.result]]
    note = next((node.details["end"] for node in reversed(doc.nodes) if "end" in node.details), None)
    if isinstance(note, dict) and note.get("note") and size >= NOTE_SIZE:
        lines.append(f"Said about the end: {_line(note['note'], size)}")
    return [*lines, "Steps:"]


def _steps(doc: PathDoc, params: int, seen: int) -> Iterator[str]:
    """One line a node, and one for each edge that does not simply lead to the next."""
    numbers = {node.name: place for place, node in enumerate(doc.nodes, start=1)}
    leaving: dict[str, list[EdgeDoc]] = {}
    for edge in doc.edges:
        leaving.setdefault(edge.source, []).append(edge)
    for place, node in enumerate(doc.nodes, start=1):
        edges = leaving.get(node.name, [])
        ways = [
            _way(edge, numbers[edge.target])
            for edge in edges
            if numbers[edge.target] != place + 1 or not _is_plain(edge)
        ]
        if not edges and place < len(doc.nodes):
            ways.append("[end]")
        is_failed = any(edge.condition.startswith(ERROR) for edge in edges)  # the next line says how
        step = _step(node, params, 0 if is_failed else seen)
        yield f"{place}. {step}{'  ' + '; '.join(ways) if ways else ''}"


def _step(node: NodeDoc, params: int, seen: int) -> str:
    tries = node.details.get("attempts")
    times = node.details.get("repeats")
    marks = [f"tried {len(tries)} times"] if isinstance(tries, list) else []
    marks += [f"{times} times"] if isinstance(times, int) else []
    text = _said(node, params) + (f" ({', '.join(marks)})" if marks else "")
    if node.kind == "event":
        return f"! {text}"
    if seen and node.observation is not None:
        text += f" → {_line(node.observation, seen)}"
    return text


def _said(node: NodeDoc, params: int) -> str:
    if not node.tool:
        left = node.details.get("left_out")
        return _line(node.content, GOAL_SIZE) + (f" ({_line(left, GOAL_SIZE)})" if left else "")
    call = f"{_line(node.tool, GOAL_SIZE)}({_line(node.params, params) if node.params else ''})"
    return f"{_line(node.content, GOAL_SIZE)}: {call}" if node.content else call


def _way(edge: EdgeDoc, number: int) -> str:
    condition = _line(edge.condition, GOAL_SIZE // 2)
    return f"[if {condition}: go to {number}]" if condition else f"[go to {number}]"


def _is_plain(edge: EdgeDoc) -> bool:
    """What everybody expects of the way to the next step."""
    return edge.condition in ("", OK) or edge.condition.startswith(ERROR)


def _line(value: Any, size: int) -> str:
    """A value on one line of at most ``size`` characters."""
    text = value if isinstance(value, str) else _encode(value).decode()
    text = " ".join(text.split())
    return text if len(text) <= size else text[: size - 1] + "…"
