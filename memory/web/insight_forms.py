"""The form of a situation: what a planner would say about where it stands."""

from django import forms
from django.utils.translation import gettext_lazy as _

from memory.domain.insights.fastest import Situation


class SituationForm(forms.Form):
    """Every field optional; what is left empty is anything."""

    after = forms.CharField(label=_("After the tool"), required=False, max_length=200)
    domain = forms.CharField(label=_("Domain of the environment"), required=False, max_length=200)
    tags = forms.CharField(label=_("Tags (commas between)"), required=False, max_length=500)

    def situation(self) -> Situation:
        """What was understood."""
        self.is_valid()
        return Situation.read(*(self.cleaned_data.get(name, "") for name in ("after", "domain", "tags")))
