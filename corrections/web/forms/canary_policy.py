"""The form of a workspace's policy of canaries."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

PERCENT = ("first_share", "full_share", "holdout", "alpha")
"""Fractions that people write in percent."""


def _percent(label: Any, help_text: Any, *, least: float = 0.01, most: float = 99.0) -> forms.FloatField:
    widget = forms.NumberInput(attrs={"step": "any"})
    return forms.FloatField(label=label, help_text=help_text, min_value=least, max_value=most, widget=widget)


class CanaryPolicyForm(forms.Form):
    """Which rules begin as a canary, and how canaries are run."""

    start = forms.ChoiceField(
        label=_("Which versions begin as a canary"),
        choices=[
            ("agents", _("those that agents, the inducer or a model wrote")), ("all", _("all")),
            ("never", _("none, unless the approver chooses it")),
        ],
    )  # fmt: skip
    first_share = _percent(_("First share (%)"), _("Of the tasks whose calls match."))
    full_share = _percent(
        _("Full share (%)"), _("After the first look, and at once for rules that match rarely.")
    )
    min_look = forms.IntegerField(
        label=_("Decided tasks before the first ramp"), min_value=1, max_value=100_000
    )
    alpha = _percent(
        _("Bound on false verdicts (%)"), _("At 5 %, evidence of 20 to 1 decides."), least=0.01, most=20.0
    )
    max_days = forms.IntegerField(
        label=_("Days until a person decides"), min_value=1, max_value=365,
        help_text=_("A rule that a person wrote is promoted then when nothing speaks against it."),
    )  # fmt: skip
    holdout = _percent(
        _("Holdout after promotion (%)"),
        _("These tasks go without the rule, so that it shows when it stops doing good."),
        least=0.0, most=50.0,
    )  # fmt: skip
    rare_per_day = forms.FloatField(
        label=_("A rule matches rarely below (tasks a day)"),
        min_value=0,
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
    shadow_first = forms.BooleanField(
        label=_("Approved rules run in shadow first"), required=False,
        help_text=_("What they would do is counted, and nothing is done."),
    )  # fmt: skip
    shadow_tasks = forms.IntegerField(label=_("Tasks in shadow"), min_value=1, max_value=100_000)
    shadow_hours = forms.FloatField(
        label=_("Longest shadow (hours)"), min_value=0.01, max_value=24 * 90,
        widget=forms.NumberInput(attrs={"step": "any"}),
    )  # fmt: skip

    def changes(self) -> dict[str, Any]:
        """What was understood, as the policy takes it."""
        said = dict(self.cleaned_data)
        return said | {name: said[name] / 100 for name in PERCENT}


def shown_policy(stored: dict[str, Any]) -> dict[str, Any]:
    """The policy as the form shows it."""
    return stored | {name: round(stored[name] * 100, 6) for name in PERCENT}
