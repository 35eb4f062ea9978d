"""The Claude Agent SDK: hooks before and after every tool call of an agent.

``ClaudeAgentOptions(hooks=HGMemHooks().hooks())``. What a person asks for (one prompt) is a task, a
sub-agent's work a task under the same root. The agent makes its calls itself: a switch or a step to another
tool is told to the model.
"""

from typing import Any

try:
    from claude_agent_sdk import HookMatcher
except ImportError as error:
    raise ImportError("The Claude Agent SDK is missing: pip install 'hgmem[claude]'") from error

from hgmem.guarding.call import Call, Result
from hgmem.guarding.planning import aplan_hints
from hgmem.guarding.running import abegin, aconclude, aconclude_error
from hgmem.guarding.tasks import OpenTasks, Task, current_task
from hgmem.runtime.client import Runtime

FRAMEWORK = "claude-agent-sdk"
EVENTS = (
    "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "SubagentStop", "Stop",
)  # fmt: skip


class HGMemHooks:
    """Asks before each tool call, applies, records. One instance serves any number of sessions.

    A changed input leaves the person's permission settings as they are; with ``allow_changed`` a call that
    rules changed is made without asking again. Where a rule wants a person to agree, the SDK asks one.
    """

    def __init__(self, client: Runtime | None = None, *, allow_changed: bool = False) -> None:
        self._client = client
        self._allow_changed = allow_changed
        self._open = OpenTasks()
        self._calls: dict[str, Call] = {}

    def hooks(self) -> dict[Any, list[HookMatcher]]:
        """For ``ClaudeAgentOptions(hooks=...)``; add matchers of your own to the lists."""
        return {event: [HookMatcher(hooks=[self._hook])] for event in EVENTS}

    async def _hook(self, said: Any, tool_use_id: str | None, context: Any) -> Any:
        event = str(said["hook_event_name"])
        answer = await getattr(self, f"_on_{event.lower()}")(
            said, tool_use_id or said.get("tool_use_id") or ""
        )
        return {"hookSpecificOutput": {"hookEventName": event, **answer}} if answer else {}

    async def _on_userpromptsubmit(self, said: Any, _use: str) -> dict[str, Any]:
        name = str(said.get("session_id", ""))
        self._open.finish(name)
        task = self._open.open(name, self._client, goal=str(said["prompt"]), framework=FRAMEWORK)
        hints = await aplan_hints(task)
        return {"additionalContext": "\n\n".join(hints)} if hints else {}

    async def _on_pretooluse(self, said: Any, use: str) -> dict[str, Any]:
        call = await abegin(said["tool_name"], said["tool_input"], task=self._task(said))
        self._calls[use] = call
        if call.refusal is not None and not call.needs_approval:
            call.decline()
            return {"permissionDecision": "deny", "permissionDecisionReason": str(call.refusal)}
        answer: dict[str, Any] = {}
        if call.needs_approval:
            answer |= {"permissionDecision": "ask", "permissionDecisionReason": str(call.refusal)}
            call.approved()  # the SDK asks; a refusal of the person comes back as a failure
        if call.input != call.asked_input:
            answer["updatedInput"] = call.input
            if self._allow_changed:
                answer.setdefault("permissionDecision", "allow")
        if call.hints:
            answer["additionalContext"] = _told(call.hints)
        call.start()
        return answer

    async def _on_posttooluse(self, said: Any, use: str) -> dict[str, Any]:
        call = self._calls.pop(use, None)
        if call is None:
            return {}
        output = said.get("tool_response")
        result = await aconclude(call, output)
        answer: dict[str, Any] = {}
        if result.error is not None:
            answer["additionalContext"] = Result(None, result.error, result.hints[len(call.hints) :]).text
        elif fresh := result.hints[len(call.hints) :]:
            answer["additionalContext"] = _told(fresh)
        if result.error is None and result.output is not output:
            answer["updatedToolOutput"] = result.output
        return answer

    async def _on_posttoolusefailure(self, said: Any, use: str) -> dict[str, Any]:
        call = self._calls.pop(use, None)
        if call is None:
            return {}
        result = await aconclude_error(call, str(said.get("error") or "it failed"))
        fresh = result.hints[len(call.hints) :]
        return {"additionalContext": _told(fresh)} if fresh else {}

    async def _on_subagentstop(self, said: Any, _use: str) -> dict[str, Any]:
        self._open.finish(_sub_name(said))
        return {}

    async def _on_stop(self, said: Any, _use: str) -> dict[str, Any]:
        self._open.finish(str(said.get("session_id", "")))
        return {}

    def _task(self, said: Any) -> Task:
        """The task of the prompt; of a sub-agent, one under the same root."""
        main = self._open.get(str(said.get("session_id", ""))) or current_task(self._client)
        if not said.get("agent_id"):
            return main
        with main.active():
            agent = str(said.get("agent_type") or "")
            return self._open.open(_sub_name(said), self._client, framework=FRAMEWORK, agent=agent)


def _sub_name(said: Any) -> str:
    return f"{said.get('session_id', '')}/{said.get('agent_id', '')}"


def _told(hints: list[str]) -> str:
    return "\n\n".join(hints)
