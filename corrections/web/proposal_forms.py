"""Forms of the rule proposals, and their words."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from corrections.queries.proposals import ProposalFilters
from hgmem.rules import ACTION_TYPES

STATUSES: list[tuple[str, Any]] = [
    ("waiting", _("to decide")),
    ("once", _("met once")),
    ("queued", _("being drafted")),
    ("given_up", _("given up")),
    ("accepted", _("accepted")),
    ("rejected", _("rejected")),
    ("withdrawn", _("withdrawn")),
    ("all", _("all")),
]
SOURCES: list[tuple[str, Any]] = [
    ("", _("any")),
    ("inducer", _("the inducer")),
    ("agent", _("an agent")),
    ("llm", _("a language model")),
]
TONES = {"proposed": "info", "given_up": "warn", "accepted": "good", "rejected": "bad"}
ORDERS: list[tuple[str, Any]] = [("", _("most failures caught")), ("recent", _("newest"))]


class ProposalFilterForm(forms.Form):
    """Narrows the list; what waits is shown unless another status is asked for."""

    status = forms.ChoiceField(required=False, choices=STATUSES, widget=forms.HiddenInput)
    q = forms.CharField(label=_("Name or condition contains"), required=False, max_length=200)
    tool = forms.CharField(label=_("Tool"), required=False, max_length=200)
    source = forms.ChoiceField(label=_("Proposed by"), required=False, choices=SOURCES)
    action_type = forms.ChoiceField(
        label=_("Action"), required=False, choices=[("", _("any")), *((name, name) for name in ACTION_TYPES)]
    )
    min_caught = forms.IntegerField(label=_("Catches at least"), required=False, min_value=0, max_value=10**9)
    order = forms.ChoiceField(label=_("Order"), required=False, choices=ORDERS)

    def listed(self) -> str:
        """The status that is listed."""
        self.is_valid()
        return self.cleaned_data.get("status") or "waiting"

    def filters(self) -> ProposalFilters:
        """What was understood."""
        status = self.listed()
        known = {
            name: (self.cleaned_data.get(name) or "").replace("\x00", "")
            for name in ("q", "tool", "source", "action_type")
        }
        least = self.cleaned_data.get("min_caught") or 0
        return ProposalFilters(status="" if status == "all" else status, min_caught=least, **known)

    def is_narrowed(self) -> bool:
        """Whether anything beside the status is asked for."""
        filters = self.filters()
        return any((filters.q, filters.tool, filters.source, filters.action_type, filters.min_caught))


class AcceptForm(forms.Form):
    """Yes."""

    note = forms.CharField(required=False, max_length=500)


class RejectForm(forms.Form):
    """No, with the reason."""

    reason = forms.CharField(
        max_length=2_000, error_messages={"required": _("Say why the proposal is rejected.")}
    )


class ReopenForm(forms.Form):
    """To be decided again."""

    reason = forms.CharField(required=False, max_length=2_000)
