"""Forms of the memory pages."""

from datetime import datetime
from typing import Any

from django import forms
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from memory.actions.validators import ValidatorDraft, compile_draft
from memory.domain.access import Role, Scope
from memory.web.filters import DayInput, day_start


class JudgeForm(forms.Form):
    """A person's word on how a task ended."""

    result = forms.ChoiceField(
        label=_("The task was a"), choices=[("success", _("success")), ("failure", _("failure"))]
    )
    note = forms.CharField(
        label=_("Why"), required=False, max_length=2_000, widget=forms.Textarea({"rows": 3})
    )


class TriageForm(forms.Form):
    """Setting a pattern aside, or taking it up again."""

    step = forms.ChoiceField(choices=[("ignore", "ignore"), ("reopen", "reopen")])
    reason = forms.CharField(label=_("Why"), max_length=500)


class KeyForm(forms.Form):
    """A new API key."""

    name = forms.CharField(label=_("Name"), max_length=120, help_text=_("Which agent or job will use it."))
    scopes = forms.MultipleChoiceField(
        label=_("It may"),
        widget=forms.CheckboxSelectMultiple,
        choices=[
            (Scope.RULES_READ.value, _("ask for corrections (rules:read)")),
            (Scope.EXPERIENCE_WRITE.value, _("record experience (experience:write)")),
            (Scope.EXPERIENCE_READ.value, _("read experience (experience:read)")),
            (Scope.RULES_WRITE.value, _("write rules and validators (rules:write)")),
            (Scope.REVIEW.value, _("change the status of error patterns (review)")),
            (Scope.ADMIN.value, _("everything, also keys and members (admin)")),
        ],
        initial=[Scope.RULES_READ.value, Scope.EXPERIENCE_WRITE.value],
    )
    expires_on = forms.DateField(
        label=_("Last day it works"),
        required=False,
        widget=DayInput,
        help_text=_("Empty: until it is revoked."),
    )

    def clean_scopes(self) -> list[Scope]:
        """As scopes."""
        return [Scope(value) for value in self.cleaned_data["scopes"]]

    def clean_expires_on(self) -> datetime | None:
        """The end of that day; a day that is over is refused."""
        day = self.cleaned_data["expires_on"]
        end = day_start(day, shift=1)
        if day and end is None:
            raise forms.ValidationError(_("Leave it empty for a key without an end."))
        if end is not None and end <= timezone.now():
            raise forms.ValidationError(_("This day is over already."))
        return end


ROLES = [
    (Role.VIEWER.value, _("viewer: look, search")),
    (Role.REVIEWER.value, _("reviewer: judge tasks, draft rules")),
    (Role.MAINTAINER.value, _("maintainer: rules, validators, keys, imports")),
    (Role.OWNER.value, _("owner: members and settings too")),
]


class MemberForm(forms.Form):
    """Somebody to bring in."""

    username = forms.CharField(
        label=_("User name"),
        max_length=150,
        validators=[UnicodeUsernameValidator()],
        help_text=_("A name that has no account yet gets one, with a one-time password."),
    )
    role = forms.ChoiceField(label=_("Role"), choices=ROLES)


class RoleForm(forms.Form):
    """A member's role."""

    role = forms.ChoiceField(choices=ROLES)


class WorkspaceForm(forms.Form):
    """Name and redaction of a workspace; lists are one entry a line."""

    name = forms.CharField(label=_("Name"), max_length=120)
    fields_text = forms.CharField(
        label=_("More secret fields"), required=False, max_length=5_000,
        widget=forms.Textarea({"rows": 4, "class": "code"}),
        help_text=_("One field name a line. Whatever stands in such a field is removed before it is stored."),
    )  # fmt: skip
    patterns_text = forms.CharField(
        label=_("More secret texts"), required=False, max_length=20_000,
        widget=forms.Textarea({"rows": 4, "class": "code"}),
        help_text=_("One pattern a line, name = RE2 expression. Example: booking = BK-[0-9]{6}"),
    )  # fmt: skip
    allow_text = forms.CharField(
        label=_("Never removed"), required=False, max_length=5_000,
        widget=forms.Textarea({"rows": 3, "class": "code"}),
        help_text=_("One exact text a line, or @example.org for every address there."),
    )  # fmt: skip

    def lines(self, name: str) -> list[str]:
        """The entries of a list field."""
        return [line.strip() for line in self.cleaned_data[name].splitlines() if line.strip()]

    def clean_patterns_text(self) -> str:
        """Every line has a name and an expression."""
        for number, line in enumerate(self.cleaned_data["patterns_text"].splitlines(), start=1):
            if line.strip() and not all(part.strip() for part in line.partition("=")[::2]):
                raise forms.ValidationError(
                    _("Line %(number)s: write name = expression."), params={"number": number}
                )
        return str(self.cleaned_data["patterns_text"])

    def patterns(self) -> dict[str, str]:
        """The patterns by name."""
        pairs = (line.partition("=") for line in self.lines("patterns_text"))
        return {name.strip(): source.strip() for name, _, source in pairs}


class ValidatorForm(forms.Form):
    """A validator as a person writes it."""

    name = forms.CharField(label=_("Name"), max_length=120, help_text=_("What must hold, in words."))
    tool = forms.CharField(
        label=_("Tool"),
        max_length=200,
        help_text=_("A name, or a glob such as search_* or * for every tool."),
    )
    kind = forms.ChoiceField(
        label=_("Written as"), choices=[("cel", _("CEL")), ("json_schema", _("JSON Schema"))]
    )
    target = forms.ChoiceField(
        label=_("The schema is for the"),
        required=False,
        choices=[("output", _("output")), ("input", _("input"))],
    )
    source = forms.CharField(
        label=_("Check"), max_length=65_536,
        widget=forms.Textarea({"rows": 8, "class": "code", "spellcheck": "false"}),
        help_text=_("CEL that must be true, such as output.total &gt;= 0; or a JSON Schema."),
    )  # fmt: skip
    message = forms.CharField(
        label=_("What the failure says"),
        required=False,
        max_length=500,
        help_text=_("Empty: the check itself."),
    )

    def clean_target(self) -> str:
        """The output unless said otherwise."""
        return self.cleaned_data["target"] or "output"

    def draft(self) -> ValidatorDraft:
        """For the action."""
        return ValidatorDraft(**self.cleaned_data)

    def clean(self) -> dict[str, Any]:
        """What does not compile is said under the check."""
        cleaned = super().clean() or self.cleaned_data
        if {"kind", "source"} <= cleaned.keys():
            try:
                compile_draft(ValidatorDraft(**{"name": "", "tool": "", **cleaned}))
            except ValueError as problem:
                self.add_error("source", str(problem))
        return cleaned
