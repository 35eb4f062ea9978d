"""Forms of what every rule has: where it applies, when, how long; and of the list and the steps."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from corrections.domain.lifecycle import Status
from corrections.web.forms.details import ACTIONS
from corrections.web.forms.parts import PartForm
from corrections.web.forms.values import CodeArea, ListField, MomentField, NumberField
from hgmem.rules.limits import MAX_CONDITION_CHARS, MAX_DESCRIPTION_CHARS, MAX_NAME_CHARS


class ScopeForm(PartForm):
    """``applies_to``"""

    tool = forms.CharField(
        label=_("Tool"), required=False, max_length=MAX_NAME_CHARS,
        help_text=_("Its name; * and ? stand for any text. Empty: every tool."),
    )  # fmt: skip
    point = forms.ChoiceField(
        label=_("Point"),
        required=False,
        choices=[
            ("", _("as the action wants")), ("before", _("before the call")), ("after", _("after the call")),
            ("planning", _("while planning")),
        ],
    )  # fmt: skip
    tool_versions = forms.CharField(
        label=_("Tool versions"),
        required=False,
        max_length=MAX_NAME_CHARS,
        help_text=_("A range, such as >=1.2 or ==3."),
    )
    tags = ListField(
        label=_("Task tags"),
        required=False,
        max_length=6_000,
        help_text=_("Separated by commas; all must be there."),
    )
    agent = forms.CharField(label=_("Agent"), required=False, max_length=MAX_NAME_CHARS)


class RuleForm(PartForm):
    """What stands at the top of a rule document."""

    condition = forms.CharField(
        label=_("Condition"), required=False, widget=CodeArea(4), max_length=MAX_CONDITION_CHARS,
        help_text=_("CEL. A missing field reads as null. Empty means always."),
    )  # fmt: skip
    name = forms.CharField(
        label=_("Name"), required=False, max_length=MAX_NAME_CHARS,
        help_text=_("How people find it. Empty: taken from the description."),
    )  # fmt: skip
    description = forms.CharField(
        label=_("Description"), required=False, max_length=MAX_DESCRIPTION_CHARS,
        widget=forms.Textarea(attrs={"rows": 3}),
    )  # fmt: skip
    priority = NumberField(label=_("Priority"), help_text=_("Higher goes first. 0 is ordinary."))
    valid_from = MomentField(label=_("Valid from"))
    valid_until = MomentField(label=_("Valid until"))
    error_pattern = forms.CharField(required=False, max_length=MAX_NAME_CHARS, widget=forms.HiddenInput)

    def to_part(self) -> dict[str, Any]:
        """Moments as ISO texts with their time zone."""
        part = super().to_part()
        return part | {name: part[name].isoformat() for name in ("valid_from", "valid_until") if name in part}


class DocumentForm(forms.Form):
    """The whole rule as one JSON document."""

    document = forms.CharField(
        label=_("Rule document"), required=False, max_length=200_000, widget=CodeArea(24),
        help_text=_("JSON. The form with correction_id and applies_to: TOOL_CALL:tool is read as well."),
    )  # fmt: skip


class RuleFilterForm(forms.Form):
    """Narrows the list of rules."""

    q = forms.CharField(label=_("Name, tool or condition contains"), required=False, max_length=200)
    status = forms.ChoiceField(
        label=_("Status"),
        required=False,
        choices=[("", _("any")), *((status.value, status.value) for status in Status)],
    )
    tool = forms.CharField(label=_("Tool"), required=False, max_length=MAX_NAME_CHARS)
    action_type = forms.ChoiceField(
        label=_("Action"),
        required=False,
        choices=[("", _("any")), *((name, kind.title) for name, kind in ACTIONS.items())],
    )

    needs_look = forms.ChoiceField(
        label=_("Needs a look"), required=False, choices=[("", _("any")), ("true", _("only those"))]
    )

    def filters(self) -> dict[str, str]:
        """What was understood; a value that is no choice is dropped."""
        self.is_valid()
        return {name: self.cleaned_data.get(name) or "" for name in self.fields}


class ReasonForm(forms.Form):
    """Why a step is taken."""

    reason = forms.CharField(label=_("Reason"), required=False, max_length=2_000)


class RollbackForm(forms.Form):
    """The way back to an old version."""

    to_version = forms.IntegerField(min_value=1, widget=forms.HiddenInput)
    base_version = forms.IntegerField(min_value=1, widget=forms.HiddenInput)
    note = forms.CharField(label=_("Why"), required=False, max_length=500)
