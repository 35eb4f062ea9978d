"""The filter form of the graph explorer and of its search for a node."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from memory.queries.explorer import MAX_DEPTH, ExplorerFilters
from memory.web.filters import DayInput, day_start
from memory.web.path_words import KINDS, RESULTS, any_of

NAMES = ("text", "tool", "kind", "result", "tag", "agent")


class ExplorerForm(forms.Form):
    """Narrows the graph. Every field is optional; a bad value is said and ignored."""

    text = forms.CharField(label=_("Node contains"), required=False, max_length=200)
    tool = forms.CharField(
        label=_("Tool"), required=False, max_length=200, widget=forms.TextInput({"list": "known-tools"})
    )
    kind = forms.ChoiceField(label=_("Kind"), required=False, choices=any_of(KINDS))
    result = forms.ChoiceField(label=_("Result"), required=False, choices=any_of(RESULTS))
    tag = forms.CharField(label=_("Tag"), required=False, max_length=100)
    agent = forms.CharField(label=_("Agent"), required=False, max_length=200)
    since = forms.DateField(label=_("Since"), required=False, widget=DayInput)
    until = forms.DateField(label=_("Until"), required=False, widget=DayInput)

    def filters(self) -> ExplorerFilters:
        """What was understood."""
        self.is_valid()
        known = {name: self.cleaned_data.get(name) or "" for name in NAMES}
        return ExplorerFilters(
            **known,
            since=day_start(self.cleaned_data.get("since")),
            until=day_start(self.cleaned_data.get("until"), shift=1),
        )


class FocusForm(forms.Form):
    """The node in the middle, how far around it, and the node that is looked for."""

    focus = forms.UUIDField(required=False)
    depth = forms.IntegerField(required=False, min_value=1, max_value=MAX_DEPTH)
    find = forms.CharField(label=_("Find a node"), required=False, max_length=200)

    def value(self, name: str) -> Any:
        """What was understood of a field, or None."""
        self.is_valid()
        return self.cleaned_data.get(name) or None
