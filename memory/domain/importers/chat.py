"""Chat transcripts with tool calls in the OpenAI shapes.

One conversation per value: a tau-bench result ``{task_id, reward, trial, info, traj}``, an object with
``messages`` (or Responses ``input`` / ``output`` items), or a bare list of messages.
"""

import hashlib
from collections.abc import Iterator
from typing import Any

from memory.domain.importers.drafts import Draft, call_document, reward_of, settle
from memory.domain.importers.messages import (
    canonical,
    first_user_text,
    is_result,
    plain_text,
    result_content,
    result_identity,
    wanted_calls,
)
from memory.domain.importers.moments import moment
from memory.domain.importers.records import BadRecordError, Item, LineError, Source, excerpt
from memory.domain.importers.values import Value, json_values, parsed, text_or_empty

IDENTITIES = ("external_id", "id", "conversation_id", "session_id", "thread_id")
TRANSCRIPTS = ("traj", "messages", "conversation", "input")
SOLVED = 1 - 1e-6


def read(lines: Source, *, source: str = "chat") -> Iterator[Item]:
    """Documents and line errors in file order. `source` starts every external id."""
    loose: list[Any] = []
    start: Value | None = None
    for value in json_values(lines):
        if isinstance(value, Value) and _is_message(value.data) and value.array is not None:
            if start and start.array != value.array:
                yield from _conversation(start, loose, source)
                loose, start = [], None
            start = start or value
            loose.append(value.data)
            continue
        yield from [value] if isinstance(value, LineError) else _conversation(value, value.data, source)
    if start:
        yield from _conversation(start, loose, source)


def _is_message(data: Any) -> bool:
    return isinstance(data, dict) and (isinstance(data.get("role"), str) or is_result(data) or _is_item(data))


def _is_item(data: dict[str, Any]) -> bool:
    return data.get("type") in ("function_call", "custom_tool_call", "reasoning", "message")


def _conversation(value: Value, data: Any, source: str) -> Iterator[Item]:
    try:
        yield from _draft(value.line, data, source).documents()
    except BadRecordError as bad:
        yield LineError(value.line, str(bad), excerpt(repr(data)))


def _draft(line: int, data: Any, source: str) -> Draft:
    body = data if isinstance(data, dict) else {}
    messages = _messages(data)
    info = body.get("info")
    draft = Draft(
        line=line,
        external_id=_identity(body, messages, source),
        goal=_instruction(info) or first_user_text(messages),
        agent=text_or_empty(body.get("model")) or text_or_empty(body.get("agent")),
        framework=text_or_empty(body.get("framework")),
        root_task=text_or_empty(body.get("root_task")),
        outcome=_outcome(body),
        started_at=moment(body.get("created_at") or body.get("started_at")),
    )
    _Replay(draft).run(messages)
    return draft


def _messages(data: Any) -> list[Any]:
    found = data
    if isinstance(data, dict) and isinstance(data.get("input"), str):
        found = [{"role": "user", "content": data["input"]}, *_answer(data)]
    elif isinstance(data, dict):
        name = next((name for name in TRANSCRIPTS if isinstance(data.get(name), list)), None)
        if name is None:
            raise BadRecordError("expected messages, traj or a list of messages")
        found = data[name] + _answer(data)
    if not isinstance(found, list) or not any(_is_message(message) for message in found):
        raise BadRecordError("no chat messages in it")
    return found


def _answer(data: dict[str, Any]) -> list[Any]:
    """The model's answer kept beside its request: Responses ``output`` or a completion's first choice."""
    if isinstance(data.get("output"), list):
        return list(data["output"])
    choices = data.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict) and "message" in choices[0]:
        return [choices[0]["message"]]
    return []


def _identity(body: dict[str, Any], messages: list[Any], source: str) -> str:
    if "task_id" in body:
        return ":".join(str(part) for part in (source, body["task_id"], body.get("trial", 0)))
    for name in IDENTITIES:
        if isinstance(body.get(name), str | int) and body[name] != "":
            return f"{source}:{body[name]}"
    digest = hashlib.sha256(canonical(messages).encode()).hexdigest()
    return f"{source}:{digest[:32]}"


def _instruction(info: Any) -> str:
    task = info.get("task") if isinstance(info, dict) else None
    return text_or_empty(task.get("instruction")) if isinstance(task, dict) else ""


def _outcome(body: dict[str, Any]) -> dict[str, Any] | None:
    if body.get("reward") is None:
        return None
    reward = reward_of(body["reward"])
    result = "success" if reward >= SOLVED else "failure"
    return {"result": result, "reward": reward, "by": "evaluator"}


class _Replay:
    """Walks the messages once, opening calls and settling them with their results."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._open: list[tuple[str, dict[str, Any]]] = []  # (identifier, call) waiting for a result
        self._step = -1
        self._reasoning: list[str] = []

    def run(self, messages: list[Any]) -> None:
        for place, message in enumerate(messages):
            if not isinstance(message, dict):
                raise BadRecordError(f"messages[{place}]: expected an object")
            if is_result(message):
                self._settle(place, message)
            elif message.get("role") in ("user", "system", "developer"):
                self._interrupt()
            else:
                self._speak(message)

    def _speak(self, message: dict[str, Any]) -> None:
        spoken = [plain_text(message.get(key)) for key in ("reasoning_content", "summary", "content")]
        self._reasoning += [text for text in spoken if text]
        calls = list(wanted_calls(message))
        if not calls:
            return
        if message.get("role") or self._reasoning or not self._open:
            self._step += 1
        for call in calls:
            document = call_document(
                call.tool, call.arguments, step=self._step, reasoning="\n\n".join(self._reasoning)
            )
            self._reasoning = []
            self._draft.calls.append(document)
            self._open.append((call.id, document))

    def _settle(self, place: int, message: dict[str, Any]) -> None:
        waiting = self._waiting_for(message)
        if waiting is None:
            self._draft.notes.append(f"messages[{place}]: a result without its call, left out")
            return
        content = result_content(message)
        failed = message.get("is_error") is True or message.get("status") in ("error", "failed")
        error = plain_text(content) if failed else None
        self._open.remove(waiting)
        status = "error" if failed else "unknown"
        settle(waiting[1], status=status, output=parsed(content), error=error)

    def _waiting_for(self, message: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
        """By identifier; without one, the oldest open call (of that name when the result has a name)."""
        identity, name = result_identity(message), message.get("name")
        for waiting in self._open:
            if waiting[0] == identity if identity else name in (None, waiting[1]["tool"]):
                return waiting
        return None

    def _interrupt(self) -> None:
        """The user speaks while calls are open: they never came back."""
        for _, call in self._open:
            settle(call, status="cancelled")
        self._open.clear()
        self._reasoning = []
