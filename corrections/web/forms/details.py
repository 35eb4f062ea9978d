"""One small form for each action type."""

from typing import Any, ClassVar

from django import forms
from django.utils.translation import gettext_lazy as _

from corrections.web.forms.operations import OPERATIONS, OUTPUT_OPERATIONS
from corrections.web.forms.parts import PartForm, code_field, text_field
from corrections.web.forms.values import CodeArea, JsonObjectField
from hgmem.rules.limits import MAX_CONDITION_CHARS, MAX_MESSAGE_CHARS, MAX_NAME_CHARS, MAX_TEMPLATE_CHARS


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
