"""One small form for each operation and each action type, and the base they share."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from django import forms
from django.utils.translation import gettext_lazy as _

from corrections.web.forms.values import CodeArea, Given, JsonField, JsonObjectField, NumberField, text_of
from hgmem.rules.limits import MAX_CONDITION_CHARS, MAX_MESSAGE_CHARS, MAX_NAME_CHARS, MAX_TEMPLATE_CHARS

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
    "clamp": (_("Keep in bounds"), ClampForm),
    "expression": (_("Compute"), ExpressionForm),
}
OUTPUT_OPERATIONS: dict[str, tuple[Any, type[PartForm]]] = {
    "extract": (_("Take a part"), ExtractForm),
    **{name: OPERATIONS[name] for name in ("set_default", "set", "rename", "remove")},
    "cast": (OPERATIONS["cast"][0], OutputCastForm),
    "treat_as_error": (_("Treat as an error"), TreatAsErrorForm),
}


class NoDetailForm(PartForm):
    """Actions that are a list of operations have nothing else to say."""


class ToolSwitchForm(PartForm):
    """``TOOL_SWITCH``"""

    tool = forms.CharField(label=_("Tool to call instead"), required=False, max_length=MAX_NAME_CHARS)
    parameters = JsonObjectField(
        label=_("Parameters"), help_text=_('New name to old field, such as {"q": "query"}.')
    )
    constants = JsonObjectField(label=_("Fixed values"), help_text=_('Such as {"limit": 10}.'))
    keep_unmapped = forms.BooleanField(label=_("Pass the other fields on unchanged"), required=False)


class ValidationForm(PartForm):
    """``PRE_CALL_VALIDATION``"""

    on_failure = forms.ChoiceField(
        label=_("When the call does not pass"),
        required=False,
        choices=[("block", _("refuse the call")), ("ask", _("ask before the call"))],
    )
    message = text_field(
        _("Message for the model"), MAX_MESSAGE_CHARS, rows=3,
        help_text=_("Say what to do instead. {{ input.city }} stands for the value."),
    )  # fmt: skip
    check = code_field(
        _("Check (CEL)"), MAX_CONDITION_CHARS,
        help_text=_("What must hold. Empty, and without a schema: the condition above decides."),
    )  # fmt: skip
    schema = JsonObjectField(label=_("JSON Schema of the input"), widget=CodeArea(4))


class PromptForm(PartForm):
    """``PROMPT_ENHANCEMENT``"""

    text = text_field(
        _("Text for the model"), MAX_TEMPLATE_CHARS, rows=5,
        help_text=_("{{ input.city }} stands for the value; it is data, never executed."),
    )  # fmt: skip


class StepForm(PartForm):
    """``INSERT_STEP``"""

    tool = forms.CharField(label=_("Tool to call first"), required=False, max_length=MAX_NAME_CHARS)
    arguments = JsonObjectField(
        label=_("Arguments"),
        help_text=_('Such as {"id": "{{ input.user_id }}"}; placeholders keep their type.'),
    )
    reason = text_field(_("Reason"), MAX_MESSAGE_CHARS)


class ActionKind:
    """An action type as the editor offers it."""

    def __init__(
        self, title: Any, form: type[PartForm], operations: dict[str, tuple[Any, type[PartForm]]]
    ) -> None:
        self.title, self.form, self.operations = title, form, operations


ACTIONS: dict[str, ActionKind] = {
    "PARAMETER_TRANSFORM": ActionKind(_("Change the parameters"), NoDetailForm, OPERATIONS),
    "TOOL_SWITCH": ActionKind(_("Call another tool"), ToolSwitchForm, {}),
    "PRE_CALL_VALIDATION": ActionKind(_("Refuse the call, or ask"), ValidationForm, {}),
    "POST_CALL_PARSING_ADJUST": ActionKind(_("Read the output differently"), NoDetailForm, OUTPUT_OPERATIONS),
    "PROMPT_ENHANCEMENT": ActionKind(_("Tell the model something"), PromptForm, {}),
    "INSERT_STEP": ActionKind(_("Make another call first"), StepForm, {}),
}
"""Every action type; a test holds this against the engine's own list."""

DEFAULT_DETAIL: dict[str, dict[str, Any]] = {"TOOL_SWITCH": {"keep_unmapped": True}}
"""What a fresh form of a type starts with."""


class ActionTypeForm(PartForm):
    """Which action."""

    prefix: ClassVar[str] = "action"  # type: ignore[misc]
    action_type = forms.ChoiceField(
        label=_("Action"), required=False, choices=[(name, kind.title) for name, kind in ACTIONS.items()]
    )
