"""``hgmem.guard``: any callable, asked about before and recorded after each call."""

import functools
from collections.abc import Callable
from typing import Any, Literal, ParamSpec, TypeVar, overload

from hgmem.guarding import wording
from hgmem.guarding.binding import Bound
from hgmem.guarding.call import Call, Result
from hgmem.guarding.running import Approve, AsyncApprove, arun_call, run_call
from hgmem.guarding.tasks import current_task
from hgmem.guarding.toolbox import Tool, Toolbox, toolbox_of
from hgmem.runtime.client import Runtime as Client
from hgmem.runtime.default import default_client

P = ParamSpec("P")
R = TypeVar("R")
Hints = Literal["collect", "append"]


@overload
def guard(tool: Callable[P, R], /) -> Callable[P, R]: ...
@overload
def guard(
    tool: None = None,
    /,
    *,
    name: str = "",
    version: str = "",
    hints: Hints = "collect",
    approve: Approve | AsyncApprove | None = None,
    client: Client | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
@overload
def guard(
    tool: Callable[P, R],
    /,
    *,
    name: str = "",
    version: str = "",
    hints: Hints = "collect",
    approve: Approve | AsyncApprove | None = None,
    client: Client | None = None,
) -> Callable[P, R]: ...
def guard(
    tool: Callable[..., Any] | None = None,
    /,
    *,
    name: str = "",
    version: str = "",
    hints: Hints = "collect",
    approve: Any = None,
    client: Client | None = None,
) -> Any:
    """Guard a tool: ``search = hgmem.guard(search)``, or ``@hgmem.guard`` above its definition.

    Every call then asks the rules, is changed, refused or sent elsewhere by them, and is recorded in the
    current :func:`~hgmem.guarding.tasks.task`. The wrapper is sync or async as the tool is, and takes and
    returns what the tool does.

    ``name`` is what rules call it (default: the function's name), ``version`` its own. Hints of rules are
    collected in ``current_task().take_hints()``; ``hints="append"`` also writes them below an output that is
    text. ``approve(call) -> bool`` is asked where a rule wants a person to agree. ``client`` defaults to the
    one of :func:`hgmem.configure` or the environment, looked up at the first call.

    Raises, from the wrapper:
        Blocked, ApprovalNeeded, NoDecision: the call was not made; the text says to a model what to do.
        TreatedAsError: the call was made, and a rule says its output means a failure.
        Exception: whatever the tool raises, with hints as notes (PEP 678).
    """
    if tool is None:
        return functools.partial(
            guard, name=name, version=version, hints=hints, approve=approve, client=client
        )  # fmt: skip
    tool = getattr(tool, "__hgmem_tool__", tool)  # guarded twice is guarded once, as said last
    known = Tool(tool, name or getattr(tool, "__name__", type(tool).__name__), version)
    guarded = _Guarded(known, hints, approve, client)
    if client is not None:
        toolbox_of(client).add(known)
    else:
        _WAITING.add(known)

    if known.is_async:

        @functools.wraps(tool)
        async def acall(*args: Any, **keywords: Any) -> Any:
            return await guarded.arun(args, keywords)

        acall.__hgmem_tool__ = tool  # type: ignore[attr-defined]
        return acall

    @functools.wraps(tool)
    def call(*args: Any, **keywords: Any) -> Any:
        return guarded.run(args, keywords)

    call.__hgmem_tool__ = tool  # type: ignore[attr-defined]
    return call


_WAITING = Toolbox()
"""Tools of whatever client turns out to be the default one."""


class _Guarded:
    def __init__(self, tool: Tool, hints: Hints, approve: Any, client: Client | None) -> None:
        self._tool = tool
        self._hints = hints
        self._approve = approve
        self._client = client

    def run(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        bound, box = self._tool.binder.bind(args, keywords), self._box()
        call = self._begin(bound, box.has_sync)

        def invoke(name: str, call_input: dict[str, Any]) -> Any:
            mine = name == self._tool.name
            return self._tool.call(call_input, bound) if mine else box.call(name, call_input)

        return self._shown(run_call(call, invoke, self._approve))

    async def arun(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        bound, box = self._tool.binder.bind(args, keywords), self._box()
        call = self._begin(bound, box.has)

        async def invoke(name: str, call_input: dict[str, Any]) -> Any:
            mine = name == self._tool.name
            return await (self._tool.call(call_input, bound) if mine else box.acall(name, call_input))

        return self._shown(await arun_call(call, invoke, self._approve))

    def _box(self) -> Toolbox:
        return toolbox_of(self._client) if self._client is not None else _WAITING

    def _begin(self, bound: Bound, has_tool: Callable[[str], bool]) -> Call:
        task = current_task(self._client or default_client())
        return Call(task, self._tool.name, bound.input, version=self._tool.version, has_tool=has_tool)

    def _shown(self, result: Result) -> Any:
        output = result.unwrap()
        if self._hints == "append" and isinstance(output, str):
            return wording.with_hints(output, result.hints)
        return output
