"""OTLP JSON traces, as the collector's file exporter writes them: one export a line, or one spread out.

One task per trace. Which spans are calls is told by ``otlp_calls``; traces that are sent span by span, to
``POST /api/v1/traces``, go through the same mapping.
"""

from collections.abc import Iterator
from typing import Any

from memory.domain.importers.drafts import TEXT_CHARS, Draft, reward_of
from memory.domain.importers.grouping import Group, Groups, LateRowError
from memory.domain.importers.messages import first_user_text
from memory.domain.importers.moments import moment
from memory.domain.importers.otlp_calls import call_of, is_tool, own_calls
from memory.domain.importers.otlp_spans import Span, spans_of
from memory.domain.importers.records import BadRecordError, Item, LineError, Source, excerpt
from memory.domain.importers.values import Value, json_values, parsed

CONVERSATIONS = ("gen_ai.conversation.id", "session.id")
AGENTS = ("gen_ai.agent.name", "agent.name", "service.name")
GOALS = ("input.value", "gen_ai.prompt.0.content", "llm.input_messages.0.message.content")
MESSAGES = ("gen_ai.input.messages", "gen_ai.prompt", "input.value")
ENVIRONMENTS = ("deployment.environment.name", "deployment.environment")
OUTCOME, REWARD = "hgmem.outcome", "hgmem.reward"


def read(lines: Source, *, source: str = "") -> Iterator[Item]:
    """Documents (when the trace is complete) and line errors. `source` is not needed: traces have ids."""
    groups = Groups()
    for value in json_values(lines):
        if isinstance(value, LineError):
            yield value
            continue
        try:
            spans = list(spans_of(value.data))
        except BadRecordError as bad:
            yield LineError(value.line, str(bad), excerpt(repr(value.data)))
            continue
        for span in spans:
            yield from _take(groups, value, span, value.size // len(spans))
    for group in groups.rest():
        yield from _draft(group).documents()


def _take(groups: Groups, value: Value, span: dict[str, Any] | BadRecordError, size: int) -> Iterator[Item]:
    try:
        if isinstance(span, BadRecordError):
            raise span
        for group in groups.add(span["traceId"], value.line, span, size):
            yield from _draft(group).documents()
    except (BadRecordError, LateRowError) as bad:
        yield LineError(value.line, str(bad), excerpt(repr(value.data)))


def _draft(group: Group) -> Draft:
    spans = sorted((Span(row) for row in group.rows), key=lambda span: span.begin_nanos)
    return Draft(
        line=group.line,
        external_id=group.key,
        calls=[call_of(span) for span in own_calls(spans)],
        **about_task(spans),
    )


def about_task(spans: list[Span]) -> dict[str, Any]:
    """What the spans of a trace, in the order of their start, say about the task: fields of a ``Draft``."""
    by_id = {span.id for span in spans}
    root = next((span for span in spans if span.parent not in by_id), spans[0])
    environment = root.first(*ENVIRONMENTS)
    return {
        "goal": _goal([root, *spans]),
        "agent": str(_first(spans, AGENTS) or ""),
        "framework": root.scope or "otlp",
        "root_task": str(_first(spans, CONVERSATIONS) or ""),
        "env": {"environment": environment} if environment else {},
        "started_at": moment(spans[0].begin_nanos),
        "finished_at": moment(max(span.end_nanos for span in spans)),
        "outcome": _outcome(root),
    }


def _first(spans: list[Span], names: tuple[str, ...]) -> Any:
    """The first name that any span has, agents' own names before the service's."""
    return next((value for name in names for span in spans if (value := span.first(name))), None)


def _goal(spans: list[Span]) -> str:
    return next((goal for span in spans if (goal := goal_of(span))), "")


def goal_of(span: Span) -> str:
    """What the user asked for, as far as one span tells; a tool's input is not it."""
    if is_tool(span):
        return ""
    for name in MESSAGES:
        found = parsed(span.first(name))
        listed = found.get("messages") if isinstance(found, dict) else found
        if isinstance(listed, list) and (said := first_user_text([_flat(item) for item in listed])):
            return said
    texts = (span.first(name) for name in GOALS)
    return next((text for text in texts if isinstance(text, str) and text), "")


def _flat(message: Any) -> Any:
    """GenAI messages carry ``parts``; chat messages carry ``content``."""
    if isinstance(message, dict) and "parts" in message:
        return {**message, "content": message["parts"]}
    return message


def _outcome(root: Span) -> dict[str, Any] | None:
    said, reward = root.first(OUTCOME), root.first(REWARD)
    if said in ("success", "failure", "unknown"):
        outcome = {"result": said, "by": "agent"}
        return outcome | ({"reward": reward_of(reward)} if _is_reward(reward) else {})
    if not root.failed or is_tool(root):
        return None
    _, message = root.failure()
    return {"result": "failure", "by": "environment", "note": message[:TEXT_CHARS]}


def _is_reward(value: Any) -> bool:
    try:
        reward_of(value)
    except BadRecordError:
        return False
    return True
