"""What a group's rule should do: the most helpful action that its evidence agrees on."""

import json
from collections import Counter
from typing import Any

from corrections.domain.inducing.features import Atom
from corrections.domain.inducing.groups import Group, Mistake
from corrections.domain.inducing.proposals import MAX_SAID, Action, ask_first
from corrections.domain.inducing.recovering import MissingStep, Recovery, missing_step, switch_detail

MIN_RUNS = 2
"""Runs that must agree before a literal of theirs goes into an action."""
STRUCTURAL_KINDS = frozenset(("null", "blank", "type"))


def action_of(mistake: Mistake, group: Group) -> Action:
    """The edit that most failing calls agree on, another tool, otherwise the error's own words."""
    first = next(iter(group.failing.values())).call
    edit = _edit_action(group, first.message)
    if edit is not None:
        return edit
    switch = switch_detail(_recoveries(group))
    if switch is not None:
        return Action("TOOL_SWITCH", _json(switch), ask_first(first.message).name)
    return ask_first(first.message, is_certain=is_structural(mistake))


def is_structural(mistake: Mistake) -> bool:
    """Whether an argument is missing, empty or of the wrong type: such a call cannot be meant."""
    return bool(mistake.lacking) or any(_is_structural(atom) for atom in mistake.blamed)


def needed_step(group: Group) -> MissingStep | None:
    """The step that recovered runs made before the call was made again."""
    runs = {seen.call.run for seen in group.failing.values()}
    return missing_step(_recoveries(group), len(runs))


def step_action(step: MissingStep, message: str) -> Action:
    """Make the step first; where its arguments are not known, a hint that it is missing."""
    said = " ".join(message.split())[:MAX_SAID].replace("{{", "{ {")
    name = ask_first(message).name
    if not step.unknown:
        reason = f"Without it such a call failed: {said}"
        return Action(
            "INSERT_STEP", _json({"tool": step.tool, "arguments": step.arguments, "reason": reason}), name
        )
    known = ", ".join(f"{key}: {value}" for key, value in step.arguments.items())
    text = (
        f"Such a call failed before: {said} Where it went well, {step.tool} was called first"
        + (f" ({known})" if known else "")
        + "."
    )
    return Action("PROMPT_ENHANCEMENT", _json({"text": text[:MAX_SAID * 4]}), name)


def _edit_action(group: Group, message: str) -> Action | None:
    counted = Counter(edit for _run, edit in group.edits.values())
    for edit, times in counted.most_common(1):
        runs = {run for run, other in group.edits.values() if other == edit}
        trusted = edit is not None and (edit.is_general or len(runs) >= MIN_RUNS)
        if edit and trusted and 2 * times > len(group.edits):
            return Action("PARAMETER_TRANSFORM", _json(edit.detail()), ask_first(message).name)
    return None


def _recoveries(group: Group) -> list[Recovery]:
    return [recovery for some in group.recoveries.values() for recovery in some]


def _is_structural(atom: Atom) -> bool:
    return atom.kind in STRUCTURAL_KINDS


def _json(detail: dict[str, Any]) -> str:
    return json.dumps(detail, ensure_ascii=False, sort_keys=True)
