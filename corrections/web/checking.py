"""The live check of the editor: what the engine says about what stands there, and what it would hit."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from difflib import get_close_matches
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from corrections.actions.coverage import Coverage, cover
from corrections.actions.trying import Checked, check_document
from corrections.web.editor import Editor
from hgmem.rules import Condition, RuleError
from memory.domain.access import Actor

PLACE = re.compile(r"line (\d+), column (\d+): (.*?)(?=; line \d+, column \d+: |$)", re.S)
UNKNOWN = re.compile(r"undeclared reference to '([A-Za-z_]\w*)")
VARIABLES = ("input", "tool", "task", "env", "history", "now", "output", "error", "duration_ms")
STAND_IN = {"action_type": "PROMPT_ENHANCEMENT", "action_detail": {"text": "-"}}


@dataclass(frozen=True)
class Mark:
    """A fault of the condition: its sentence, and the line with the place where it was found."""

    detail: str
    line: int = 0
    column: int = 0
    before: str = ""
    at: str = ""
    after: str = ""


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


def marks_of(source: str, detail: str) -> list[Mark]:
    """The compiler's message as one mark for each place it names (columns count from 1)."""
    lines = source.strip().splitlines() or [""]
    marks = []
    for line, column, text in PLACE.findall(detail):
        row, at = int(line), max(int(column) - 1, 0)
        shown = lines[row - 1] if row <= len(lines) else ""
        words = _in_words(text)
        marks.append(Mark(words, row, at + 1, shown[:at], shown[at : at + 1] or " ", shown[at + 1 :]))
    return marks or [Mark(detail)]


def _in_words(text: str) -> str:
    """The compiler's sentence, with the word that was probably meant."""
    unknown = UNKNOWN.search(text)
    if "'<EOF>'" in text:
        return _("The condition ends too early: something must follow.")
    if unknown is None:
        return text.removeprefix("Syntax error: ").partition(" expecting ")[0]
    near = get_close_matches(unknown[1], VARIABLES, n=1)
    known = _("There is no variable %(name)s.") % {"name": unknown[1]}
    meant = _("Did you mean %(name)s?") % {"name": near[0]} if near else _("There are %(names)s.") % {
        "names": ", ".join(VARIABLES)
    }  # fmt: skip
    return f"{known} {meant}"


def _coverage(
    document: Mapping[str, Any], patterns: Sequence[UUID], *, now: datetime, by: Actor
) -> Coverage | None:
    """What it would hit; while the action is still being written, what scope and condition would."""
    for tried in (document, {**document, **STAND_IN}):
        try:
            return cover(document=tried, patterns=patterns, now=now, by=by)
        except RuleError:
            continue
    return None
