"""What a new version of a tool means for the rules, and the validators, that are bound to it.

The schema of a tool is learnt from its calls and only ever widens, so a field that callers no longer send
does not vanish from it. Therefore the old schema is compared with one learnt only from good calls *since* the
change; :class:`Comparison` says from how many.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from hgmem.rules import InsertStep, Rule, ToolSwitch
from hgmem.rules.fields import format_path
from hgmem.rules.precedence import overlap
from hgmem.rules.scope import Scope, in_range, parse_range

Schema = dict[str, Any]
ChangeKind = Literal["gone", "type", "required", "added"]
Binding = Literal["name", "pattern", "any", "leads_to"]
DECISIONS = ("disable", "requeue", "rebind", "keep")
"""What may be decided about an impact; ``keep`` changes no rule."""
MAX_CHANGES = 200


@dataclass(frozen=True)
class FieldChange:
    """One field of the input that differs: ``path`` with its variable, types as words."""

    path: str
    kind: ChangeKind
    old: str = ""
    new: str = ""


@dataclass(frozen=True)
class Comparison:
    """The differences, and the number of good calls since the change that the new side rests on.

    ``calls`` is 0 where none was seen yet: then the stored schemas are compared, in which nothing vanishes.
    """

    changes: tuple[FieldChange, ...] = ()
    calls: int = 0


@dataclass(frozen=True)
class Effect:
    """What a change means for one rule: the changed fields it reads and writes, and its version range.

    ``out_of_range``: the rule names a range of versions in which the new one does not lie.
    """

    binding: Binding
    reads: tuple[FieldChange, ...] = ()
    writes: tuple[FieldChange, ...] = ()
    out_of_range: bool = False

    @property
    def is_affected(self) -> bool:
        """Whether a person should look."""
        return bool(self.reads or self.writes or self.out_of_range)


def compare_schemas(old: Schema, new: Schema) -> tuple[FieldChange, ...]:
    """Fields that are gone, have another type, became required, or are new; in the order of their paths."""
    found = sorted(_changes(old or {}, new or {}, ("input",)), key=lambda change: change.path)
    return tuple(found[:MAX_CHANGES])


def effect_on(rule: Rule, tool: str, version: str, changes: Sequence[FieldChange]) -> Effect | None:
    """What the changes of ``tool`` (now at ``version``, "" for not reported) mean for a rule.

    None for a rule that has nothing to do with the tool. New optional fields affect nobody.
    """
    binding = binding_of(rule, tool)
    if binding is None:
        return None
    if binding == "leads_to":
        return Effect(binding, writes=_touched(_led_fields(rule), changes))
    reads = _touched(rule.compiled_condition.read_set | rule.action.reads(), changes)
    writes = _touched(rule.action.writes(), changes)
    ranged = rule.applies_to.tool_versions
    return Effect(binding, reads, writes, bool(ranged and version and not in_range(version, ranged)))


def binding_of(rule: Rule, tool: str) -> Binding | None:
    """How a rule is bound to a tool: by name, pattern or for any tool; or it leads there; else None."""
    scope = rule.applies_to
    if scope.any_tool:
        return "any"
    if scope.fits_tool(tool):
        return "pattern" if scope.is_glob else "name"
    return "leads_to" if _target(rule) == tool else None


def validator_effect(fields: Collection[str], changes: Sequence[FieldChange]) -> tuple[FieldChange, ...]:
    """The changed fields that a validator reads."""
    return _touched(fields, changes)


def schema_fields(schema: Any, variable: str) -> frozenset[str]:
    """The fields that a JSON Schema names at its top; the whole variable where it names none."""
    names = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(names, dict) or not names:
        return frozenset((variable,))
    return frozenset(format_path((variable, str(name))) for name in names)


def rebound(scope: Scope, version: str, *, only: bool) -> str:
    """The version range of a rule that is bound to the new version, beside the old ones or ``only`` to it.

    A range cannot hold two separate pieces: a bound that keeps the version out moves to it, the others stay.
    Raises ValueError without a version: there is nothing to bind to.
    """
    if not version:
        raise ValueError("The tool's callers report no version: there is none to bind a rule to.")
    if only:
        return f"=={version}"
    if not scope.tool_versions or in_range(version, scope.tool_versions):
        return scope.tool_versions
    bounds = [bound for one in parse_range(scope.tool_versions) for bound in _widened(*one, version)]
    return ", ".join(dict.fromkeys(bounds))


def _widened(operator: str, bound: str, version: str) -> list[str]:
    """One bound of a range, moved just as far as it must be to let the version in."""
    if in_range(version, f"{operator}{bound}"):
        return [f"{operator}{bound}"]
    if operator in ("<", "<="):
        return [f"<={version}"]
    if operator in (">", ">="):
        return [f">={version}"]
    if operator == "!=":
        return []
    is_later = in_range(version, f">={bound}")
    return [f">={bound}", f"<={version}"] if is_later else [f">={version}", f"<={bound}"]


def _target(rule: Rule) -> str:
    action = rule.action
    return action.action_detail.tool if isinstance(action, ToolSwitch | InsertStep) else ""


def _led_fields(rule: Rule) -> frozenset[str]:
    """The parameters that a rule gives the tool it leads to."""
    action = rule.action
    names: set[str] = set()
    if isinstance(action, ToolSwitch):
        names = {*action.action_detail.parameters, *action.action_detail.constants}
    elif isinstance(action, InsertStep):
        names = {format_path((name,)) for name in action.action_detail.arguments}
    return frozenset(f"input{name}" if name.startswith("[") else f"input.{name}" for name in names)


def _touched(fields: Collection[str], changes: Sequence[FieldChange]) -> tuple[FieldChange, ...]:
    return tuple(
        change for change in changes if change.kind != "added" and overlap((change.path,), fields) is not None
    )


def _changes(old: Schema, new: Schema, place: tuple[str | int, ...]) -> Iterator[FieldChange]:
    before, after = old.get("properties", {}), new.get("properties", {})
    must_before, must_after = set(old.get("required", ())), set(new.get("required", ()))
    for name in sorted(before.keys() | after.keys()):
        path = (*place, name)
        if name not in before:
            kind: ChangeKind = "required" if name in must_after else "added"
            yield FieldChange(format_path(path), kind, "", _words(after[name]))
        elif name not in after:
            yield FieldChange(format_path(path), "gone", _words(before[name]), "")
        else:
            was, now = before[name], after[name]
            if _is_new_type(was, now):
                yield FieldChange(format_path(path), "type", _words(was), _words(now))
            elif name in must_after - must_before:
                yield FieldChange(format_path(path), "required", _words(was), _words(now))
            yield from _changes(was, now, path)


def _is_new_type(was: Schema, now: Schema) -> bool:
    """Whether values came that were of none of the old types (fewer types are no news)."""
    known, seen = _types(was), _types(now)
    if "number" in known:
        known |= {"integer"}
    return bool(known and seen - known)


def _types(schema: Schema) -> set[str]:
    kind = schema.get("type", [])
    return {kind} if isinstance(kind, str) else set(kind)


def _words(schema: Schema) -> str:
    return " or ".join(sorted(_types(schema))) or "unknown"
