"""A model rewrites the path, step by step: nodes, then edges, then the reason; each step checked at once."""

from collections.abc import Callable
from typing import TypeVar

from pydantic import BaseModel

from memory.background.rewriters.chat import Chat, ChatError, Endpoint, Message
from memory.background.rewriters.port import (
    Drafted,
    DraftRequest,
    RewriterFailed,
    Transcript,
    says_nothing_new,
)
from memory.background.rewriters.prompts import AGAIN, CUT_OFF, EDGES, NODES, REASON, opening
from memory.background.rewriters.replies import (
    EdgesReply,
    NodesReply,
    ReasonReply,
    UnusableReply,
    read_reply,
    refused,
)
from memory.domain.paths.document import PathDoc
from memory.domain.rewriting.accepting import accept
from memory.domain.rewriting.proposal import InvalidRewriteError, Rewrite, apply
from memory.writer.redactors import scrub_for

MAX_TRIES = 3
MAX_ENTRY = 8_000
MAX_ENTRIES = 30

R = TypeVar("R", bound=BaseModel)


class LlmRewriter:
    """Any OpenAI-compatible chat endpoint."""

    name = "llm"

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint

    def draft(self, request: DraftRequest) -> Drafted | None:
        """Raises :class:`RewriterFailed`, with the transcript, when endpoint or answers are of no use."""
        talk = _Talk(Chat(self.endpoint), opening(request))
        try:
            rewrite = _converse(talk, request.old)
        except ChatError as error:
            raise self._failed(talk, str(error), request) from error
        except UnusableReply as error:
            said = f"{MAX_TRIES} answers to one step could not be used; the last one: {error}"
            raise self._failed(talk, said, request) from error
        if says_nothing_new(apply(request.old, rewrite), request):
            raise self._failed(talk, "The model changed nothing.", request)
        return Drafted(rewrite, self._transcript(talk, request), talk.chat.spent.cost(self.endpoint))

    def _failed(self, talk: "_Talk", said: str, request: DraftRequest) -> RewriterFailed:
        return RewriterFailed(said, self._transcript(talk, request), talk.chat.spent.cost(self.endpoint))

    def _transcript(self, talk: "_Talk", request: DraftRequest) -> Transcript:
        """What was asked and said, capped and without secrets."""
        kept = [{**entry, "content": entry["content"][:MAX_ENTRY]} for entry in talk.transcript[:MAX_ENTRIES]]
        redacted, _ = scrub_for(request.workspace_id).redactor.redact(kept)
        return list(redacted)


def _converse(talk: "_Talk", old: PathDoc) -> Rewrite:
    def nodes_hold(reply: NodesReply) -> None:
        accept(old, Rewrite(new_nodes=reply.documents(), reason="-"))

    nodes = talk.step("nodes", NODES, NodesReply, nodes_hold).documents()

    def edges_hold(reply: EdgesReply) -> None:
        accept(old, Rewrite(new_nodes=nodes, new_edges=reply.documents(), reason="-"))

    edges = talk.step("edges", EDGES, EdgesReply, edges_hold).documents()

    def reason_holds(reply: ReasonReply) -> None:
        accept(old, _rewrite(reply))

    def _rewrite(reply: ReasonReply) -> Rewrite:
        return Rewrite(
            new_nodes=nodes,
            new_edges=edges,
            new_tags=tuple(reply.new_tags),
            reason=reply.reason,
            keep_old=reply.keep_old,
        )

    return _rewrite(talk.step("reason", REASON, ReasonReply, reason_holds))


class _Talk:
    """The conversation so far, and what of it is kept."""

    def __init__(self, chat: Chat, messages: list[Message]) -> None:
        self.chat = chat
        self.transcript: Transcript = [{"step": "opening", **message} for message in messages]
        self._messages = messages

    def step(self, name: str, question: str, shape: type[R], check: Callable[[R], None]) -> R:
        """Ask until the answer can be used, at most ``MAX_TRIES`` times.

        Raises :class:`UnusableReply` for the last answer, :class:`ChatError`.
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
        except InvalidRewriteError as problem:
            raise self._unusable(name, str(refused(problem))) from problem
        return read

    def _say(self, name: str, role: str, text: str) -> None:
        self._messages = [*self._messages, {"role": role, "content": text}]
        self.transcript.append({"step": name, "role": role, "content": text})

    def _unusable(self, name: str, problem: str) -> UnusableReply:
        self.transcript.append({"step": name, "role": "error", "content": problem})
        return UnusableReply(problem)
