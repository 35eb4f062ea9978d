"""Forms of the review inbox."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from corrections.actions.inbox import MAX_COMMENT
from corrections.queries.inbox import InboxFilters

KIND_WORDS: dict[str, Any] = {
    "alert": _("alert"),
    "change": _("change request"),
    "rewrite": _("rewrite"),
    "proposal": _("rule proposal"),
    "conflict": _("conflict"),
    "impact": _("tool changed"),
    "canary": _("canary"),
    "stale": _("rule to look at"),
}
MAX_REASON = 2_000


class InboxFilterForm(forms.Form):
    """Narrows the inbox."""

    kind = forms.ChoiceField(
        label=_("Kind"), required=False, choices=[("", _("all")), *KIND_WORDS.items()]
    )  # fmt: skip
    assigned = forms.ChoiceField(
        label=_("Looked at by"),
        required=False,
        choices=[("", _("anybody")), ("me", _("me")), ("nobody", _("nobody yet"))],
    )
    q = forms.CharField(label=_("Search"), required=False, max_length=200)

    def filters(self, user_uuid: str) -> InboxFilters:
        """What was understood; anything else is left out."""
        self.is_valid()
        asked = {name: self.cleaned_data.get(name) or "" for name in self.fields}
        return InboxFilters(**asked, user_uuid=user_uuid)

    def is_narrowed(self) -> bool:
        """Whether anything is left out."""
        return any(self.cleaned_data.get(name) for name in self.fields)


class DecideForm(forms.Form):
    """A decision on one item. A rejection needs its reason."""

    do = forms.ChoiceField(choices=[("approve", "approve"), ("reject", "reject")])
    reason = forms.CharField(required=False, max_length=MAX_REASON)
    revision = forms.IntegerField(required=False, min_value=1)


class CommentForm(forms.Form):
    """What somebody says about an item."""

    text = forms.CharField(
        max_length=MAX_COMMENT, error_messages={"required": _("Write what you want to say.")}
    )  # fmt: skip


class AssignForm(forms.Form):
    """Who is to look at an item; empty: nobody."""

    assignee = forms.UUIDField(required=False)
