"""A part of a rule document as a form, and the fields that most parts share."""

from collections.abc import Mapping
from typing import Any, Self

from django import forms
from django.utils.translation import gettext_lazy as _

from corrections.web.forms.values import CodeArea, Given, text_of

FIELD = _("Field")


class PartForm(forms.Form):
    """A part of a rule document. Fields carry the document's own names; all are optional."""

    use_required_attribute = False

    def to_part(self) -> dict[str, Any]:
        """The part; what was left empty is left out. Call only after the form was cleaned."""
        found = {name: value for name, value in self.cleaned_data.items() if value not in (None, "", [])}
        return {name: value.value if isinstance(value, Given) else value for name, value in found.items()}

    @classmethod
    def of_part(cls, part: Mapping[str, Any], *, prefix: str) -> Self:
        """The form filled from a part of a document."""
        texts = {
            f"{prefix}-{name}": text_of(field, part[name])
            for name, field in cls.base_fields.items()
            if name in part
        }
        return cls(texts, prefix=prefix)


def path_field(label: Any = FIELD, **options: Any) -> forms.CharField:
    """A field path such as ``address.city``."""
    widget = forms.TextInput(attrs={"class": "code", "spellcheck": "false", "placeholder": "address.city"})
    return forms.CharField(label=label, required=False, max_length=300, widget=widget, **options)


def text_field(label: Any, limit: int, *, rows: int = 2, **options: Any) -> forms.CharField:
    """Text of several lines."""
    return forms.CharField(
        label=label, required=False, max_length=limit, widget=forms.Textarea(attrs={"rows": rows}), **options
    )


def code_field(label: Any, limit: int, *, rows: int = 2, **options: Any) -> forms.CharField:
    """An expression."""
    return forms.CharField(label=label, required=False, max_length=limit, widget=CodeArea(rows), **options)
