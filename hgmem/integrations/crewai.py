"""CrewAI: hooks around every tool call of every crew, and a run that is a task.

``run_crew(crew, inputs)`` in the place of ``crew.kickoff(inputs)``; or ``HGMemHooks().register()`` once, and
crews run as they always did. CrewAI's hooks can change the input and the result and can refuse; a switch or
a step to another tool is told to the model. Rules know a tool by the name CrewAI gives the model (lower case,
with underscores).
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, Final

try:
    from crewai.hooks import (
        register_after_tool_call_hook,
        register_before_llm_call_hook,
        register_before_tool_call_hook,
        unregister_after_tool_call_hook,
        unregister_before_llm_call_hook,
        unregister_before_tool_call_hook,
    )
    from crewai.tools.tool_failure import ToolFailure
except ImportError as error:
    raise ImportError("CrewAI is missing: pip install 'hgmem[crewai]'") from error

from hgmem.api.errors import Blocked, Refused
from hgmem.guarding import wording
from hgmem.guarding.call import Call
from hgmem.guarding.planning import plan_hints
from hgmem.guarding.running import ask, conclude, conclude_error
from hgmem.guarding.tasks import Task, current_task, task_of_run
from hgmem.runtime.client import Runtime

FRAMEWORK: Final = "crewai"
FAILED: Final = (
    "Error executing tool:",
    "Tool execution failed",
    "Tool not found",
    "I encountered an error while trying to use the tool. This was the error:",
)
"""How CrewAI begins the result of a call that failed; its hooks are told no exception."""
BLOCKED: Final = "Tool execution blocked by hook"


class HGMemHooks:
    """Asks before each tool call, applies, records.

    Registered (or used with ``with``) it stands around the calls of every crew and agent of this process;
    otherwise around those of the crews that it runs. One that runs a crew keeps a registered one off it.
    """

    def __init__(self, client: Runtime | None = None) -> None:
        self._client = client
        self._is_everywhere = False
        self._users = 0
        self._calls: dict[int, tuple[Call, Any]] = {}
        self._lock = threading.Lock()

    def register(self) -> "HGMemHooks":
        """Stand around the tool calls of all crews of this process."""
        if not self._is_everywhere:
            self._is_everywhere = True
            self._hook()
        return self

    def unregister(self) -> None:
        """Let them run as they did before."""
        if self._is_everywhere:
            self._is_everywhere = False
            self._unhook()

    def __enter__(self) -> "HGMemHooks":
        return self.register()

    def __exit__(self, *_error: object) -> None:
        self.unregister()

    def before(self, context: Any) -> bool | None:
        """Ask; change the input in place, or refuse with False."""
        if not self._is_mine(context):
            return None
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
        text, raw = str(context.tool_result or ""), context.raw_tool_result
        if text.startswith(BLOCKED):
            _refused_elsewhere(call, text)
            return None
        error = _error_in(text, raw)
        if error:
            result = conclude_error(call, error)
            return wording.with_hints(text, result.hints) if result.hints else None
        output = text if raw is None else raw
        result = conclude(call, output)
        if result.error is not None or result.output is not output:
            return result.text
        return wording.with_hints(text, result.hints) if result.hints else None

    def before_llm(self, context: Any) -> None:
        """Add what rules say to a model that plans, once to each conversation."""
        if not self._is_mine(context):
            return
        hints = [f"[hint] {hint}" for hint in plan_hints(self.task_of(context))]
        known = {message.get("content") for message in context.messages if isinstance(message, dict)}
        context.messages.extend({"role": "system", "content": hint} for hint in hints if hint not in known)

    def task_of(self, context: Any) -> Task:
        """The task of the crew's run, else the current one."""
        run = _run_of(context)
        return run[1] if run is not None else current_task(self._client)

    def run(self, crew: Any, inputs: dict[str, Any] | None = None) -> Any:
        """``crew.kickoff(inputs)`` as a task; a crew that fails is a failure."""
        with self._running(crew, inputs):
            return crew.kickoff(inputs=inputs)

    async def arun(self, crew: Any, inputs: dict[str, Any] | None = None) -> Any:
        """``await crew.akickoff(inputs)`` as a task; a crew that fails is a failure."""
        with self._running(crew, inputs):
            return await crew.akickoff(inputs=inputs)

    @contextmanager
    def _running(self, crew: Any, inputs: dict[str, Any] | None) -> Iterator[None]:
        task, is_ours = task_of_run(self._client, goal=_goal(crew, inputs), framework=FRAMEWORK)
        token = _current.set((self, task))
        _runs[id(crew)] = (self, task)
        self._hook()
        try:
            with task.active():
                yield
        except Exception as error:
            if is_ours:
                task.failed(f"{type(error).__name__}: {error}")
            raise
        finally:
            self._unhook()
            _runs.pop(id(crew), None)
            _current.reset(token)
            if is_ours:
                task.finish()

    def _is_mine(self, context: Any) -> bool:
        run = _run_of(context)
        return run[0] is self if run is not None else self._is_everywhere

    def _hook(self) -> None:
        with self._lock:
            self._users += 1
            if self._users > 1:
                return
        register_before_llm_call_hook(self.before_llm)
        register_before_tool_call_hook(self.before)
        register_after_tool_call_hook(self.after)

    def _unhook(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users:
                return
        unregister_before_llm_call_hook(self.before_llm)
        unregister_before_tool_call_hook(self.before)
        unregister_after_tool_call_hook(self.after)


_Run = tuple[HGMemHooks, Task]
_runs: dict[int, _Run] = {}
"""Who runs a crew, by its id: threads that CrewAI starts need not have our context."""
_current: ContextVar[_Run | None] = ContextVar("hgmem_crewai_run", default=None)
"""Who runs this context: agents and crews inside of a run."""


def run_crew(crew: Any, inputs: dict[str, Any] | None = None, *, client: Runtime | None = None) -> Any:
    """``crew.kickoff(inputs)`` with every tool call guarded."""
    return HGMemHooks(client).run(crew, inputs)


async def arun_crew(crew: Any, inputs: dict[str, Any] | None = None, *, client: Runtime | None = None) -> Any:
    """``await crew.akickoff(inputs)`` with every tool call guarded."""
    return await HGMemHooks(client).arun(crew, inputs)


def _run_of(context: Any) -> _Run | None:
    return _runs.get(id(getattr(context, "crew", None))) or _current.get()


def _goal(crew: Any, inputs: dict[str, Any] | None) -> str:
    goal = "; ".join(str(task.description) for task in crew.tasks)
    for name, value in (inputs or {}).items():
        goal = goal.replace(f"{{{name}}}", str(value))
    return goal


def _error_in(text: str, raw: Any) -> str:
    """What went wrong, as CrewAI tells it; empty for a call that went well."""
    if isinstance(raw, ToolFailure):
        return raw.message or "the tool failed"
    said = text.strip()
    if said.startswith(FAILED):
        return said.partition(":")[2].strip() or said
    return said if said.startswith("Tool '") and "usage limit" in said else ""


def _refused_elsewhere(call: Call, text: str) -> None:
    """Another hook refused the call after the rules let it pass."""
    call.refusal = Blocked(text)
    with suppress(Refused):
        call.check()
