"""One small form for each operation on an input or an output."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from corrections.web.forms.parts import FIELD, PartForm, code_field, path_field, text_field
from corrections.web.forms.values import Given, JsonField, JsonObjectField, NumberField
from hgmem.rules.limits import MAX_CONDITION_CHARS, MAX_MESSAGE_CHARS


class SetDefaultForm(PartForm):
    """``set_default``"""

    field = path_field()
    default_value = JsonField(label=_("Value when it is missing, null or blank"))


class SetForm(PartForm):
    """``set``"""

    field = path_field()
    value = JsonField(label=_("Value"))


class RenameForm(PartForm):
    """``rename``"""

    field = path_field()
    to = path_field(_("New name"))


class RemoveForm(PartForm):
    """``remove``"""

    field = path_field()


class CastForm(PartForm):
    """``cast``"""

    field = path_field()
    to = forms.ChoiceField(
        label=_("To"),
        required=False,
        choices=[(kind, kind) for kind in ("string", "integer", "number", "boolean", "list", "json")],
    )


class WholeField(forms.CharField):
    """A field path where empty means the whole value, and is said so in the document."""

    def clean(self, value: Any) -> Any:
        """The path, wrapped."""
        return Given(super().clean(value))


class OutputCastForm(CastForm):
    """``cast`` of an output, or of a part of it"""

    field = WholeField(
        label=FIELD, required=False, max_length=300, help_text=_("Empty: the whole output."),
        widget=forms.TextInput(attrs={"class": "code", "spellcheck": "false"}),
    )  # fmt: skip


class MapValuesForm(PartForm):
    """``map_values``"""

    field = path_field()
    mapping = JsonObjectField(label=_("From value to value"), help_text=_('Such as {"NYC": "New York"}.'))


class RegexReplaceForm(PartForm):
    """``regex_replace``"""

    field = path_field()
    pattern = forms.CharField(
        label=_("Pattern"), required=False, max_length=500, strip=False,
        widget=forms.TextInput(attrs={"class": "code", "spellcheck": "false"}),
    )  # fmt: skip
    replacement = forms.CharField(
        label=_("Replacement"), required=False, max_length=500, strip=False,
        widget=forms.TextInput(attrs={"class": "code", "spellcheck": "false"}),
        help_text=_("\\1 stands for the first group."),
    )  # fmt: skip


class ReplaceWordsForm(PartForm):
    """``replace_words``"""

    field = path_field()
    words = JsonObjectField(
        label=_("From word to word"), help_text=_('Whole words, in any case, such as {"cities": "city"}.')
    )


class ClampForm(PartForm):
    """``clamp``"""

    field = path_field()
    min = NumberField(label=_("At least"))
    max = NumberField(label=_("At most"))


class ExpressionForm(PartForm):
    """``expression``"""

    field = path_field()
    expression = code_field(
        _("CEL expression"), MAX_CONDITION_CHARS, help_text=_("Such as input.city.trim()")
    )


class ExtractForm(PartForm):
    """``extract``"""

    path = forms.CharField(
        label=_("JSONPath"), required=False, max_length=300,
        widget=forms.TextInput(attrs={"class": "code", "spellcheck": "false", "placeholder": "$.data.items"}),
    )  # fmt: skip
    to = path_field(_("Put it into"), help_text=_("Empty: it becomes the output."))
    many = forms.BooleanField(label=_("All matches, as a list"), required=False)


class TreatAsErrorForm(PartForm):
    """``treat_as_error``"""

    message = text_field(_("Message"), MAX_MESSAGE_CHARS)
    type = forms.CharField(label=_("Error type"), required=False, max_length=200)


OPERATIONS: dict[str, tuple[Any, type[PartForm]]] = {
    "set_default": (_("Set when empty"), SetDefaultForm),
    "set": (_("Set"), SetForm),
    "rename": (_("Rename"), RenameForm),
    "remove": (_("Remove"), RemoveForm),
    "cast": (_("Change the type"), CastForm),
    "map_values": (_("Map values"), MapValuesForm),
    "regex_replace": (_("Replace by pattern"), RegexReplaceForm),
    "replace_words": (_("Replace words"), ReplaceWordsForm),
    "clamp": (_("Keep in bounds"), ClampForm),
    "expression": (_("Compute"), ExpressionForm),
}
OUTPUT_OPERATIONS: dict[str, tuple[Any, type[PartForm]]] = {
    "extract": (_("Take a part"), ExtractForm),
    **{name: OPERATIONS[name] for name in ("set_default", "set", "rename", "remove")},
    "cast": (OPERATIONS["cast"][0], OutputCastForm),
    "treat_as_error": (_("Treat as an error"), TreatAsErrorForm),
}
