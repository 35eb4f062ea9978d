"""The tools that guarded calls can be switched to, and that rules can insert before them."""

import asyncio
import inspect
import threading
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from hgmem.guarding.binding import Binder, Bound
from hgmem.runtime.client import Runtime as Client


class Tool:
    """A callable under the name that rules know it by. ``version`` is what scopes with a range look at."""

    def __init__(self, function: Callable[..., Any], name: str, version: str = "") -> None:
        self.function = function
        self.name = name
        self.version = version
        self.is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
            getattr(function, "__call__", None)  # noqa: B004 - an object whose call is a coroutine function
        )
        self.binder = Binder(function)

    def call(self, call_input: dict[str, Any], bound: Bound | None = None) -> Any:
        """Call it with an input; of an async one that is a coroutine."""
        args, keywords = self.binder.arguments(call_input, bound)
        return self.function(*args, **keywords)


class Toolbox:
    """Tools by name. The last one of a name counts."""

    def __init__(self) -> None:
        self._tools: dict[str, Tool] = {}

    def add(self, tool: Tool) -> None:
        """Make a tool known."""
        self._tools[tool.name] = tool

    def get(self, name: str) -> Tool | None:
        """The tool of a name."""
        return self._tools.get(name)

    def has_sync(self, name: str) -> bool:
        """Whether a sync caller can call it."""
        tool = self._tools.get(name)
        return tool is not None and not tool.is_async

    def has(self, name: str) -> bool:
        """Whether an async caller can call it."""
        return name in self._tools

    def call(self, name: str, call_input: dict[str, Any]) -> Any:
        """Call a sync tool. Raises KeyError for one that is not there."""
        return self._tools[name].call(call_input)

    async def acall(self, name: str, call_input: dict[str, Any]) -> Any:
        """Call a tool, a sync one in a thread. Raises KeyError for one that is not there."""
        tool = self._tools[name]
        if tool.is_async:
            return await tool.call(call_input)
        return await asyncio.to_thread(tool.call, call_input)


_boxes: WeakKeyDictionary[Client, Toolbox] = WeakKeyDictionary()
_lock = threading.Lock()


def toolbox_of(client: Client) -> Toolbox:
    """The toolbox of a client: everything that was guarded with it."""
    with _lock:
        found = _boxes.get(client)
        if found is None:
            found = _boxes[client] = Toolbox()
        return found
