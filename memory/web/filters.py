"""The filter forms of the lists: every field optional, a bad value is said and ignored."""

from datetime import UTC, datetime, time, timedelta
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from memory.queries.patterns import PatternFilters
from memory.queries.tasks import TaskFilters


def day_start(day: Any, *, shift: int = 0) -> datetime | None:
    """Midnight of a day (moved by ``shift`` days) in the current time zone; None when no calendar has it."""
    if day is None:
        return None
    try:
        midnight = timezone.make_aware(datetime.combine(day + timedelta(days=shift), time.min))
        return midnight.astimezone(UTC)
    except OverflowError:
        return None


class DayInput(forms.DateInput):
    """The browser's own date picker."""

    input_type = "date"


class TaskFilterForm(forms.Form):
    """Narrows the task list."""

    text = forms.CharField(label=_("Goal or id contains"), required=False, max_length=200)
    outcome = forms.ChoiceField(
        label=_("Outcome"),
        required=False,
        choices=[
            ("", _("any")),
            ("success", _("success")),
            ("failure", _("failure")),
            ("unknown", _("unknown")),
        ],
    )
    agent = forms.CharField(
        label=_("Agent"), required=False, max_length=200, widget=forms.TextInput({"list": "known-agents"})
    )
    tool = forms.CharField(label=_("Tool"), required=False, max_length=200)
    tag = forms.CharField(label=_("Tag"), required=False, max_length=100)
    since = forms.DateField(label=_("Since"), required=False, widget=DayInput)
    until = forms.DateField(label=_("Until"), required=False, widget=DayInput)

    def filters(self) -> TaskFilters:
        """What was understood."""
        self.is_valid()
        known = {
            name: self.cleaned_data.get(name) or "" for name in ("text", "outcome", "agent", "tool", "tag")
        }
        return TaskFilters(
            **known,
            since=day_start(self.cleaned_data.get("since")),
            until=day_start(self.cleaned_data.get("until"), shift=1),
        )


class PatternFilterForm(forms.Form):
    """Narrows the list of error patterns."""

    text = forms.CharField(label=_("Message contains"), required=False, max_length=200)
    status = forms.ChoiceField(
        label=_("Status"),
        required=False,
        choices=[("", _("any")), ("open", _("open")), ("covered", _("covered")), ("ignored", _("ignored"))],
    )
    tool = forms.CharField(label=_("Tool"), required=False, max_length=200)
    scope = forms.CharField(label=_("Scope contains"), required=False, max_length=200)
    order = forms.ChoiceField(
        label=_("Order"),
        required=False,
        choices=[("count", _("most frequent")), ("recent", _("most recent"))],
    )

    def filters(self) -> PatternFilters:
        """What was understood."""
        self.is_valid()
        names = ("text", "status", "tool", "scope", "order")
        return PatternFilters(**{name: self.cleaned_data.get(name) or "" for name in names})


class TextFilterForm(forms.Form):
    """One word to look for."""

    text = forms.CharField(label=_("Name contains"), required=False, max_length=200)

    def wanted(self) -> str:
        """What was understood."""
        self.is_valid()
        return self.cleaned_data.get("text") or ""


class AuditFilterForm(forms.Form):
    """Narrows the audit trail."""

    text = forms.CharField(label=_("Who, what or why contains"), required=False, max_length=200)
    kind = forms.ChoiceField(
        label=_("About"),
        required=False,
        choices=[
            ("", _("anything")), ("Rule", _("rules")), ("ErrorPattern", _("error patterns")),
            ("Task", _("tasks")),
            ("Validator", _("validators")), ("ApiKey", _("API keys")), ("User", _("members")),
            ("Workspace", _("workspace")), ("ImportJob", _("imports")),
        ],
    )  # fmt: skip

    def value(self, name: str) -> str:
        """What was understood of a field."""
        self.is_valid()
        return self.cleaned_data.get(name) or ""
