"""Forms of the conflict inbox and of a ruling."""

from datetime import datetime, time
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from corrections.domain.rulings import MAX_REASON_CHARS, VERDICTS
from corrections.models import FINDINGS
from corrections.queries.conflicts import ConflictFilters
from hgmem.rules.limits import MAX_CONDITION_CHARS

KINDS: dict[str, Any] = {
    "contradictory": _("contradictory"), "redundant": _("redundant"), "subsumed": _("subsumed"),
    "shadowed": _("shadowed"), "dead": _("never true"), "always_on": _("always true"),
    "interference": _("one writes what the other reads"), "loop": _("in a circle"),
    "can_error": _("can fail"),
}  # fmt: skip
STATUSES: dict[str, Any] = {"open": _("open"), "ruled": _("ruled"), "gone": _("gone")}
PROOFS: dict[str, Any] = {"conflict": _("proven by a call"), "not_proven": _("not proven")}


class ConflictFilterForm(forms.Form):
    """Narrows the inbox; what is open is shown unless another status is asked for."""

    status = forms.ChoiceField(required=False, choices=STATUSES.items(), widget=forms.HiddenInput)
    kind = forms.ChoiceField(
        label=_("Kind"), required=False, choices=[("", _("any")), *((kind, KINDS[kind]) for kind in FINDINGS)]
    )
    verdict = forms.ChoiceField(label=_("Proof"), required=False, choices=[("", _("any")), *PROOFS.items()])
    tool = forms.CharField(label=_("Tool"), required=False, max_length=200)
    rule = forms.UUIDField(required=False, widget=forms.HiddenInput)

    def filters(self) -> ConflictFilters:
        """What was understood."""
        self.is_valid()
        said = self.cleaned_data
        return ConflictFilters(
            status=said.get("status") or "open", kind=said.get("kind") or "",
            verdict=said.get("verdict") or "", tool=(said.get("tool") or "").replace("\0", ""),
            rule=said.get("rule"),
        )  # fmt: skip


class RulingForm(forms.Form):
    """One way to decide a conflict."""

    verdict = forms.ChoiceField(choices=[(verdict, verdict) for verdict in VERDICTS])
    target = forms.ChoiceField(choices=[("a", "a"), ("b", "b")], required=False)
    reason = forms.CharField(
        max_length=MAX_REASON_CHARS,
        error_messages={"required": _("Say why: whoever meets this ruling later has to understand it.")},
    )
    condition = forms.CharField(required=False, max_length=MAX_CONDITION_CHARS, strip=False)
    until = forms.DateField(required=False)

    def clean_until(self) -> datetime | None:
        """The end of that day."""
        day = self.cleaned_data["until"]
        return timezone.make_aware(datetime.combine(day, time.max)) if day else None

    def said(self) -> dict[str, Any]:
        """What the action needs."""
        data = self.cleaned_data
        has_condition = data["verdict"] in ("narrow", "merge")
        return {
            "verdict": data["verdict"], "reason": data["reason"], "target": data["target"] or "b",
            "condition": data["condition"] if has_condition else None, "expires_at": data["until"],
        }  # fmt: skip


class EndRulingForm(forms.Form):
    """The end of a ruling."""

    reason = forms.CharField(max_length=MAX_REASON_CHARS, error_messages={"required": _("Say why it ends.")})
