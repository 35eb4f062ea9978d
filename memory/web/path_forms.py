"""Forms of the path pages."""

import json
from collections.abc import Callable
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.domain.intake import FieldError
from memory.domain.paths.checking import InvalidPathError, read_path_document
from memory.domain.paths.document import PathDoc

MAX_DOCUMENT = 1_000_000
SHOWN_FAULTS = 20


class ReasonForm(forms.Form):
    """Why something is done; the audit trail keeps it."""

    reason = forms.CharField(label=gettext_lazy("Why"), max_length=2_000)


class TokensForm(forms.Form):
    """How long the prompt may become."""

    tokens = forms.IntegerField(
        label=gettext_lazy("At most (tokens)"), required=False, min_value=50, max_value=20_000
    )


def read_json(text: str) -> Any:
    """The JSON of a form field; raises a ValidationError that says where it breaks off."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise forms.ValidationError(
            _("This is no JSON: line %(line)s, column %(column)s: %(what)s")
            % {"line": error.lineno, "column": error.colno, "what": error.msg}
        ) from error
    except (RecursionError, ValueError) as error:
        raise forms.ValidationError(_("This JSON cannot be read: %(what)s") % {"what": error}) from error


def named_fault(fault: FieldError) -> str:
    """A fault after the name of its field in the JSON."""
    return f"{fault.field}: {fault.detail}" if fault.field else fault.detail


def read_document(text: str, say: Callable[[FieldError], str] = named_fault) -> PathDoc:
    """A path document from a form field; raises a ValidationError with what ``say`` makes of every fault."""
    try:
        return read_path_document(read_json(text))
    except InvalidPathError as error:
        raise forms.ValidationError([say(fault) for fault in error.errors[:SHOWN_FAULTS]]) from error


class PathDocumentForm(forms.Form):
    """A path as JSON. ``document`` is the checked PathDoc once it is valid."""

    document = forms.CharField(
        label=gettext_lazy("The path as JSON"),
        max_length=MAX_DOCUMENT,
        widget=forms.Textarea({"rows": 24, "class": "code", "spellcheck": "false"}),
    )

    def clean_document(self) -> PathDoc:
        """The checked document."""
        return read_document(self.cleaned_data["document"])


class PathImportForm(forms.Form):
    """Paths as a JSON list, pasted or as a file: path documents, each with an optional ``key``."""

    file = forms.FileField(label=gettext_lazy("File"), required=False)
    source = forms.CharField(
        label=gettext_lazy("or the JSON itself"), required=False, max_length=8 * MAX_DOCUMENT,
        widget=forms.Textarea({"rows": 12, "class": "code", "spellcheck": "false"}),
        help_text=gettext_lazy("A list of paths, or one path, or what the API exports."),
    )  # fmt: skip
    documents: list[Any]
    text = ""

    def clean(self) -> dict[str, Any]:
        """Read the file, or the text when there is none."""
        cleaned = super().clean() or self.cleaned_data
        file = cleaned.get("file")
        if file is not None and file.size > 8 * MAX_DOCUMENT:
            raise forms.ValidationError(_("The file is too large: at most 8 MB."))
        try:
            self.text = file.read().decode("utf-8-sig") if file is not None else cleaned.get("source", "")
        except UnicodeDecodeError as error:
            raise forms.ValidationError(_("The file is no UTF-8 text.")) from error
        if not self.text.strip():
            raise forms.ValidationError(_("Choose a file or paste the JSON."))
        value = read_json(self.text)
        if isinstance(value, dict):
            value = value["paths"] if isinstance(value.get("paths"), list) else [value]
        if not isinstance(value, list):
            raise forms.ValidationError(_("Paths are a JSON list of path documents."))
        self.documents = value
        return cleaned
