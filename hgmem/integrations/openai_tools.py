"""Plain tool loops: the calls of one answer of a model, made under guard, as messages for the next request.

For OpenAI-style chat completions (``run_tool_calls``), OpenAI-style responses (``run_function_calls``) and
Anthropic-style messages (``run_tool_uses``), with the libraries' objects or with dictionaries; each has an
async twin that makes the calls at the same time. ``tools`` are functions by the name that the model knows.

A refusal, an unknown tool, arguments that make no sense and whatever a tool raises are texts that the model
reads. Calls belong to ``task``, else to the current one; ``approve(call) -> bool`` is asked where a rule
wants a person to agree.
"""

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hgmem.api.errors import Refused, TreatedAsError
from hgmem.guarding.call import Call
from hgmem.guarding.running import Approve, AsyncApprove, aconclude_error, arun_call, conclude_error, run_call
from hgmem.guarding.tasks import Task, current_task
from hgmem.guarding.toolbox import Tool, Toolbox
from hgmem.guarding.wording import with_hints
from hgmem.integrations.failures import text_of
from hgmem.runtime.client import Runtime

Tools = Mapping[str, Callable[..., Any]] | Iterable[Callable[..., Any]]
Message = dict[str, Any]


def run_tool_calls(
    tool_calls: Iterable[Any] | None,
    tools: Tools,
    *,
    task: Task | None = None,
    client: Runtime | None = None,
    approve: Approve | None = None,
) -> list[Message]:
    """Make the calls of ``message.tool_calls``, one after the other: a ``tool`` message for each.

    Raises TypeError for an async tool.
    """
    return _run_all(_chat_calls(tool_calls), tools, task or current_task(client), approve)


async def arun_tool_calls(
    tool_calls: Iterable[Any] | None,
    tools: Tools,
    *,
    task: Task | None = None,
    client: Runtime | None = None,
    approve: AsyncApprove | None = None,
) -> list[Message]:
    """:func:`run_tool_calls` with async tools, or sync ones in threads."""
    return await _arun_all(_chat_calls(tool_calls), tools, task or current_task(client), approve)


def run_function_calls(
    output: Iterable[Any],
    tools: Tools,
    *,
    task: Task | None = None,
    client: Runtime | None = None,
    approve: Approve | None = None,
) -> list[Message]:
    """Make the function calls of ``response.output``: an output item for each.

    Raises TypeError for an async tool.
    """
    return _run_all(_response_calls(output), tools, task or current_task(client), approve)


async def arun_function_calls(
    output: Iterable[Any],
    tools: Tools,
    *,
    task: Task | None = None,
    client: Runtime | None = None,
    approve: AsyncApprove | None = None,
) -> list[Message]:
    """:func:`run_function_calls` with async tools, or sync ones in threads."""
    return await _arun_all(_response_calls(output), tools, task or current_task(client), approve)


def run_tool_uses(
    content: Iterable[Any],
    tools: Tools,
    *,
    task: Task | None = None,
    client: Runtime | None = None,
    approve: Approve | None = None,
) -> list[Message]:
    """Make the ``tool_use`` blocks of a message's content: a ``tool_result`` block for each.

    Raises TypeError for an async tool.
    """
    return _run_all(_tool_uses(content), tools, task or current_task(client), approve)


async def arun_tool_uses(
    content: Iterable[Any],
    tools: Tools,
    *,
    task: Task | None = None,
    client: Runtime | None = None,
    approve: AsyncApprove | None = None,
) -> list[Message]:
    """:func:`run_tool_uses` with async tools, or sync ones in threads."""
    return await _arun_all(_tool_uses(content), tools, task or current_task(client), approve)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A call as a model wrote it: ``arguments`` are JSON text or an object. ``answer`` makes the message."""

    name: str
    arguments: Any
    answer: Callable[[str, bool], Message]


def _chat_calls(tool_calls: Iterable[Any] | None) -> list[_Asked]:
    return [_chat_call(call) for call in tool_calls or ()]


def _chat_call(call: Any) -> _Asked:
    def answer(text: str, _failed: bool) -> Message:
        return {"role": "tool", "tool_call_id": _get(call, "id"), "content": text}

    if _get(call, "type", "function") == "custom":
        custom = _get(call, "custom")
        return _Asked(_get(custom, "name"), {"input": _get(custom, "input")}, answer)
    function = _get(call, "function")
    return _Asked(_get(function, "name"), _get(function, "arguments"), answer)


def _response_calls(output: Iterable[Any]) -> list[_Asked]:
    kinds = ("function_call", "custom_tool_call")
    return [_response_call(item) for item in output if _get(item, "type") in kinds]


def _response_call(item: Any) -> _Asked:
    kind = _get(item, "type")

    def answer(text: str, _failed: bool) -> Message:
        return {"type": f"{kind}_output", "call_id": _get(item, "call_id"), "output": text}

    is_custom = kind == "custom_tool_call"
    arguments = {"input": _get(item, "input")} if is_custom else _get(item, "arguments")
    return _Asked(_get(item, "name"), arguments, answer)


def _tool_uses(content: Iterable[Any]) -> list[_Asked]:
    return [_tool_use(block) for block in content if _get(block, "type") == "tool_use"]


def _tool_use(block: Any) -> _Asked:
    def answer(text: str, failed: bool) -> Message:
        result = {"type": "tool_result", "tool_use_id": _get(block, "id"), "content": text}
        return {**result, "is_error": True} if failed else result

    return _Asked(_get(block, "name"), _get(block, "input"), answer)


def _run_all(asked: list[_Asked], tools: Tools, owner: Task, approve: Approve | None) -> list[Message]:
    box = _Box(tools)
    if box.asynchronous:
        raise TypeError(f"{', '.join(box.asynchronous)}: async tools need the async twin of this function")
    return [call.answer(*_run(call, box, owner, approve)) for call in asked]


async def _arun_all(
    asked: list[_Asked], tools: Tools, owner: Task, approve: AsyncApprove | None
) -> list[Message]:
    box = _Box(tools)
    told = await asyncio.gather(*(_arun(call, box, owner, approve) for call in asked))
    return [call.answer(*answer) for call, answer in zip(asked, told, strict=True)]


def _run(asked: _Asked, box: "_Box", owner: Task, approve: Approve | None) -> tuple[str, bool]:
    """What the model reads of a call, and whether it failed."""
    call, fault = _call(asked, box, owner)
    if fault:
        return with_hints(fault, conclude_error(call, fault).hints), True
    try:
        result = run_call(call, box.call, approve)
    except Exception as error:  # the model is told, and may try again
        return _told(error), True
    return result.text, result.error is not None


async def _arun(asked: _Asked, box: "_Box", owner: Task, approve: AsyncApprove | None) -> tuple[str, bool]:
    call, fault = _call(asked, box, owner)
    if fault:
        return with_hints(fault, (await aconclude_error(call, fault)).hints), True
    try:
        result = await arun_call(call, box.acall, approve)
    except Exception as error:  # the model is told, and may try again
        return _told(error), True
    return result.text, result.error is not None


def _call(asked: _Asked, box: "_Box", owner: Task) -> tuple[Call, str]:
    """The guarded call, and what is wrong with its arguments."""
    arguments, fault = asked.arguments, ""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except ValueError as error:
            fault = f"The arguments are no JSON: {error}"
    if not fault and not isinstance(arguments, Mapping):
        fault = "The arguments are no JSON object."
    given = {"input": asked.arguments} if fault else arguments
    return Call(owner, asked.name, given, has_tool=box.has), fault


class NoSuchTool(LookupError):
    """The model named a tool that there is not."""


def _told(error: Exception) -> str:
    if isinstance(error, Refused | TreatedAsError | NoSuchTool):
        return text_of(error)
    return f"{type(error).__name__}: {text_of(error)}"


class _Box(Toolbox):
    """The tools of a loop. One that is not there is asked about too: a rule may know the right one."""

    def __init__(self, tools: Tools) -> None:
        super().__init__()
        self.asynchronous: list[str] = []
        named = tools.items() if isinstance(tools, Mapping) else ((tool.__name__, tool) for tool in tools)
        for name, function in named:
            tool = Tool(getattr(function, "__hgmem_tool__", function), name)
            self.add(tool)
            if tool.is_async:
                self.asynchronous.append(name)

    def call(self, name: str, call_input: dict[str, Any]) -> Any:
        """Call a sync tool. Raises NoSuchTool for one that is not there."""
        self._check(name)
        return super().call(name, call_input)

    async def acall(self, name: str, call_input: dict[str, Any]) -> Any:
        """Call a tool, a sync one in a thread. Raises NoSuchTool for one that is not there."""
        self._check(name)
        return await super().acall(name, call_input)

    def _check(self, name: str) -> None:
        if not self.has(name):
            raise NoSuchTool(f"There is no tool {name}.")


def _get(value: Any, name: str, default: Any = None) -> Any:
    if isinstance(value, Mapping):
        return value.get(name, default)
    return getattr(value, name, default)
