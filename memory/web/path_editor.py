"""What a person types to write or correct a path: steps as rows, or the whole as JSON."""

import json
import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.domain.intake import FieldError
from memory.domain.paths.checking import write_path_document
from memory.domain.paths.document import PATH_RESULTS, EdgeDoc, NodeDoc, PathDoc
from memory.queries.paging import read_number
from memory.web.path_forms import PathDocumentForm, read_document, read_json
from memory.web.path_words import KINDS, RESULTS

MAX_ROWS = 100
TYPED = ("tool", "content", "params", "condition")
STARTER = """{
  "goal": "", "tags": [], "result": "success", "reward": 0.5,
  "nodes": [{"name": "first", "tool": "", "params": {}}, {"name": "then", "tool": "", "params": {}}],
  "edges": [{"from": "first", "to": "then", "condition": ""}]
}"""
"""What the JSON editor opens with when nothing was written yet."""
NEW = {"result": "success", "reward": 0.5}
"""Who writes a path says how it should go; no run has shown it yet, so it is worth half."""
_PLACE = re.compile(r"(?P<of>nodes|edges)\.(?P<place>\d+)(?:\.(?P<field>\w+))?.*")


class BasicsForm(forms.Form):
    """What the path is for."""

    goal = forms.CharField(
        label=gettext_lazy("Goal"), required=False, max_length=20_000, widget=forms.Textarea({"rows": 2})
    )
    tags = forms.CharField(
        label=gettext_lazy("Tags"),
        required=False,
        max_length=5_000,
        help_text=gettext_lazy("Separated by commas."),
    )
    result = forms.ChoiceField(
        label=gettext_lazy("Result"), choices=list(RESULTS.items()),
        help_text=gettext_lazy("Success: agents are told to go this way. Failure: they are to avoid it."),
    )  # fmt: skip
    reward = forms.FloatField(
        label=gettext_lazy("Reward (0 to 1)"), required=False, min_value=0, max_value=1,
        widget=forms.NumberInput({"step": "0.05"}),
        help_text=gettext_lazy("How well it does: 0.5 while no run has shown it. Uses change it."),
    )  # fmt: skip
    agent = forms.CharField(label=gettext_lazy("Agent"), required=False, max_length=200)

    def document(self) -> dict[str, Any]:
        """The fields as those of a path document."""
        given = self.cleaned_data
        tags = [tag.strip() for tag in given.get("tags", "").replace("，", ",").split(",")]
        return {
            "goal": given.get("goal", ""),
            "tags": [tag for tag in dict.fromkeys(tags) if tag],
            "result": given.get("result", "pending"),
            "reward": given.get("reward") or 0.0,
            "agent": given.get("agent", ""),
        }


class StepForm(forms.Form):
    """One step; ``condition`` is when it leads on to the next one."""

    name = forms.CharField(required=False, max_length=120, widget=forms.HiddenInput)
    kind = forms.ChoiceField(label=gettext_lazy("Kind"), choices=list(KINDS.items()), required=False)
    tool = forms.CharField(label=gettext_lazy("Tool"), required=False, max_length=200)
    content = forms.CharField(label=gettext_lazy("What is done"), required=False, max_length=4_000)
    params = forms.CharField(
        label=gettext_lazy("Parameters (JSON)"), required=False, max_length=32_768,
        widget=forms.Textarea({"rows": 2, "class": "code", "spellcheck": "false"}),
    )  # fmt: skip
    condition = forms.CharField(label=gettext_lazy("Leads on when"), required=False, max_length=2_000)

    def clean_params(self) -> Any:
        """A JSON object; empty for none."""
        text = self.cleaned_data["params"].strip()
        value = read_json(text) if text else {}
        if not isinstance(value, dict):
            raise forms.ValidationError(_('Parameters are a JSON object, such as {"city": "Paris"}.'))
        return value


@dataclass
class Editor:
    """One state of the editor. ``mode`` is ``form`` or ``json``; ``faults`` are sentences once checked."""

    mode: str
    basics: BasicsForm
    steps: list[StepForm]
    json: PathDocumentForm
    faults: list[str] = field(default_factory=list)
    document: PathDoc | None = None

    def check(self) -> "Editor":
        """Read everything: ``document``, or ``faults``."""
        try:
            self.document = self._read()
        except forms.ValidationError as error:
            self.faults = list(error.messages)
        return self

    def _read(self) -> PathDoc:
        if self.mode == "json":
            if self.json.is_valid():
                return self.json.cleaned_data["document"]  # type: ignore[no-any-return]
            raise forms.ValidationError(
                [message for errors in self.json.errors.values() for message in errors]
            )
        faults = [] if self.basics.is_valid() else _messages(self.basics, "")
        for number, step in enumerate(self.steps, start=1):
            faults += [] if step.is_valid() else _messages(step, _("Step %(number)s: ") % {"number": number})
        if faults:
            raise forms.ValidationError(faults)
        return read_document(json.dumps(self._rows()), _row_fault)

    def _rows(self) -> dict[str, Any]:
        """The rows as a chain of nodes, each named after what it is unless it has a name already."""
        nodes, edges, taken = [], [], set()
        for step in self.steps:
            given = step.cleaned_data
            base = given["name"] or given["tool"].strip() or given["kind"] or "action"
            name = next(n for n in (base, *(f"{base}_{i}" for i in range(2, MAX_ROWS + 3))) if n not in taken)
            taken.add(name)
            node = {"name": name, "kind": given["kind"] or "action", "content": given["content"]}
            nodes.append(node | {"tool": given["tool"].strip(), "params": given["params"]})
        for place, (one, other) in enumerate(pairwise(nodes)):
            condition = self.steps[place].cleaned_data["condition"]
            edges.append({"from": one["name"], "to": other["name"], "condition": condition})
        return self.basics.document() | {"nodes": nodes, "edges": edges}


def _messages(form: forms.Form, before: str) -> list[str]:
    """Every error of a form with the label of its field."""
    return [
        f"{before}{form.fields[name].label}: {message}"
        for name, found in form.errors.items()
        for message in found
    ]


def _row_fault(fault: FieldError) -> str:
    """A fault of the document where its reader sees it: at a step and field of the rows."""
    found = _PLACE.fullmatch(fault.field)
    if found is None:
        field = BasicsForm.base_fields.get(fault.field.partition(".")[0])
        return f"{field.label}: {fault.detail}" if field else fault.detail
    shown = StepForm.base_fields.get("condition" if found["of"] == "edges" else found["field"] or "")
    label = f"{shown.label}: " if shown and shown.label else ""
    return _("Step %(number)s: ") % {"number": int(found["place"]) + 1} + f"{label}{fault.detail}"


def editor_of(doc: PathDoc | None) -> Editor:
    """The editor as it opens: empty rows for a new path, JSON for what rows cannot show."""
    if doc is None:
        return _opened("form", NEW, [{}, {}], "")
    text = json.dumps(write_path_document(doc), indent=2, ensure_ascii=False, default=str)
    return _opened("json", _basics(doc), _step_rows(doc), text)


def _opened(mode: str, basics: dict[str, Any], rows: list[dict[str, Any]], text: str) -> Editor:
    steps = [StepForm(initial=row, prefix=f"step-{place}") for place, row in enumerate(rows)]
    return Editor(mode, BasicsForm(initial=basics), steps, PathDocumentForm(initial={"document": text}))


def editor_from(posted: QueryDict) -> Editor:
    """The editor as it was sent, with the change of its rows that the pressed button (``do``) asks for."""
    rows = [
        {name: posted.get(f"step-{place}-{name}", "") for name in StepForm.base_fields}
        for place in range(min(read_number(posted.get("count", "")) or 0, MAX_ROWS))
    ]
    rows = _changed(rows, posted.get("do", ""))
    data = {f"step-{place}-{name}": text for place, row in enumerate(rows) for name, text in row.items()}
    steps = [StepForm(data, prefix=f"step-{place}") for place in range(len(rows))]
    mode = "json" if posted.get("mode") == "json" else "form"
    return Editor(mode, BasicsForm(posted), steps, PathDocumentForm(posted))


def _changed(rows: list[dict[str, Any]], do: str) -> list[dict[str, Any]]:
    """``add``, ``remove:2``, ``up:2`` and ``down:2``, by the place from 0; anything else changes nothing."""
    step, _colon, text = do.partition(":")
    place = int(text) if text.isascii() and text.isdigit() and len(text) < 4 else -1
    if step == "add" and len(rows) < MAX_ROWS:
        return [*rows, dict.fromkeys(StepForm.base_fields, "") | {"kind": "action"}]
    if not 0 <= place < len(rows):
        return rows
    row, rest = rows[place], rows[:place] + rows[place + 1 :]
    if step == "remove":
        return rest
    if step in ("up", "down"):
        to = max(0, place - 1) if step == "up" else place + 1
        return [*rest[:to], row, *rest[to:]]
    return rows


def switch_mode(editor: Editor, to: str) -> Editor:
    """The same path in the other mode. What cannot be read, or is no row of steps, stays as it is."""
    if _is_blank(editor):
        return _opened(to, NEW, [{}, {}], STARTER)
    checked = editor.check()
    if checked.document is None:
        return checked
    if to == "form" and not is_row(checked.document):
        checked.faults = [_("This path branches or has parts: only the JSON can show it.")]
        checked.document = None
        return checked
    text = json.dumps(write_path_document(checked.document), indent=2, ensure_ascii=False, default=str)
    return _opened(to, _basics(checked.document), _step_rows(checked.document), text)


def _is_blank(editor: Editor) -> bool:
    """Whether nothing was written yet: there is nothing to carry over, so nothing to complain about."""
    if editor.mode == "json":
        return editor.json.data.get("document", "").replace("\r\n", "\n").strip() in ("", STARTER)
    typed = [editor.basics.data.get("goal", "")]
    typed += [step.data.get(step.add_prefix(name), "") for step in editor.steps for name in TYPED]
    return not any(text.strip() for text in typed)


def is_row(doc: PathDoc) -> bool:
    """Whether rows show all of it: steps one after another, without parts, details and observations."""
    along = [(one.name, other.name) for one, other in pairwise(doc.nodes)]
    is_chain = [(edge.source, edge.target) for edge in doc.edges] == along
    is_plain = not any(node.details or node.observation is not None or node.occurred_at for node in doc.nodes)
    is_bare = not (doc.parts or doc.env or any(edge.label for edge in doc.edges) or doc.level != "task")
    return is_chain and is_plain and is_bare and len(doc.nodes) <= MAX_ROWS


def _basics(doc: PathDoc) -> dict[str, Any]:
    result = doc.result if doc.result in PATH_RESULTS else "pending"
    return {
        "goal": doc.goal, "tags": ", ".join(doc.tags), "result": result, "reward": doc.reward,
        "agent": doc.agent,
    }  # fmt: skip


def _step_rows(doc: PathDoc) -> list[dict[str, Any]]:
    """Every node as a row, with the condition of the edge that leaves it first."""
    leaving: dict[str, EdgeDoc] = {}
    for edge in doc.edges:
        leaving.setdefault(edge.source, edge)
    return [_row(node, leaving.get(node.name)) for node in doc.nodes[:MAX_ROWS]]


def _row(node: NodeDoc, edge: EdgeDoc | None) -> dict[str, Any]:
    params = json.dumps(node.params, ensure_ascii=False, default=str) if node.params else ""
    condition = edge.condition if edge else ""
    return {
        "name": node.name, "kind": node.kind, "tool": node.tool, "content": node.content, "params": params,
        "condition": condition,
    }  # fmt: skip
