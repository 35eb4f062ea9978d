"""Form fields that hold parts of a rule document, and the way from a document's value to their text."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from hgmem.rules import RuleError

MAX_JSON_CHARS = 50_000


@dataclass(frozen=True)
class Given:
    """A JSON value that stands in the form; tells ``null`` from nothing."""

    value: Any


class CodeArea(forms.Textarea):
    """Monospace text without the browser's corrections."""

    def __init__(self, rows: int = 3, **attrs: Any) -> None:
        plain = {
            "class": "code",
            "rows": rows,
            "spellcheck": "false",
            "autocapitalize": "off",
            "autocomplete": "off",
        }
        super().__init__(attrs={**plain, **attrs})


class JsonField(forms.CharField):
    """A JSON value; what is no JSON is taken as text. Cleans to :class:`Given`, or None when empty."""

    def __init__(self, **options: Any) -> None:
        options.setdefault(
            "help_text", gettext_lazy('JSON, or plain text. Write "" for empty text, "5" for the text 5.')
        )
        super().__init__(required=False, max_length=MAX_JSON_CHARS, **options)

    def clean(self, value: Any) -> Any:
        """The value, wrapped."""
        text = super().clean(value)
        if not text:
            return None
        try:
            return Given(read_json(text))
        except ValueError:
            return Given(text)


class JsonObjectField(forms.CharField):
    """A JSON object; empty means it is not given."""

    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, max_length=MAX_JSON_CHARS, **{"widget": CodeArea(), **options})

    def clean(self, value: Any) -> Any:
        """The object, wrapped."""
        text = super().clean(value)
        if not text:
            return None
        try:
            found = read_json(text)
        except ValueError as error:
            raise forms.ValidationError(_("This is no JSON: %(why)s.") % {"why": error}) from error
        if not isinstance(found, dict):
            raise forms.ValidationError(_('This must be a JSON object, such as {"a": 1}.'))
        return Given(found)


class NumberField(forms.CharField):
    """A whole or a decimal number, kept as it was written."""

    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, max_length=40, **options)

    def clean(self, value: Any) -> Any:
        """The number, wrapped."""
        text = super().clean(value)
        if not text:
            return None
        try:
            found = read_json(text)
        except ValueError:
            found = None
        if isinstance(found, bool) or not isinstance(found, int | float):
            raise forms.ValidationError(_("This is no number."))
        return Given(found)


class ListField(forms.CharField):
    """Several short texts, separated by commas (or a JSON list, where one holds a comma)."""

    def clean(self, value: Any) -> list[Any]:
        """The texts."""
        text = super().clean(value)
        if text.startswith("["):
            try:
                return list(read_json(text))
            except (ValueError, TypeError) as error:
                raise forms.ValidationError(_("This is no JSON list: %(why)s.") % {"why": error}) from error
        return [part.strip() for part in text.split(",") if part.strip()]


class MomentField(forms.DateTimeField):
    """A moment in the server's time zone, to the second."""

    def __init__(self, **options: Any) -> None:
        widget = forms.DateTimeInput(attrs={"type": "datetime-local", "step": 1})
        super().__init__(required=False, widget=widget, **options)


def read_json(text: str) -> Any:
    """Strict JSON: no NaN, no absurd nesting. Raises ValueError with a sentence."""
    try:
        return json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError(_("it is nested too deep")) from None


def read_document(text: str) -> dict[str, Any]:
    """A pasted rule document. Raises :class:`RuleError` for the field ``document``."""
    try:
        found = read_json(text)
    except ValueError as error:
        raise RuleError(_("This is no JSON: %(why)s.") % {"why": error}, field="document") from error
    if not isinstance(found, dict):
        raise RuleError(_("A rule is a JSON object."), field="document")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(_("%(name)s is not JSON") % {"name": name})


def text_of(field: forms.Field, value: Any) -> str:
    """A document's value as the text of a form field: what the field cleans back to the same value."""
    if isinstance(field, JsonField):
        return _json_text(value)
    if isinstance(field, ListField):
        return _list_text(value)
    if isinstance(field, MomentField):
        return _moment_text(value)
    if isinstance(field, forms.BooleanField):
        return "on" if value else ""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)


def _json_text(value: Any) -> str:
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    try:
        read_json(value)
    except ValueError:
        return value if value.strip() == value and value else json.dumps(value, ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False)


def _list_text(value: Any) -> str:
    texts = value if isinstance(value, list) else []
    plain = all(isinstance(text, str) and "," not in text and text.strip() == text and text for text in texts)
    joined = ", ".join(map(str, texts))
    return joined if plain and not joined.startswith("[") else json.dumps(texts, ensure_ascii=False)


def _moment_text(value: Any) -> str:
    moment = (
        value if isinstance(value, datetime) else parse_datetime(value) if isinstance(value, str) else None
    )
    if moment is None:
        return ""
    local = timezone.localtime(moment) if timezone.is_aware(moment) else moment
    return local.replace(tzinfo=None).isoformat()
