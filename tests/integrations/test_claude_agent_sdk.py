"""The Claude Agent SDK, the real one, over a scripted command line that calls its hooks."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from tests.integrations.conftest import need

need("claude_agent_sdk", extra="claude")

from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, Transport  # noqa: E402

import hgmem  # noqa: E402
from hgmem.integrations.claude_agent_sdk import HGMemHooks  # noqa: E402
from tests.integrations import standing  # noqa: E402
from tests.integrations.standing import offline, summary  # noqa: E402

BASE = {"session_id": "s1", "transcript_path": "", "cwd": "/"}


class ScriptedCommand(Transport):
    """Plays what the command line would: it asks the SDK's hooks, in order, and keeps their answers."""

    def __init__(self, events: list[dict[str, Any]]) -> None:
        self.events = events
        self.answers: list[dict[str, Any]] = []
        self.written: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def connect(self) -> None:
        pass

    async def write(self, data: str) -> None:
        await self.written.put(json.loads(data))

    def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        return self._play()

    async def _play(self) -> AsyncIterator[dict[str, Any]]:
        asked = await self.written.get()
        yield _answered(asked)
        hooks = asked["request"]["hooks"]
        await self._until("user")
        for number, event in enumerate(self.events):
            name = event["hook_event_name"]
            callback = hooks[name][0]["hookCallbackIds"][0]
            yield {
                "type": "control_request", "request_id": f"r{number}",
                "request": {
                    "subtype": "hook_callback", "callback_id": callback, "input": {**BASE, **event},
                    "tool_use_id": event.get("tool_use_id"),
                },
            }  # fmt: skip
            answer = (await self._until("control_response"))["response"]
            assert answer["subtype"] == "success", answer
            self.answers.append(answer["response"].get("hookSpecificOutput", {}))
        yield {
            "type": "result", "subtype": "success", "duration_ms": 1, "duration_api_ms": 1, "is_error": False,
            "num_turns": 1, "session_id": "s1", "total_cost_usd": 0.0,
        }  # fmt: skip

    async def _until(self, kind: str) -> dict[str, Any]:
        while (message := await self.written.get())["type"] != kind:
            pass
        return message

    async def close(self) -> None:
        pass

    def is_ready(self) -> bool:
        return True

    async def end_input(self) -> None:
        pass


def _answered(asked: dict[str, Any]) -> dict[str, Any]:
    response = {"subtype": "success", "request_id": asked["request_id"], "response": {}}
    return {"type": "control_response", "response": response}


def prompt() -> dict[str, Any]:
    return {"hook_event_name": "UserPromptSubmit", "prompt": "How is the weather?"}


def before(city: str, use: str = "u0", **more: Any) -> dict[str, Any]:
    return {
        "hook_event_name": "PreToolUse", "tool_name": "weather", "tool_input": {"city": city},
        "tool_use_id": use, **more,
    }  # fmt: skip


def after(response: Any, use: str = "u0", **more: Any) -> dict[str, Any]:
    return {**before("", use, **more), "hook_event_name": "PostToolUse", "tool_response": response}


def failed(error: str, use: str = "u0") -> dict[str, Any]:
    return {**before("", use), "hook_event_name": "PostToolUseFailure", "error": error}


STOP = {"hook_event_name": "Stop", "stop_hook_active": False}


def play(client: Any, *events: dict[str, Any], **options: Any) -> list[dict[str, Any]]:
    """What the hooks answered to each event."""
    command = ScriptedCommand(list(events))

    async def run() -> None:
        hooks = HGMemHooks(client, **options).hooks()
        async with ClaudeSDKClient(ClaudeAgentOptions(hooks=hooks), transport=command) as sdk:
            await sdk.query("How is the weather?")
            async for _ in sdk.receive_response():
                pass

    asyncio.run(asyncio.wait_for(run(), 20))
    return command.answers


def test_hooks__rule_mends_the_input__the_agent_calls_with_it() -> None:
    client = offline(standing.MEND_CITY)
    answers = play(client, prompt(), before(""), after("sunny in Lima"), STOP)
    assert answers[1] == {"hookEventName": "PreToolUse", "updatedInput": {"city": "Lima"}}
    assert summary(client) == [("weather", "ok", {"city": "Lima"})]
    first, *_, last = client.documents
    assert (first["framework"], first["goal"]) == ("claude-agent-sdk", "How is the weather?")
    assert last["final"] is True


def test_hooks__changed_calls__may_be_allowed() -> None:
    answers = play(offline(standing.MEND_CITY), before(""), allow_changed=True)
    assert answers[0]["permissionDecision"] == "allow"


def test_hooks__failure__is_recorded() -> None:
    client = offline()
    assert play(client, prompt(), before(""), failed("city must not be empty"), STOP) == [{}, {}, {}, {}]
    assert summary(client) == [("weather", "error", {"city": ""})]


def test_hooks__blocked__is_denied_with_the_reason() -> None:
    client = offline(standing.BLOCK)
    (answer,) = play(client, before("Rome"))
    assert answer["permissionDecision"] == "deny"
    assert answer["permissionDecisionReason"] == "The call was not made: Ask for the city first."
    assert summary(client)[0][1] == "rejected"


def test_hooks__ask__is_left_to_the_sdk() -> None:
    rule = {**standing.BLOCK, "action_detail": {"message": "Sure?", "on_failure": "ask"}}
    client = offline(rule)
    answers = play(client, before("Rome"), after("sunny in Rome"))
    assert answers[0]["permissionDecision"] == "ask"
    assert summary(client) == [("weather", "ok", {"city": "Rome"})]


def test_hooks__hints__are_additional_context() -> None:
    client = offline(standing.HINT, standing.PLAN)
    answers = play(client, prompt(), before("Rome"), after("sunny in Rome"), STOP)
    assert answers[0]["additionalContext"] == "Name a city in every call"
    assert answers[1]["additionalContext"] == "Degrees are Celsius"
    assert answers[2] == {}


def test_hooks__adjusted_output__replaces_it() -> None:
    adjust = {
        "applies_to": {"tool": "weather", "point": "after"}, "action_type": "POST_CALL_PARSING_ADJUST",
        "action_detail": {"op": "remove", "field": "rows"},
    }  # fmt: skip
    answers = play(offline(adjust), before("Rome"), after({"text": "sunny", "rows": [1]}))
    assert answers[1]["updatedToolOutput"] == {"text": "sunny"}


def test_hooks__sub_agent__keeps_the_root() -> None:
    client = offline()
    sub = {"agent_id": "a1", "agent_type": "explorer"}
    stop = {"hook_event_name": "SubagentStop", "stop_hook_active": False, "agent_transcript_path": "", **sub}
    play(
        client,
        prompt(),
        before("Rome", "u1", **sub),
        after("sunny", "u1", **sub),
        stop,
        before("Oslo"),
        after("rain"),
    )
    inner, outer = client.documents[0], client.documents[-1]
    assert (inner["root_task"], inner["agent"]) == (outer["external_id"], "explorer")


def test_hooks__task_around_it__is_its_task() -> None:
    client = offline()
    with hgmem.task(id="mine", client=client):
        play(client, prompt(), before("Rome"), after("sunny"), STOP)
    assert {document["external_id"] for document in client.documents} == {"mine"}
