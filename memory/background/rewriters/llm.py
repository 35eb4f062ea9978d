"""A model rewrites the path, step by step: nodes, then edges, then the reason; each step checked at once."""

from memory.background.rewriters.port import (
    Drafted,
    DraftRequest,
    RewriterFailed,
    says_nothing_new,
)
from memory.background.rewriters.prompts import EDGES, NODES, REASON, opening
from memory.background.rewriters.replies import EdgesReply, NodesReply, ReasonReply, refused
from memory.domain.paths.document import PathDoc
from memory.domain.rewriting.accepting import accept
from memory.domain.rewriting.proposal import InvalidRewriteError, Rewrite, apply
from memory.live.chat import Chat, ChatError, Endpoint
from memory.live.talking import MAX_TRIES, Talk, UnusableReply


class LlmRewriter:
    """Any OpenAI-compatible chat endpoint."""

    name = "llm"

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint

    def draft(self, request: DraftRequest) -> Drafted | None:
        """Raises :class:`RewriterFailed`, with the transcript, when endpoint or answers are of no use."""
        talk = Talk(Chat(self.endpoint), opening(request))
        try:
            rewrite = _converse(talk, request.old)
        except ChatError as error:
            raise self._failed(talk, str(error), request) from error
        except UnusableReply as error:
            said = f"{MAX_TRIES} answers to one step could not be used; the last one: {error}"
            raise self._failed(talk, said, request) from error
        if says_nothing_new(apply(request.old, rewrite), request):
            raise self._failed(talk, "The model changed nothing.", request)
        return Drafted(rewrite, talk.kept(request.workspace_id), talk.chat.spent.cost(self.endpoint))

    def _failed(self, talk: Talk, said: str, request: DraftRequest) -> RewriterFailed:
        return RewriterFailed(said, talk.kept(request.workspace_id), talk.chat.spent.cost(self.endpoint))


def _converse(talk: Talk, old: PathDoc) -> Rewrite:
    def nodes_hold(reply: NodesReply) -> None:
        _accept(old, Rewrite(new_nodes=reply.documents(), reason="-"))

    nodes = talk.step("nodes", NODES, NodesReply, nodes_hold).documents()

    def edges_hold(reply: EdgesReply) -> None:
        _accept(old, Rewrite(new_nodes=nodes, new_edges=reply.documents(), reason="-"))

    edges = talk.step("edges", EDGES, EdgesReply, edges_hold).documents()

    def reason_holds(reply: ReasonReply) -> None:
        _accept(old, _rewrite(reply))

    def _rewrite(reply: ReasonReply) -> Rewrite:
        return Rewrite(
            new_nodes=nodes,
            new_edges=edges,
            new_tags=tuple(reply.new_tags),
            reason=reply.reason,
            keep_old=reply.keep_old,
        )

    return _rewrite(talk.step("reason", REASON, ReasonReply, reason_holds))


def _accept(old: PathDoc, rewrite: Rewrite) -> None:
    try:
        accept(old, rewrite)
    except InvalidRewriteError as problem:
        raise refused(problem) from problem
