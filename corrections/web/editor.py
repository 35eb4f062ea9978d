"""What stands in the rule editor: a document as forms, or as one JSON text, and the ways between them."""

import json
from collections.abc import Mapping
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _

from corrections.domain.documents import body_of
from corrections.domain.documents import read_document as check_document
from corrections.web.forms.basics import DocumentForm, RuleForm, ScopeForm
from corrections.web.forms.details import ACTIONS, DEFAULT_DETAIL, ActionTypeForm, NoDetailForm
from corrections.web.forms.parts import PartForm
from corrections.web.forms.values import read_document
from corrections.web.marks import in_words
from hgmem.rules import RuleError
from hgmem.rules.limits import MAX_OPERATIONS

DEFAULT_ACTION = "PRE_CALL_VALIDATION"
FORM, JSON = "form", "json"


class OperationRow:
    """One operation of a transform: which one, and the form that belongs to it."""

    def __init__(self, number: int, op: str, form: PartForm, choices: dict[str, Any]) -> None:
        self.number = number
        self.op = op
        self.form = form
        self.choices = [(name, title) for name, (title, _form) in choices.items()]

    @property
    def select_name(self) -> str:
        """The name of the control that chooses the operation."""
        return f"op-{self.number}-op"


class Editor:
    """The forms of the editor, always filled: with a document, or with what somebody typed.

    ``texts`` are the values by control name. Nothing typed is lost on the way: what the engine refuses is
    said beside its field, and the text stays.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.mode = JSON if texts.get("mode") == JSON else FORM
        self.json = DocumentForm(texts)
        self.rule = RuleForm(texts, prefix="rule")
        self.scope = ScopeForm(texts, prefix="scope")
        self.action = ActionTypeForm(texts)
        chosen = texts.get("action-action_type", "")
        self.action_type = chosen if chosen in ACTIONS else DEFAULT_ACTION
        kind = ACTIONS[self.action_type]
        self.detail = kind.form(texts, prefix=f"detail-{self.action_type}")
        self.operations = [_operation_row(number, texts, kind.operations) for number in _numbers(texts, kind)]
        for form in self._forms():
            form.full_clean()
        self.carried = self._carried(texts)
        self._read = self._document()

    def _carried(self, texts: Mapping[str, str]) -> list[tuple[str, str]]:
        """What was typed for other actions: it goes along, hidden, and comes back with them."""
        shown = {form.add_prefix(name) for form in self._forms() for name in form.fields}
        shown |= {row.select_name for row in self.operations} | {f"seen-{self.action_type}"}
        own = [name for name in texts if name.startswith(("detail-", "op-", "seen-"))]
        return [(name, texts[name]) for name in own if name not in shown]

    @classmethod
    def of_document(cls, document: Mapping[str, Any]) -> "Editor":
        """The editor filled from a document in the engine's own form."""
        return cls(texts_of(document))

    @classmethod
    def of_text(cls, text: str) -> "Editor":
        """The editor in its JSON mode."""
        return cls({"mode": JSON, "document": text})

    @property
    def has_operations(self) -> bool:
        """Whether the action is a list of operations."""
        return bool(ACTIONS[self.action_type].operations)

    @property
    def has_detail(self) -> bool:
        """Whether the action has fields of its own."""
        return not isinstance(self.detail, NoDetailForm)

    def document(self) -> dict[str, Any]:
        """The rule document as it stands.

        Raises :class:`RuleError` when a text is no JSON, number or time; the forms say it already.
        """
        if isinstance(self._read, RuleError):
            raise self._read
        return dict(self._read)

    def _document(self) -> dict[str, Any] | RuleError:
        """Read once, before anything is said: a form forgets the values it finds fault with."""
        if any(form.errors for form in self._forms()):
            return RuleError(_("Some fields cannot be read; see beside them."), field="form")
        if self.mode == JSON:
            try:
                return read_document(self.json.cleaned_data["document"])
            except RuleError as error:
                return error
        return self.rule.to_part() | {
            "applies_to": self.scope.to_part(),
            "action_type": self.action_type,
            "action_detail": self._action_detail(),
        }

    def _action_detail(self) -> dict[str, Any]:
        if not self.has_operations:
            return self.detail.to_part()
        return {"operations": [{"op": row.op, **row.form.to_part()} for row in self.operations]}

    def say(self, error: RuleError) -> None:
        """Put every fault beside the field it is about."""
        for fault in error.errors:
            form, field = self._place(fault["field"])
            path = fault["field"] if field is None and fault["field"] not in ("", "form") else ""
            detail = in_words(fault["detail"])
            form.add_error(field, f"{path}: {detail}" if path else detail)

    def _place(self, path: str) -> tuple[forms.Form, str | None]:
        """The form and field for a path of the document; None for the form as a whole."""
        if self.mode == JSON:
            return self.json, "document" if path == "document" else None
        head, _dot, rest = path.partition(".")
        if head == "applies_to":
            return self.scope, _known(self.scope, rest)
        if head == "action_type":
            return self.action, "action_type"
        if head == "action_detail":
            return self._place_in_action(rest)
        return self.rule, _known(self.rule, head)

    def _place_in_action(self, path: str) -> tuple[forms.Form, str | None]:
        head, _dot, rest = path.partition(".")
        if head != "operations" or not self.operations:
            return self.detail, _known(self.detail, head)
        number, _dot, field = rest.partition(".")
        if not number.isdigit() or int(number) >= len(self.operations):
            return self.detail, None
        form = self.operations[int(number)].form
        return form, _known(form, field)

    def _forms(self) -> list[forms.Form]:
        if self.mode == JSON:
            return [self.json]
        return [self.rule, self.scope, self.action, self.detail, *(row.form for row in self.operations)]


def editor_of_post(post: QueryDict, step: str = "") -> Editor:
    """What was typed, after a step that only changes the form: its action, its operations, its mode.

    Raises :class:`RuleError` when a document cannot be shown in the other mode.
    """
    texts = {name: post.get(name, "") for name in post}
    if step == "add-operation":
        number = _count(texts)
        texts[f"op-{number}-op"] = ""
        texts["operations"] = str(number + 1)
    elif step.startswith("remove-operation-"):
        texts = _without_operation(texts, step.removeprefix("remove-operation-"))
    elif step == "as-json":
        return Editor.of_text(pretty_json(Editor(texts).document()))
    elif step == "as-form":
        return Editor.of_document(
            body_of(check_document(read_document(texts.get("document", "")), author="human"))
        )
    return Editor(_with_defaults(texts))


def texts_of(document: Mapping[str, Any]) -> dict[str, str]:
    """A document as the texts of the controls. Fields of unexpected shape are left empty."""
    action_type = document.get("action_type", DEFAULT_ACTION)
    detail = document.get("action_detail") if isinstance(document.get("action_detail"), dict) else {}
    scope = document.get("applies_to") if isinstance(document.get("applies_to"), dict) else {}
    kind = ACTIONS.get(action_type, ACTIONS[DEFAULT_ACTION])
    filled = [
        RuleForm.of_part(document, prefix="rule"),
        ScopeForm.of_part(scope, prefix="scope"),
        ActionTypeForm.of_part({"action_type": action_type}, prefix="action"),
        kind.form.of_part(detail or {}, prefix=f"detail-{action_type}"),
    ]
    operations = [part for part in (detail or {}).get("operations", ()) if isinstance(part, dict)]
    texts = {"mode": FORM, "operations": str(len(operations)), f"seen-{action_type}": "1"}
    for number, part in enumerate(operations):
        op = part.get("op", "")
        texts[f"op-{number}-op"] = op
        if op in kind.operations:
            filled.append(kind.operations[op][1].of_part(part, prefix=f"op-{number}"))
    for form in filled:
        texts |= form.data
    return texts


def _operation_row(number: int, texts: Mapping[str, str], choices: dict[str, Any]) -> OperationRow:
    op = texts.get(f"op-{number}-op", "")
    op = op if op in choices else next(iter(choices))
    return OperationRow(number, op, choices[op][1](texts, prefix=f"op-{number}"), choices)


def _count(texts: Mapping[str, str]) -> int:
    text = texts.get("operations", "")
    return min(int(text), MAX_OPERATIONS) if text.isascii() and text.isdigit() and len(text) < 4 else 0


def _numbers(texts: Mapping[str, str], kind: Any) -> range:
    """At least one operation where the action consists of them."""
    return range(max(_count(texts), 1) if kind.operations else 0)


def _without_operation(texts: dict[str, str], gone: str) -> dict[str, str]:
    kept = {name: text for name, text in texts.items() if not name.startswith("op-")}
    numbers = [number for number in range(_count(texts)) if str(number) != gone]
    for new, old in enumerate(numbers):
        start = f"op-{old}-"
        kept |= {f"op-{new}-{name[len(start) :]}": texts[name] for name in texts if name.startswith(start)}
    return kept | {"operations": str(len(numbers))}


def _with_defaults(texts: dict[str, str]) -> dict[str, str]:
    """An action that is chosen for the first time starts with its defaults."""
    chosen = texts.get("action-action_type", "")
    if chosen not in DEFAULT_DETAIL or texts.get(f"seen-{chosen}") == "1":
        return texts
    form = ACTIONS[chosen].form.of_part(DEFAULT_DETAIL[chosen], prefix=f"detail-{chosen}")
    return texts | {name: value for name, value in form.data.items() if name not in texts}


def _known(form: forms.Form, path: str) -> str | None:
    name = path.partition(".")[0]
    return name if name in form.fields else None


def pretty_json(document: Mapping[str, Any]) -> str:
    """A document as people read it."""
    return json.dumps(document, indent=2, ensure_ascii=False)
