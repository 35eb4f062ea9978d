"""AutoGen: a workbench that guards every call of the one it stands in front of, and guarded tools.

``AssistantAgent("guide", model_client=..., workbench=guard_workbench(workbench))``, or
``tools=guard_tools(tools)``. Calls belong to the ``hgmem.task`` around the run.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

try:
    from autogen_core import CancellationToken
    from autogen_core.tools import (
        BaseTool,
        FunctionTool,
        StaticWorkbench,
        TextResultContent,
        ToolResult,
        ToolSchema,
        Workbench,
    )
    from pydantic import BaseModel
except ImportError as error:
    raise ImportError("AutoGen is missing: pip install 'hgmem[autogen]'") from error

from hgmem.api.errors import Refused, TreatedAsError
from hgmem.guarding.call import Call, Result
from hgmem.guarding.running import arun_call
from hgmem.guarding.tasks import current_task
from hgmem.integrations.failures import ToolError, text_of
from hgmem.runtime.client import Runtime


def guard_workbench(workbench: Workbench, *, client: Runtime | None = None) -> "GuardedWorkbench":
    """The workbench, guarded. Its calls can be switched to its other tools, and those inserted."""
    return GuardedWorkbench(workbench, client)


def guard_tools(tools: Sequence[Any], *, client: Runtime | None = None) -> "GuardedWorkbench":
    """Tools or functions as a guarded workbench, for ``workbench=`` of an agent."""
    made = [tool if isinstance(tool, BaseTool) else _as_tool(tool) for tool in tools]
    return GuardedWorkbench(StaticWorkbench(made), client)


class GuardedWorkbench(Workbench):
    """Stands in front of another workbench. It cannot be dumped to a component configuration."""

    component_config_schema = BaseModel
    component_provider_override = "hgmem.integrations.autogen.GuardedWorkbench"

    def __init__(self, workbench: Workbench, client: Runtime | None = None) -> None:
        self._workbench = workbench
        self._client = client

    async def list_tools(self) -> list[ToolSchema]:
        """The tools of the workbench behind."""
        return await self._workbench.list_tools()

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        cancellation_token: CancellationToken | None = None,
        call_id: str | None = None,
    ) -> ToolResult:
        """Guard a call; a refusal is what the model reads as its result."""
        names = {tool["name"] for tool in await self._workbench.list_tools()}
        call = Call(current_task(self._client), name, arguments or {}, has_tool=names.__contains__)
        made: list[ToolResult] = []

        async def invoke(tool: str, call_input: dict[str, Any]) -> Any:
            made.append(await self._workbench.call_tool(tool, call_input, cancellation_token, call_id))
            if made[-1].is_error:
                raise ToolError(made[-1].to_text())
            return _output(made[-1])

        try:
            result = await arun_call(call, invoke)
        except (Refused, TreatedAsError, ToolError) as error:
            return _told(name, text_of(error), is_error=True)
        return _shown(name, made[-1], result)

    async def start(self) -> None:
        """Start the workbench behind."""
        await self._workbench.start()

    async def stop(self) -> None:
        """Stop the workbench behind."""
        await self._workbench.stop()

    async def reset(self) -> None:
        """Reset the workbench behind."""
        await self._workbench.reset()

    async def save_state(self) -> Mapping[str, Any]:
        """The state of the workbench behind."""
        return await self._workbench.save_state()

    async def load_state(self, state: Mapping[str, Any]) -> None:
        """Load the state of the workbench behind."""
        await self._workbench.load_state(state)

    def _to_config(self) -> BaseModel:
        raise NotImplementedError("a guarded workbench is made in code")

    @classmethod
    def _from_config(cls, config: BaseModel) -> "GuardedWorkbench":
        raise NotImplementedError("a guarded workbench is made in code")


def _as_tool(function: Callable[..., Any]) -> FunctionTool:
    return FunctionTool(function, description=function.__doc__ or "", name=function.__name__)


def _output(made: ToolResult) -> Any:
    """What the tool gave: the JSON or text of its only text, else all as text."""
    text = made.to_text()
    try:
        return json.loads(text)
    except ValueError:
        return text


def _shown(name: str, made: ToolResult, result: Result) -> ToolResult:
    if result.error is None and not result.hints and result.output == _output(made):
        return made
    if result.error is None and result.output == _output(made):
        text = Result(made.to_text(), None, result.hints).text
        return _told(name, text)
    return _told(name, result.text, is_error=result.error is not None)


def _told(name: str, text: str, *, is_error: bool = False) -> ToolResult:
    return ToolResult(name=name, result=[TextResultContent(content=text)], is_error=is_error)
