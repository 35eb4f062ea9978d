"""Forms of the canary pages."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from corrections.actions.canaries import STEERS
from corrections.queries.canary_pages import GROUPS, ExposureFilters
from corrections.web.canary_words import GROUPS as GROUP_WORDS


class CanaryFilterForm(forms.Form):
    """Narrows the list: without a group everything is shown, group by group."""

    q = forms.CharField(label=_("Rule's name contains"), required=False, max_length=200)
    group = forms.ChoiceField(
        label=_("State"),
        required=False,
        choices=[("", _("all")), *((name, GROUP_WORDS[name]) for name in GROUPS)],
    )

    def wanted(self) -> dict[str, str]:
        """What was understood; a value that is no choice is dropped."""
        self.is_valid()
        q = (self.cleaned_data.get("q") or "").replace("\x00", "")
        return {"q": q, "group": self.cleaned_data.get("group") or ""}


class ExposureFilterForm(forms.Form):
    """Narrows the exposed tasks of a canary."""

    arm = forms.ChoiceField(
        label=_("Arm"),
        required=False,
        choices=[
            ("", _("any")), ("canary", _("with the rule")), ("control", _("without the rule")),
            ("shadow", _("watched")),
        ],
    )  # fmt: skip
    outcome = forms.ChoiceField(
        label=_("Outcome"),
        required=False,
        choices=[
            ("", _("any")), ("failed", _("failed")), ("good", _("went well")),
            ("open", _("not ended yet")),
        ],
    )  # fmt: skip
    crossed = forms.ChoiceField(
        label=_("Crossed"), required=False, choices=[("", _("any")), ("yes", _("met in both arms"))]
    )

    def filters(self) -> ExposureFilters:
        """What was understood."""
        self.is_valid()
        names = ("arm", "outcome", "crossed")
        return ExposureFilters(**{name: self.cleaned_data.get(name) or "" for name in names})


NEEDS: dict[str, tuple[str, ...]] = {"set_share": ("share",), "extend": ("days",)}


class SteerForm(forms.Form):
    """A step, the reason for it, and what it needs: a share in percent, or days."""

    step = forms.ChoiceField(choices=[(step, step) for step in STEERS])
    reason = forms.CharField(
        max_length=2_000,
        error_messages={"required": _("Say why: the reason stays with the canary.")},
    )
    share = forms.FloatField(required=False, min_value=0.01, max_value=99.99)
    days = forms.IntegerField(required=False, min_value=1, max_value=365)

    def clean(self) -> dict[str, Any]:
        """What the step needs is there."""
        cleaned = super().clean() or self.cleaned_data
        for name in NEEDS.get(cleaned.get("step", ""), ()):
            if cleaned.get(name) is None and name not in self.errors:
                self.add_error(name, _("Say how much."))
        return cleaned

    def given(self) -> dict[str, Any]:
        """What the action is called with, beside the canary and the actor. Shares are fractions."""
        said = self.cleaned_data
        extra = {name: said[name] for name in NEEDS.get(said["step"], ())}
        if "share" in extra:
            extra["share"] = extra["share"] / 100
        return {"reason": said["reason"], **extra}


class ShadowForm(forms.Form):
    """Which version, and why."""

    version = forms.IntegerField(min_value=1)
    reason = forms.CharField(max_length=2_000)
