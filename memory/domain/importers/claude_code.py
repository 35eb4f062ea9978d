"""Claude Code session transcripts (JSONL).

One task per prompt of the user, named ``session:prompt uuid``, with the session as its root task; a
sub-agent (side chain) is a task of its own under the same root. Turns that call no tool are left out.
The last turn of the file is final only when the agent had the last word: a session that still runs can be
imported again later and grows.
The record format is internal to Claude Code and changes: unknown record types are passed over.
"""

from collections.abc import Iterator
from typing import Any

from memory.domain.importers.drafts import Draft, call_document, settle
from memory.domain.importers.messages import plain_text
from memory.domain.importers.moments import between_ms, moment
from memory.domain.importers.records import BadRecordError, Item, LineError, Source, excerpt
from memory.domain.importers.values import Value, json_values, parsed, text_or_empty

REJECTED = (
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action",
)
REJECTED_RESULT = "User rejected tool use"
INTERRUPTED = "[Request interrupted by user"
TIMED_OUT = ("Command timed out", "Tool timed out", "Request timed out")
NOT_PROMPTS = (
    INTERRUPTED,
    "<local-command-stdout>",
    "<local-command-stderr>",
    "<bash-stdout>",
    "<task-notification>",
)
ERROR_TAG = "tool_use_error"


def read(lines: Source, *, source: str = "") -> Iterator[Item]:
    """Documents and line errors; a task comes out when its next prompt begins, or at the end."""
    transcript = _Transcript(source)
    for value in json_values(lines):
        if isinstance(value, LineError):
            yield value
            continue
        try:
            yield from transcript.take(value)
        except BadRecordError as bad:
            yield LineError(value.line, str(bad), excerpt(repr(value.data)))
    yield from transcript.close()


class _Turn:
    """One task being collected: its draft and the calls still waiting for a result."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.open: dict[str, dict[str, Any]] = {}
        self.reasoning: list[str] = []
        self.message_id = ""
        self.step = -1

    def leave_open_calls(self) -> None:
        """A call sent without its result could not be completed later: leave it to the next import."""
        if self.open:
            waiting = {id(call) for call in self.open.values()}
            done = next(place for place, call in enumerate(self.draft.calls) if id(call) in waiting)
            left = len(self.draft.calls) - done
            self.draft.notes.append(f"{left} last calls wait for a result; import again when it is there")
            del self.draft.calls[done:]


class _Transcript:
    def __init__(self, source: str) -> None:
        self._source = source
        self._turns: dict[str, _Turn] = {}  # by chain: the session, or a side chain of it
        self._side_chains: dict[str, str] = {}  # record uuid -> its side chain

    def take(self, value: Value) -> Iterator[Item]:
        record = value.data
        if not isinstance(record, dict):
            raise BadRecordError("expected an object")
        if record.get("type") not in ("user", "assistant"):
            return
        message = record.get("message")
        if not isinstance(message, dict):
            raise BadRecordError("message: expected an object")
        chain = self._chain(record)
        if record["type"] == "assistant":
            self._assistant(chain, record, message)
            return
        blocks = _blocks(message)
        results = [block for block in blocks if block.get("type") == "tool_result"]
        strays = [block for block in results if not self._result(chain, record, block)]
        if strays:
            raise BadRecordError("tool_result: no open call with this tool_use_id")
        if not results and _is_prompt(record, plain_text(message.get("content"))):
            yield from self._prompt(chain, value, record, plain_text(message.get("content")))

    def close(self) -> Iterator[Item]:
        for chain in list(self._turns):
            yield from self._finish(chain, still_running=True)

    def _chain(self, record: dict[str, Any]) -> str:
        session = text_or_empty(record.get("sessionId")) or self._source
        if not session:
            raise BadRecordError("sessionId: expected text")
        if not record.get("isSidechain"):
            return session
        agent, uuid = text_or_empty(record.get("agentId")), text_or_empty(record.get("uuid"))
        parent = self._side_chains.get(text_or_empty(record.get("parentUuid")))
        chain = f"{session}:agent-{agent}" if agent else parent or f"{session}:{uuid}"
        self._side_chains[uuid] = chain
        return chain

    def _prompt(self, chain: str, value: Value, record: dict[str, Any], text: str) -> Iterator[Item]:
        side = bool(record.get("isSidechain"))
        if side and chain in self._turns:
            return  # a side chain is one task, whatever is said to it later
        yield from self._finish(chain)
        session = text_or_empty(record.get("sessionId")) or self._source
        uuid = text_or_empty(record.get("uuid")) or f"line-{value.line}"
        known = {"cwd": record.get("cwd"), "git_branch": record.get("gitBranch")}
        self._turns[chain] = _Turn(
            Draft(
                line=value.line,
                external_id=chain if side else f"{session}:{uuid}",
                goal=text,
                tags=["sidechain"] if side else [],
                framework="claude_code",
                root_task=session,
                env={name: known[name] for name in known if known[name]},
                started_at=moment(record.get("timestamp")),
            )
        )

    def _finish(self, chain: str, *, still_running: bool = False) -> Iterator[Item]:
        turn = self._turns.pop(chain, None)
        if turn is None or not turn.draft.calls:
            return
        if still_running:
            turn.leave_open_calls()
        else:
            turn.draft.final = True
            for call in turn.open.values():
                settle(call, status="cancelled")
        yield from turn.draft.documents()

    def _assistant(self, chain: str, record: dict[str, Any], message: dict[str, Any]) -> None:
        turn = self._turns.get(chain)
        blocks = _blocks(message)
        if turn is None:
            if any(block.get("type") == "tool_use" for block in blocks):
                raise BadRecordError("a tool call before any prompt of its session, left out")
            return
        at = moment(record.get("timestamp"))
        turn.draft.agent = turn.draft.agent or text_or_empty(message.get("model"))
        turn.draft.finished_at = at or turn.draft.finished_at
        for block in blocks:
            if block.get("type") == "tool_use":
                _open_call(turn, block, text_or_empty(message.get("id")), at)
                turn.draft.final = False
            elif text := text_or_empty(block.get("thinking")) or text_or_empty(block.get("text")):
                turn.reasoning.append(text)
                turn.draft.final = True

    def _result(self, chain: str, record: dict[str, Any], block: dict[str, Any]) -> bool:
        """Settle the call a result belongs to. False when no such call is open."""
        turn = self._turns.get(chain)
        call = turn.open.pop(text_or_empty(block.get("tool_use_id")), None) if turn else None
        if turn is None or call is None:
            return False
        at = moment(record.get("timestamp"))
        turn.draft.finished_at = at or turn.draft.finished_at
        status, error, error_type = _ending(record.get("toolUseResult"), block)
        settle(call, status=status, output=_seen(block), error=error, error_type=error_type)
        duration = between_ms(moment(call.get("started_at")), at)
        if duration is not None:
            call["duration_ms"] = duration
        turn.draft.final = False
        return True


def _open_call(turn: _Turn, block: dict[str, Any], message_id: str, at: Any) -> None:
    if not turn.draft.calls or message_id == "" or message_id != turn.message_id:
        turn.step += 1
        turn.message_id = message_id
    call = call_document(
        block.get("name"),
        block.get("input"),
        step=turn.step,
        started_at=at,
        reasoning="\n\n".join(turn.reasoning),
    )
    turn.reasoning = []
    turn.draft.calls.append(call)
    turn.open[text_or_empty(block.get("id"))] = call


def _ending(detail: Any, block: dict[str, Any]) -> tuple[str, str | None, str]:
    """(status, error message, error type) of a tool result, from its flag and the fixed texts."""
    text = plain_text(block.get("content"))
    if detail == REJECTED_RESULT or text.startswith(REJECTED):
        return "rejected", text, "rejected"
    if text.startswith(INTERRUPTED) or (isinstance(detail, dict) and detail.get("interrupted") is True):
        return "cancelled", text, "interrupted"
    if not block.get("is_error"):
        return "ok", None, ""
    if text.startswith(TIMED_OUT):
        return "timeout", text, "timeout"
    opening, closing = f"<{ERROR_TAG}>", f"</{ERROR_TAG}>"
    if text.startswith(opening):
        return "error", text.removeprefix(opening).removesuffix(closing), ERROR_TAG
    return "error", text, ""


def _seen(block: dict[str, Any]) -> Any:
    """What the agent saw: text (read when it is JSON); anything but text stays out."""
    text = plain_text(block.get("content"))
    return parsed(text) if text else None


def _is_prompt(record: dict[str, Any], text: str) -> bool:
    if record.get("isMeta") or record.get("isCompactSummary"):
        return False
    return bool(text.strip()) and not text.startswith(NOT_PROMPTS)


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
