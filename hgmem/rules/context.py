"""The context of a question: what the agent is about to do, checked and ready for conditions."""

from collections.abc import Mapping
from typing import Any, Final

from hgmem.rules.errors import FieldError, RuleError
from hgmem.rules.limits import MAX_CONTEXT_CHARS, MAX_CONTEXT_DEPTH, MAX_CONTEXT_VALUES, MAX_HISTORY
from hgmem.rules.values import INT64_MAX, INT64_MIN, is_text

POINTS: Final = ("before", "after", "planning")
_MAPPINGS: Final = ("input", "task", "env")
_KNOWN: Final = frozenset(("tool", "input", "task", "env", "history", "output", "error", "duration_ms"))
_TOOL_TEXTS: Final = ("name", "version", "schema_hash")
_TASK_TEXTS: Final = ("id", "root", "goal", "agent")
_NO_FIELDS: Final[dict[str, Any]] = {}
_NO_TAGS: Final[frozenset[str]] = frozenset()


class Context:
    """One question. Built by ``parse_context``; nothing in it is ever changed.

    ``variables`` maps the names conditions may use to their values. ``clean`` says that every
    value is plain JSON that the CEL runtime takes as it is (no integer beyond 64 bits, valid Unicode,
    no NUL), which is what the compiled closures rely on. ``size`` counts values, ``chars`` the
    characters in them.
    """

    __slots__ = (
        "agent",
        "chars",
        "clean",
        "point",
        "size",
        "tags",
        "tool",
        "tool_version",
        "variables",
    )

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
        plain = {name: value for name, value in variables.items() if name != "now"}
        return Context(variables, self.point, *_measure(plain))

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
    variables = dict(document)
    point = variables.pop("point", None) or "before"
    tool = variables.get("tool")
    if tool.__class__ is str:
        variables["tool"] = {"name": tool}
    if variables.get("error").__class__ is str:
        variables["error"] = {"message": variables["error"]}
    errors = _shape_errors(variables, point)
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


def _shape_errors(variables: dict[str, Any], point: Any) -> list[FieldError]:
    errors: list[FieldError] = []
    if point not in POINTS:
        errors.append({"field": "point", "detail": f"must be one of {', '.join(POINTS)}"})
    if not variables.keys() <= _KNOWN:
        unknown = sorted(str(name) for name in variables if name not in _KNOWN)
        errors.extend({"field": name, "detail": "unknown field"} for name in unknown)
    for name in _MAPPINGS:
        value = variables.get(name)
        if value.__class__ is not dict and value is not None:
            errors.append({"field": name, "detail": "must be an object"})
    history = variables.get("history")
    if history:
        errors.extend(_history_errors(history))
    tool = variables.get("tool")
    if tool is not None:
        errors.extend(_text_errors("tool", tool, _TOOL_TEXTS))
    task = variables.get("task")
    if task and task.__class__ is dict:
        errors.extend(_text_errors("task", task, _TASK_TEXTS))
        tags = task.get("tags")
        if tags is not None and not (isinstance(tags, list) and all(isinstance(tag, str) for tag in tags)):
            errors.append({"field": "task.tags", "detail": "must be a list of texts"})
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


def _text_errors(variable: str, value: Any, names: tuple[str, ...]) -> list[FieldError]:
    if value.__class__ is not dict:
        return [{"field": variable, "detail": "must be a name or an object with a name"}]
    return [
        {"field": f"{variable}.{name}", "detail": "must be text"}
        for name in names
        if value.get(name).__class__ is not str and value.get(name) is not None
    ]


def _measure(variables: dict[str, Any]) -> tuple[int, int, bool]:  # noqa: C901 (in line: hot path)
    """Count values and characters and tell whether all is plain: (size, chars, clean).

    On the hot path: texts are only collected here and judged together at the end.
    """
    size = depth = 0
    clean = True
    low, high = INT64_MIN, INT64_MAX
    texts: list[str] = []
    level: list[Any] = [variables]
    while level:
        following: list[Any] = []
        for owner in level:
            size += len(owner)
            items = owner
            if owner.__class__ is dict:
                texts += owner
                items = owner.values()
            for value in items:
                kind = value.__class__
                if kind is str:
                    texts.append(value)
                elif kind is dict or kind is list:
                    following.append(value)
                elif kind is int:
                    if not low <= value <= high:
                        clean = False
                elif not (value is None or kind is bool or kind is float):
                    raise _not_json(variables)
        depth += 1
        if size > MAX_CONTEXT_VALUES or depth > MAX_CONTEXT_DEPTH:
            raise _too_large(size)
        level = following
    try:
        text = "".join(texts)
    except TypeError:
        raise _not_json(variables) from None
    if len(text) > MAX_CONTEXT_CHARS:
        raise RuleError(f"the context holds more than {MAX_CONTEXT_CHARS} characters")
    return size, len(text), clean and (is_text(text) if "\0" in text or not text.isascii() else True)


def _too_large(size: int) -> RuleError:
    if size > MAX_CONTEXT_VALUES:
        return RuleError(f"the context holds more than {MAX_CONTEXT_VALUES} values")
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
