"""Forms of the rewrites queue."""

from typing import Any
from uuid import UUID

from django import forms
from django.utils.translation import gettext_lazy as _

from memory.domain.rewriting.policy import REWRITERS
from memory.queries.rewrites import RewriteFilters

WAITING = "waiting"
STATUSES: list[tuple[str, Any]] = [
    (WAITING, _("to decide")),
    ("proposed", _("proposed")),
    ("needs_human", _("needs a person")),
    ("queued", _("being drafted")),
    ("given_up", _("given up")),
    ("approved", _("approved")),
    ("rejected", _("rejected")),
    ("superseded", _("superseded")),
    ("all", _("all")),
]
TRIGGERS: list[tuple[str, Any]] = [
    ("", _("any")),
    ("located", _("a failed path was located")),
    ("reuse", _("a reuse failed")),
    ("environment", _("the environment changed")),
    ("person", _("a person asked")),
    ("api", _("an agent asked")),
]
MAX_CARRIED = 1_000


class RewriteFilterForm(forms.Form):
    """Narrows the queue; what waits is shown unless another status is asked for."""

    status = forms.ChoiceField(required=False, choices=STATUSES, widget=forms.HiddenInput)
    trigger = forms.ChoiceField(label=_("Asked for because"), required=False, choices=TRIGGERS)
    path = forms.UUIDField(required=False, widget=forms.HiddenInput)

    def listed(self) -> str:
        """The status that is listed."""
        self.is_valid()
        return self.cleaned_data.get("status") or WAITING

    def filters(self) -> RewriteFilters:
        """What was understood."""
        status = self.listed()
        return RewriteFilters(
            status="" if status == "all" else status,
            trigger=self.cleaned_data.get("trigger") or "",
            path=self.cleaned_data.get("path"),
        )


class UuidsField(forms.Field):
    """Any number of uuids; what is none is refused."""

    widget = forms.MultipleHiddenInput

    def clean(self, value: Any) -> list[UUID]:
        """As uuids, each once."""
        try:
            return list(dict.fromkeys(UUID(text) for text in (value or [])[:MAX_CARRIED]))
        except ValueError as error:
            raise forms.ValidationError(_("Choose the paths from the list.")) from error


class RevisionForm(forms.Form):
    """What every decision carries: the revision that the person saw."""

    revision = forms.IntegerField(min_value=0, max_value=2**31 - 1)


class ApproveForm(RevisionForm):
    """Yes, with the other paths to carry along."""

    carry = UuidsField(required=False)
    reason = forms.CharField(required=False, max_length=2_000)


class RejectForm(RevisionForm):
    """No, with the reason."""

    reason = forms.CharField(
        max_length=2_000,
        error_messages={"required": _("Say why the rewrite is rejected: the next one learns from it.")},
    )


class RewriteRetryForm(RevisionForm):
    """Once more, by a certain rewriter or by those of the workspace."""

    rewriter = forms.ChoiceField(required=False, choices=[("", ""), *((name, name) for name in REWRITERS)])
