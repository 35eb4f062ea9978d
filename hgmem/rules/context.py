"""The context of a question: what the agent is about to do, checked and ready for conditions."""

from collections.abc import Mapping
from typing import Any, Final

from hgmem.rules.errors import FieldError, RuleError
from hgmem.rules.limits import MAX_CONTEXT_CHARS, MAX_CONTEXT_DEPTH, MAX_CONTEXT_VALUES, MAX_HISTORY
from hgmem.rules.values import INT64_MAX, INT64_MIN, is_text

POINTS: Final = ("before", "after", "planning")
_MAPPINGS: Final = ("input", "task", "env")
_KNOWN: Final = frozenset(
    ("point", "tool", "input", "task", "env", "history", "output", "error", "duration_ms")
)
_NO_FIELDS: Final[dict[str, Any]] = {}
_NO_TAGS: Final[frozenset[str]] = frozenset()


class Context:
    """One question. Built by ``parse_context``; nothing in it is ever changed.

    ``variables`` maps the names conditions may use to their values. ``clean`` says that every
    value is plain JSON that the CEL runtime takes as it is (no integer beyond 64 bits, valid Unicode,
    no NUL), which is what the compiled closures rely on. ``size`` counts values, ``chars`` the characters in them.
    """

    __slots__ = ("agent", "chars", "clean", "point", "size", "tags", "tool", "tool_version", "variables")

    def __init__(self, variables: dict[str, Any], point: str, size: int, chars: int, clean: bool) -> None:
        self.variables = variables
        self.point = point
        self.size = size
        self.chars = chars
        self.clean = clean
        tool, task = variables.get("tool") or _NO_FIELDS, variables.get("task") or _NO_FIELDS
        self.tool: str = tool.get("name") or ""
        self.tool_version: str = tool.get("version") or ""
        self.agent: str = task.get("agent") or ""
        tags = task.get("tags")
        self.tags: frozenset[str] = frozenset(tags) if tags else _NO_TAGS

    def with_variables(self, **changed: Any) -> "Context":
        """The same context with some variables replaced.

        Raises:
            RuleError: the new values make it too large.
        """
        variables = {**self.variables, **changed}
        if changed.keys() == {"now"}:
            return Context(variables, self.point, self.size, self.chars, self.clean)
        return Context(variables, self.point, *_measure({k: v for k, v in variables.items() if k != "now"}))

    @property
    def input(self) -> dict[str, Any]:
        """The call's input as the agent gave it."""
        value: dict[str, Any] = self.variables["input"]
        return value


def parse_context(document: Mapping[str, Any]) -> Context:
    """Check a context document: ``{point, tool, input, task, env, history, output, error, duration_ms}``.

    Every part is optional; ``tool`` is a name or ``{name, version, schema_hash}``, ``task`` is
    ``{id, root, goal, tags, agent}``, ``history`` a list of ``{tool, input, status, error}``. A text
    as ``error`` becomes ``{"message": text}``.

    Raises:
        RuleError: with the path of every field that is wrong.
    """
    if not isinstance(document, Mapping):
        raise RuleError("must be an object")
    variables = {name: value for name, value in document.items() if name in _KNOWN}
    point = variables.pop("point", None) or "before"
    tool = variables.get("tool")
    if tool.__class__ is str:
        variables["tool"] = {"name": tool}
    if variables.get("error").__class__ is str:
        variables["error"] = {"message": variables["error"]}
    errors = _shape_errors(document, variables, point)
    if errors:
        raise RuleError(errors)
    for name in _MAPPINGS:
        if variables.get(name) is None:
            variables[name] = {}
    if variables.get("history") is None:
        variables["history"] = []
    return Context(variables, point, *_measure(variables))


def context_of(variables: Mapping[str, Any]) -> Context:
    """A context from bare variables (``{"input": ..., "output": ...}``), as validators use it.

    Raises:
        RuleError: a value is no JSON or too large.
    """
    known = dict(variables)
    return Context(known, "after", *_measure(known))


def _shape_errors(document: Mapping[str, Any], variables: dict[str, Any], point: Any) -> list[FieldError]:
    errors: list[FieldError] = []
    if point not in POINTS:
        errors.append({"field": "point", "detail": f"must be one of {', '.join(POINTS)}"})
    if len(document) != len(variables) + ("point" in document):
        unknown = sorted(str(name) for name in document if name not in _KNOWN)
        errors.extend({"field": name, "detail": "unknown field"} for name in unknown)
    for name in _MAPPINGS:
        value = variables.get(name)
        if value is not None and not isinstance(value, dict):
            errors.append({"field": name, "detail": "must be an object"})
    history = variables.get("history")
    if history is not None:
        errors.extend(_history_errors(history))
    errors.extend(_tool_errors(variables.get("tool")))
    task = variables.get("task")
    if task and isinstance(task, dict):
        errors.extend(_task_errors(task))
    return errors


def _history_errors(history: Any) -> list[FieldError]:
    if not isinstance(history, list):
        return [{"field": "history", "detail": "must be a list"}]
    if len(history) > MAX_HISTORY:
        return [{"field": "history", "detail": f"has more than {MAX_HISTORY} entries"}]
    return [
        {"field": f"history.{at}", "detail": "must be an object"}
        for at, entry in enumerate(history)
        if not isinstance(entry, dict)
    ]


def _tool_errors(tool: Any) -> list[FieldError]:
    if tool is None:
        return []
    if not isinstance(tool, dict):
        return [{"field": "tool", "detail": "must be a name or an object with a name"}]
    return [
        {"field": f"tool.{part}", "detail": "must be text"}
        for part in ("name", "version", "schema_hash")
        if not isinstance(tool.get(part) or "", str)
    ]


def _task_errors(task: Mapping[str, Any]) -> list[FieldError]:
    errors: list[FieldError] = [
        {"field": f"task.{part}", "detail": "must be text"}
        for part in ("id", "root", "goal", "agent")
        if not isinstance(task.get(part) or "", str)
    ]
    tags = task.get("tags")
    if tags is not None and not (isinstance(tags, list) and all(isinstance(tag, str) for tag in tags)):
        errors.append({"field": "task.tags", "detail": "must be a list of texts"})
    return errors


def _measure(variables: dict[str, Any]) -> tuple[int, int, bool]:
    """Count values and characters and tell whether all is plain: (size, chars, clean)."""
    size = chars = depth = 0
    clean = True
    level: list[Any] = [variables]
    while level:
        depth += 1
        following: list[Any] = []
        for owner in level:
            size += len(owner)
            if owner.__class__ is dict:
                for key in owner:
                    if key.__class__ is not str:
                        raise _not_json(variables)
                    chars += len(key)
                    if "\0" in key or not key.isascii():
                        clean = clean and is_text(key)
                owner = owner.values()
            for value in owner:
                kind = value.__class__
                if kind is str:
                    chars += len(value)
                    if "\0" in value or not value.isascii():
                        clean = clean and is_text(value)
                elif kind is int:
                    if not INT64_MIN <= value <= INT64_MAX:
                        clean = False
                elif kind is dict or kind is list:
                    following.append(value)
                elif not (kind is bool or value is None or kind is float):
                    raise _not_json(variables)
        if size > MAX_CONTEXT_VALUES or chars > MAX_CONTEXT_CHARS or depth > MAX_CONTEXT_DEPTH:
            raise _too_large(size, chars)
        level = following
    return size, chars, clean


def _too_large(size: int, chars: int) -> RuleError:
    if size > MAX_CONTEXT_VALUES:
        return RuleError(f"the context holds more than {MAX_CONTEXT_VALUES} values")
    if chars > MAX_CONTEXT_CHARS:
        return RuleError(f"the context holds more than {MAX_CONTEXT_CHARS} characters")
    return RuleError(f"the context is nested deeper than {MAX_CONTEXT_DEPTH}")


def _not_json(variables: dict[str, Any]) -> RuleError:
    """Name the first value that no JSON document could hold."""
    stack: list[tuple[str, Any]] = list(variables.items())
    while stack:
        path, value = stack.pop()
        if value.__class__ is dict:
            for key, part in value.items():
                if key.__class__ is not str:
                    return RuleError(f"has a key that is no text: {key!r}"[:200], field=path)
                stack.append((f"{path}.{key}", part))
        elif value.__class__ is list:
            stack.extend((f"{path}.{at}", part) for at, part in enumerate(value))
        elif not (value is None or value.__class__ in (str, int, float, bool)):
            return RuleError(f"a {type(value).__name__} is no JSON value", field=path)
    return RuleError("holds a value that is no JSON")
