"""Plain tool loops: the calls of one answer of a model, made under guard, as messages for the next request.

For OpenAI-style chat completions (``run_tool_calls``) and Anthropic-style messages (``run_tool_uses``), with
the libraries' objects or with dictionaries. ``tools`` are functions by the name that the model knows.
"""

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from hgmem.api.errors import Refused, TreatedAsError
from hgmem.guarding.call import Call
from hgmem.guarding.running import Approve, AsyncApprove, arun_call, conclude_error, run_call
from hgmem.guarding.tasks import Task, current_task
from hgmem.guarding.toolbox import Tool, Toolbox
from hgmem.integrations.failures import text_of
from hgmem.runtime.client import Runtime

Tools = Mapping[str, Callable[..., Any]] | Iterable[Callable[..., Any]]


def run_tool_calls(
    tool_calls: Iterable[Any] | None,
    tools: Tools,
    *,
    task: Task | None = None,
    client: Runtime | None = None,
    approve: Approve | None = None,
) -> list[dict[str, Any]]:
    """Make the calls of ``message.tool_calls``, one after the other: a ``tool`` message for each.

    A refusal, an unknown tool and whatever a tool raises are texts that the model reads.
    """
    box, owner = _box(tools), task or current_task(client)
    return [
        {
            "role": "tool",
            "tool_call_id": _get(call, "id"),
            "content": _run(owner, box, *_function(call), approve)[0],
        }
        for call in tool_calls or ()
    ]


async def arun_tool_calls(
    tool_calls: Iterable[Any] | None,
    tools: Tools,
    *,
    task: Task | None = None,
    client: Runtime | None = None,
    approve: AsyncApprove | None = None,
) -> list[dict[str, Any]]:
    """:func:`run_tool_calls` with async tools (or sync ones, in threads), all calls at the same time."""
    box, owner, calls = _box(tools), task or current_task(client), list(tool_calls or ())
    told = await asyncio.gather(*(_arun(owner, box, *_function(call), approve) for call in calls))
    return [
        {"role": "tool", "tool_call_id": _get(call, "id"), "content": text}
        for call, (text, _) in zip(calls, told, strict=True)
    ]


def run_tool_uses(
    content: Iterable[Any],
    tools: Tools,
    *,
    task: Task | None = None,
    client: Runtime | None = None,
    approve: Approve | None = None,
) -> list[dict[str, Any]]:
    """Make the ``tool_use`` blocks of a message's content: a ``tool_result`` block for each."""
    box, owner = _box(tools), task or current_task(client)
    return [
        _result_block(use, *_run(owner, box, _get(use, "name"), _get(use, "input"), approve))
        for use in content
        if _get(use, "type") == "tool_use"
    ]


async def arun_tool_uses(
    content: Iterable[Any],
    tools: Tools,
    *,
    task: Task | None = None,
    client: Runtime | None = None,
    approve: AsyncApprove | None = None,
) -> list[dict[str, Any]]:
    """:func:`run_tool_uses` with async tools (or sync ones, in threads), all calls at the same time."""
    box, owner = _box(tools), task or current_task(client)
    uses = [use for use in content if _get(use, "type") == "tool_use"]
    told = await asyncio.gather(
        *(_arun(owner, box, _get(use, "name"), _get(use, "input"), approve) for use in uses)
    )
    return [_result_block(use, *answer) for use, answer in zip(uses, told, strict=True)]


def _run(owner: Task, box: Toolbox, name: str, given: Any, approve: Approve | None) -> tuple[str, bool]:
    """What the model reads of a call, and whether it failed."""
    call, fault = _call(owner, box.has_sync, name, given)
    if fault:
        return text_of_error(call, fault), True
    try:
        result = run_call(call, box.call, approve)
    except (Refused, TreatedAsError) as error:
        return text_of(error), True
    except Exception as error:  # the model is told, and may try again
        return f"{type(error).__name__}: {text_of(error)}", True
    return result.text, result.error is not None


async def _arun(
    owner: Task, box: Toolbox, name: str, given: Any, approve: AsyncApprove | None
) -> tuple[str, bool]:
    call, fault = _call(owner, box.has, name, given)
    if fault:
        return text_of_error(call, fault), True
    try:
        result = await arun_call(call, box.acall, approve)
    except (Refused, TreatedAsError) as error:
        return text_of(error), True
    except Exception as error:  # the model is told, and may try again
        return f"{type(error).__name__}: {text_of(error)}", True
    return result.text, result.error is not None


def _call(owner: Task, has_tool: Callable[[str], bool], name: str, given: Any) -> tuple[Call, str]:
    """The guarded call, and what is wrong with it before anybody is asked."""
    arguments = given
    if isinstance(given, str):
        try:
            arguments = json.loads(given or "{}")
        except ValueError as error:
            return Call(owner, name, {"input": given}), f"The arguments are no JSON: {error}"
    if not isinstance(arguments, dict):
        return Call(owner, name, {"input": given}), "The arguments are no JSON object."
    if not has_tool(name):
        return Call(owner, name, arguments), f"There is no tool {name}."
    return Call(owner, name, arguments, has_tool=has_tool), ""


def text_of_error(call: Call, fault: str) -> str:
    """Record a call that could not even be tried; the text for the model, with the hints of rules."""
    result = conclude_error(call, fault)
    return "\n\n".join([fault, *(f"[hint] {hint}" for hint in result.hints)])


def _box(tools: Tools) -> Toolbox:
    named = tools.items() if isinstance(tools, Mapping) else ((tool.__name__, tool) for tool in tools)
    box = Toolbox()
    for name, function in named:
        box.add(Tool(getattr(function, "__hgmem_tool__", function), name))
    return box


def _function(call: Any) -> tuple[str, Any]:
    function = _get(call, "function")
    return _get(function, "name"), _get(function, "arguments")


def _result_block(use: Any, text: str, is_error: bool) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": _get(use, "id"), "content": text}
    return {**block, "is_error": True} if is_error else block


def _get(value: Any, name: str) -> Any:
    return value[name] if isinstance(value, Mapping) else getattr(value, name)
