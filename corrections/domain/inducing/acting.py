"""What a group's rule should do where no edit is known: the most helpful action that the runs agree on."""

import json
from typing import Any

from corrections.domain.inducing.groups import Group, Mistake
from corrections.domain.inducing.ledger import Ledger
from corrections.domain.inducing.proposals import MAX_SAID, Action, ask_first
from corrections.domain.inducing.recovering import MissingStep, Recovery, missing_step, switch_detail

STRUCTURAL_KINDS = frozenset(("null", "blank", "type"))


def fallback(mistake: Mistake, group: Group, ledger: Ledger) -> Action | None:
    """What to do where no edit is known: another tool, otherwise the error's own words; None without any."""
    if group.message is None:
        return None
    switch = switch_detail(_recoveries(group))
    if switch is not None:
        return Action("TOOL_SWITCH", _json(switch), ask_first(group.message).name)
    return ask_first(group.message, is_certain=is_structural(mistake, ledger))


def is_structural(mistake: Mistake, ledger: Ledger) -> bool:
    """Whether an argument is missing, empty or of the wrong type, as in no good call: nobody means that."""
    if not mistake.lacking and not any(atom.kind in STRUCTURAL_KINDS for atom in mistake.blamed):
        return False
    return not ledger.hit(mistake.book, mistake.blamed, mistake.lacking)


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
    return Action("PROMPT_ENHANCEMENT", _json({"text": text[: MAX_SAID * 4]}), name)


def _recoveries(group: Group) -> list[Recovery]:
    return [recovery for some in group.recoveries.values() for recovery in some]


def _json(detail: dict[str, Any]) -> str:
    return json.dumps(detail, ensure_ascii=False, sort_keys=True)
