"""Forms of the pages of change requests."""

from datetime import datetime
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from corrections.domain.changes import CHANGE_STATUSES, KINDS
from corrections.web.forms.values import MomentField

STATUSES = ("undecided", *CHANGE_STATUSES)


class ChangeFilterForm(forms.Form):
    """Narrows the list."""

    q = forms.CharField(label=_("Title contains"), required=False, max_length=200)
    status = forms.ChoiceField(
        label=_("Status"), required=False, choices=[("", _("any")), *((name, name) for name in STATUSES)]
    )
    kind = forms.ChoiceField(
        label=_("Kind"), required=False, choices=[("", _("any")), *((name, name) for name in KINDS)]
    )
    mine = forms.BooleanField(label=_("Only mine"), required=False)

    def filters(self, name: str) -> dict[str, str]:
        """What was understood; a value that is no choice is dropped. ``name`` is the person's."""
        self.is_valid()
        said = self.cleaned_data
        mine = name if said.get("mine") else ""
        texts = {field: said.get(field) or "" for field in ("q", "kind", "status")}
        return texts | {"requested_by": mine}


class ApproveForm(forms.Form):
    """The revision that was looked at, and a word."""

    revision = forms.IntegerField(min_value=1, widget=forms.HiddenInput)
    rollout = forms.ChoiceField(required=False, choices=[("", ""), ("all", ""), ("canary", "")])
    note = forms.CharField(required=False, max_length=2_000)


class RevisionForm(forms.Form):
    """The revision that was looked at."""

    revision = forms.IntegerField(min_value=1)


class WhyForm(forms.Form):
    """A reason; the action says when it is missing."""

    reason = forms.CharField(required=False, max_length=2_000)


class RolloutForm(forms.Form):
    """How a version is published once it is approved."""

    rollout = forms.ChoiceField(
        label=_("How it is published"),
        choices=[("all", _("to all tasks at once")), ("canary", _("as a canary: to some tasks first"))],
    )  # fmt: skip


class CommentForm(forms.Form):
    """A comment."""

    text = forms.CharField(required=False, max_length=5_000)


class WhenForm(forms.Form):
    """When to publish; empty: as soon as it is approved."""

    publish_at = MomentField(label=_("Publish at"))

    def clean(self) -> dict[str, Any]:
        """Nothing is None."""
        cleaned = super().clean() or self.cleaned_data
        moment = cleaned.get("publish_at")
        return cleaned | {"publish_at": moment if isinstance(moment, datetime) else None}


class PolicyForm(forms.Form):
    """How changes are approved."""

    required_approvals = forms.IntegerField(
        label=_("Approvals a change needs"), min_value=1, max_value=10,
        help_text=_("Each by another person."),
    )  # fmt: skip
    self_approval = forms.BooleanField(
        label=_("Authors may approve their own changes"), required=False,
        help_text=_("Counts for those who may publish: maintainers and owners."),
    )  # fmt: skip
    key_approval = forms.BooleanField(label=_("API keys may approve"), required=False)
    urgent_disable = forms.BooleanField(
        label=_("A rule may be disabled at once"), required=False,
        help_text=_("By those who may publish; an alert asks others to look at it afterwards."),
    )  # fmt: skip
