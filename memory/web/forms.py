"""Forms of the memory pages."""

from django import forms
from django.utils.translation import gettext_lazy as _


class JudgeForm(forms.Form):
    """A person's word on how a task ended."""

    result = forms.ChoiceField(
        label=_("The task was a"), choices=[("success", _("success")), ("failure", _("failure"))]
    )
    note = forms.CharField(label=_("Why"), required=False, max_length=2_000, widget=forms.Textarea({"rows": 3}))


class TriageForm(forms.Form):
    """Setting a pattern aside, or taking it up again."""

    step = forms.ChoiceField(choices=[("ignore", "ignore"), ("reopen", "reopen")])
    reason = forms.CharField(label=_("Why"), max_length=500)
