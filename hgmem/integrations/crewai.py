"""CrewAI: hooks around every tool call of every crew, and a run that is a task.

``run_crew(crew, inputs)`` in the place of ``crew.kickoff(inputs)``; or ``HGMemHooks().register()`` once, and
crews run as they always did. CrewAI's hooks can change the input and the result and can refuse; a switch or
a step to another tool is told to the model.
"""

import threading
from typing import Any

try:
    from crewai.hooks import (
        register_after_tool_call_hook,
        register_before_llm_call_hook,
        register_before_tool_call_hook,
        unregister_after_tool_call_hook,
        unregister_before_llm_call_hook,
        unregister_before_tool_call_hook,
    )
except ImportError as error:
    raise ImportError("CrewAI is missing: pip install 'hgmem[crewai]'") from error

from hgmem.api.errors import Refused
from hgmem.guarding import wording
from hgmem.guarding.call import Call
from hgmem.guarding.planning import plan_hints
from hgmem.guarding.running import ask, conclude, conclude_error
from hgmem.guarding.tasks import Task, current_task, task_of_run
from hgmem.runtime.client import Runtime

FRAMEWORK = "crewai"
FAILED = ("Error executing tool:", "Tool execution failed")
"""How CrewAI begins the result of a call that failed; its hooks are told no exception."""


class HGMemHooks:
    """Asks before each tool call of any crew, applies, records. Register it once, or use it with ``with``."""

    def __init__(self, client: Runtime | None = None) -> None:
        self._client = client
        self._calls: dict[int, tuple[Call, Any]] = {}
        self._runs: dict[int, Task] = {}
        self._lock = threading.Lock()

    def register(self) -> "HGMemHooks":
        """Stand around the tool calls of all crews of this process."""
        register_before_llm_call_hook(self.before_llm)
        register_before_tool_call_hook(self.before)
        register_after_tool_call_hook(self.after)
        return self

    def unregister(self) -> None:
        """Let them run as they did before."""
        unregister_before_llm_call_hook(self.before_llm)
        unregister_before_tool_call_hook(self.before)
        unregister_after_tool_call_hook(self.after)

    def __enter__(self) -> "HGMemHooks":
        return self.register()

    def __exit__(self, *_error: object) -> None:
        self.unregister()

    def before(self, context: Any) -> bool | None:
        """Ask; change the input in place, or refuse with False."""
        call = Call(self.task_of(context), context.tool_name, context.tool_input)
        ask(call)
        with self._lock:  # the same dictionary comes again after the call
            self._calls[id(context.tool_input)] = (call, context.tool_input)
        try:
            call.check()
        except Refused:
            return False
        if call.input != call.asked_input:
            context.tool_input.clear()
            context.tool_input.update(call.input)
        call.start()
        return None

    def after(self, context: Any) -> str | None:
        """Record; the text for the model where it is to read something else."""
        with self._lock:
            call, _ = self._calls.pop(id(context.tool_input), (None, None))
        if call is None:
            return None
        if call.refusal is not None:
            return str(call.refusal)
        text = str(context.tool_result or "")
        if text.startswith(FAILED):
            result = conclude_error(call, text.partition(":")[2].strip() or text)
            return wording.with_hints(text, result.hints) if result.hints else None
        output = text if context.raw_tool_result is None else context.raw_tool_result
        result = conclude(call, output)
        if result.error is not None or result.output is not output:
            return result.text
        return wording.with_hints(text, result.hints) if result.hints else None

    def before_llm(self, context: Any) -> None:
        """Add what rules say to a model that plans, once to each conversation."""
        hints = [f"[hint] {hint}" for hint in plan_hints(self.task_of(context))]
        known = {message.get("content") for message in context.messages if isinstance(message, dict)}
        context.messages.extend({"role": "system", "content": hint} for hint in hints if hint not in known)

    def task_of(self, context: Any) -> Task:
        """The task of the crew's run, else the current one."""
        return self._runs.get(id(getattr(context, "crew", None))) or current_task(self._client)

    def run(self, crew: Any, inputs: dict[str, Any] | None = None) -> Any:
        """``crew.kickoff(inputs)`` as a task; a crew that fails is a failure."""
        goal = "; ".join(str(task.description) for task in crew.tasks)
        task, is_ours = task_of_run(self._client, goal=goal, framework=FRAMEWORK)
        self._runs[id(crew)] = task
        try:
            with task.active():
                return crew.kickoff(inputs=inputs)
        except Exception as error:
            if is_ours:
                task.failed(f"{type(error).__name__}: {error}")
            raise
        finally:
            self._runs.pop(id(crew), None)
            if is_ours:
                task.finish()


def run_crew(crew: Any, inputs: dict[str, Any] | None = None, *, client: Runtime | None = None) -> Any:
    """``crew.kickoff(inputs)`` with every tool call guarded."""
    with HGMemHooks(client) as hooks:
        return hooks.run(crew, inputs)
