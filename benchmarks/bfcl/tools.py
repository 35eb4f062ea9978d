"""The executable tool classes of BFCL, and one task's environment made of them.

The tool modules are imported one by one by name. The wheel's own runner (``multi_turn_utils``) and the
modules of its memory and web tools pull in model clients, faiss and a browser stack, so they are never
touched; the eight modules below need ``mpmath`` and nothing else.
"""

import copy
import importlib
import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

MODULES = "bfcl_eval.eval_checker.multi_turn_eval.func_source_code"
CLASS_MODULES = {
    "GorillaFileSystem": "gorilla_file_system",
    "MathAPI": "math_api",
    "MessageAPI": "message_api",
    "TicketAPI": "ticket_api",
    "TradingBot": "trading_bot",
    "TravelAPI": "travel_booking",
    "TwitterAPI": "posting_api",
    "VehicleControlAPI": "vehicle_control",
}
STATELESS = frozenset({"MathAPI"})
BACK_REFERENCES = frozenset({"parent"})


class WheelMissingError(RuntimeError):
    """The wheel that holds tasks and tools is not installed."""

    def __init__(self) -> None:
        super().__init__("The BFCL tools are not installed: pip install --no-deps bfcl-eval, and mpmath.")


@cache
def tool_class(name: str) -> type:
    """The tool class called `name`. Raises KeyError for a class outside the multi-turn suite."""
    try:
        module = importlib.import_module(f"{MODULES}.{CLASS_MODULES[name]}")
    except ModuleNotFoundError as missing:
        raise WheelMissingError from missing
    found: type = getattr(module, name)
    return found


class Environment:
    """The live tool objects of one task, freshly loaded from its initial configuration."""

    def __init__(self, class_names: tuple[str, ...], initial: dict[str, Any]) -> None:
        self.instances = {name: _instance(name, initial.get(name, {})) for name in class_names}
        self.tools: dict[str, Callable[..., Any]] = {}
        for instance in self.instances.values():
            for name, method in inspect.getmembers(instance, predicate=inspect.ismethod):
                if not name.startswith("_"):
                    self.tools[name] = method

    def call(self, tool: str, args: dict[str, Any]) -> tuple[Any, str | None]:
        """Run one tool. Returns (output as JSON values, error message or None); never raises."""
        method = self.tools.get(tool)
        if method is None:
            return None, f"Unknown tool: {tool}"
        try:
            output = plain(method(**copy.deepcopy(args)))
        except Exception as error:
            return None, f"Error during execution: {error}"
        if isinstance(output, dict) and output.get("error"):
            return output, str(output["error"])
        return output, None

    def state(self) -> dict[str, Any]:
        """Every class's public attributes as JSON values: what BFCL compares at the end of a task."""
        return {name: plain(_public(instance)) for name, instance in self.instances.items()}


@cache
def parameter_names(class_names: tuple[str, ...], tool: str) -> tuple[str, ...]:
    """Parameter names of `tool` in order, so that a positional gold argument gets its name."""
    for name in reversed(class_names):
        method = getattr(tool_class(name), tool, None)
        if method is not None:
            return tuple(inspect.signature(method).parameters)[1:]
    return ()


def plain(value: Any) -> Any:
    """`value` as JSON values: objects become their public attributes, sets become sorted lists."""
    if isinstance(value, str | int | float | bool) or value is None:
        return value
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted((plain(item) for item in value), key=repr)
    if hasattr(value, "__dict__"):
        return plain(_public(value))
    return str(value)


def _public(instance: Any) -> dict[str, Any]:
    return {
        name: value
        for name, value in vars(instance).items()
        if not name.startswith("_") and name not in BACK_REFERENCES
    }


def _instance(name: str, scenario: dict[str, Any]) -> Any:
    instance = tool_class(name)()
    if name not in STATELESS:
        instance._load_scenario(copy.deepcopy(scenario))
    return instance
