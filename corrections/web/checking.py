"""The live check of the editor: what the engine says about what stands there, and what it would hit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from corrections.actions.coverage import Coverage, cover
from corrections.actions.trying import Checked, check_document
from corrections.web.editor import Editor
from corrections.web.marks import Mark, marks_of
from hgmem.rules import Condition, RuleError
from memory.domain.access import Actor

STAND_IN = {"action_type": "PROMPT_ENHANCEMENT", "action_detail": {"text": "-"}}
"""An action that works at every point, in place of one that is still being written."""


@dataclass
class CheckPanel:
    """What the panel shows. ``marks`` are faults of the condition, ``faults`` those of everything else."""

    marks: list[Mark] = field(default_factory=list)
    faults: list[tuple[str, str]] = field(default_factory=list)
    checked: Checked | None = None
    reads: list[str] = field(default_factory=list)
    specificity: int | None = None
    always: bool = False
    coverage: Coverage | None = None
    has_patterns: bool = False


def check_editor(editor: Editor, patterns: Sequence[UUID], *, now: datetime, by: Actor) -> CheckPanel:
    """Everything that can be said about what stands in the editor. Never raises for what was typed."""
    panel = CheckPanel(has_patterns=bool(patterns))
    try:
        document = editor.document()
    except RuleError as error:
        panel.faults = [("", fault["detail"]) for fault in error.errors]
        return panel
    _check_condition(panel, document.get("condition", ""))
    panel.checked = check_document(document)
    panel.faults = [
        (fault["field"], fault["detail"]) for fault in panel.checked.errors if fault["field"] != "condition"
    ]
    if not panel.marks:
        panel.coverage = _coverage(document, patterns, now=now, by=by)
    return panel


def _check_condition(panel: CheckPanel, source: Any) -> None:
    if not isinstance(source, str):
        panel.marks = [Mark(_("The condition must be text."))]
        return
    try:
        condition = Condition.compile(source)
    except RuleError as error:
        panel.marks = [mark for fault in error.errors for mark in marks_of(source, fault["detail"])]
        return
    panel.reads = sorted(condition.read_set)
    panel.specificity, panel.always = condition.specificity, condition.always


def _coverage(
    document: Mapping[str, Any], patterns: Sequence[UUID], *, now: datetime, by: Actor
) -> Coverage | None:
    """What it would hit; while the action is still being written, what scope and condition would."""
    scope = document["applies_to"] if isinstance(document.get("applies_to"), dict) else {}
    usual = "after" if document.get("action_type") == "POST_CALL_PARSING_ADJUST" else "before"
    scope = {**scope, "point": scope.get("point") or usual}
    for tried in (document, {**document, **STAND_IN, "applies_to": scope}):
        try:
            return cover(document=tried, patterns=patterns, now=now, by=by)
        except RuleError:
            continue
    return None
