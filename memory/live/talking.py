"""A conversation with a model in steps: each answer is JSON of a given shape, checked, or asked for again.

Never hold one inside a transaction.
"""

import secrets
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
from pydantic import BaseModel, ValidationError

from memory.domain.plain_json import MAX_DEPTH, is_too_deep, storable
from memory.live.chat import Chat, ChatError, Message
from memory.writer.redactors import scrub_for

MAX_TRIES = 3
MAX_PROBLEMS = 5
MAX_ENTRY = 8_000
MAX_ENTRIES = 30
AGAIN = "That cannot be used: {problem}\nAnswer the same step again, with one JSON object and nothing else."
CUT_OFF = "it was cut off because it was too long. Be much shorter."

Transcript = list[dict[str, Any]]
R = TypeVar("R", bound=BaseModel)


class UnusableReply(Exception):
    """The reply is not what was asked for; the text is what the model is told."""


def make_fence() -> str:
    """A line that nobody who wrote the data can know: what stands between two of them is data."""
    return f"=== DATA {secrets.token_hex(8)} ==="


class Talk:
    """The conversation so far, and what of it is kept."""

    def __init__(self, chat: Chat, messages: list[Message]) -> None:
        self.chat = chat
        self.transcript: Transcript = [{"step": "opening", **message} for message in messages]
        self._messages = messages

    def step(self, name: str, question: str, shape: type[R], check: Callable[[R], None]) -> R:
        """Ask until the answer can be used, at most ``MAX_TRIES`` times.

        ``check`` raises :class:`UnusableReply`. Raises that for the last answer, and :class:`ChatError`.
        """
        for attempt in range(MAX_TRIES):
            self._say(name, "user", question)
            try:
                return self._answer(name, shape, check)
            except UnusableReply as problem:
                if attempt + 1 == MAX_TRIES:
                    raise
                question = AGAIN.format(problem=problem)
        raise AssertionError("unreachable")

    def kept(self, workspace_id: int) -> Transcript:
        """What was asked and said, capped and without secrets."""
        kept = [{**entry, "content": entry["content"][:MAX_ENTRY]} for entry in self.transcript[:MAX_ENTRIES]]
        redacted, _ = scrub_for(workspace_id).redactor.redact(kept)
        return list(redacted)

    def _answer(self, name: str, shape: type[R], check: Callable[[R], None]) -> R:
        try:
            reply = self.chat.ask(self._messages)
        except ChatError as error:
            self.transcript.append({"step": name, "role": "error", "content": str(error)})
            raise
        self._say(name, "assistant", reply.text)
        if reply.is_cut_off:
            raise self._unusable(name, CUT_OFF)
        try:
            read = read_reply(reply.text, shape)
            check(read)
        except UnusableReply as problem:
            raise self._unusable(name, str(problem)) from problem
        return read

    def _say(self, name: str, role: str, text: str) -> None:
        self._messages = [*self._messages, {"role": role, "content": text}]
        self.transcript.append({"step": name, "role": role, "content": text})

    def _unusable(self, name: str, problem: str) -> UnusableReply:
        self.transcript.append({"step": name, "role": "error", "content": problem})
        return UnusableReply(problem)


def read_reply(text: str, shape: type[R]) -> R:
    """The JSON object in a model's words (a code fence or a sentence around it does no harm).

    Raises :class:`UnusableReply`.
    """
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        raise UnusableReply("Your answer holds no JSON object.")
    try:
        document = msgspec.json.decode(text[start : end + 1])
    except (msgspec.DecodeError, RecursionError) as error:
        raise UnusableReply(f"Your answer is not valid JSON: {error}") from error
    if is_too_deep([document]):
        raise UnusableReply(f"Your answer is nested more than {MAX_DEPTH} levels deep.")
    try:
        return shape.model_validate(storable(document))
    except ValidationError as error:
        problems = [
            f"{'.'.join(map(str, problem['loc'])) or 'the object'}: {problem['msg']}"
            for problem in error.errors(include_url=False, include_input=False)
        ]
        raise UnusableReply("; ".join(problems[:MAX_PROBLEMS])) from error
