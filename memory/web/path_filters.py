"""The filter form of the path list: every field optional, a bad value is said and ignored."""

from collections.abc import Iterable

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.domain.paths.document import PATH_LEVELS, PATH_ORIGINS, PATH_RESULTS, PATH_STATUSES
from memory.queries.paths import PathFilters
from memory.web.filters import DayInput, day_start


def choices_of(words: Iterable[str]) -> list[tuple[str, str]]:
    """Any, or one of the words, in the reader's language."""
    return [("", _("any")), *((word, _(word)) for word in words)]


class PathFilterForm(forms.Form):
    """Narrows the list of paths."""

    text = forms.CharField(label=gettext_lazy("Goal or key contains"), required=False, max_length=200)
    status = forms.ChoiceField(
        label=gettext_lazy("Status"), required=False, choices=lambda: choices_of(PATH_STATUSES)
    )
    result = forms.ChoiceField(
        label=gettext_lazy("Result"), required=False, choices=lambda: choices_of(PATH_RESULTS)
    )
    level = forms.ChoiceField(
        label=gettext_lazy("Level"), required=False, choices=lambda: choices_of(PATH_LEVELS)
    )
    origin = forms.ChoiceField(
        label=gettext_lazy("From"), required=False, choices=lambda: choices_of(PATH_ORIGINS)
    )
    tool = forms.CharField(label=gettext_lazy("Tool"), required=False, max_length=200)
    tag = forms.CharField(label=gettext_lazy("Tag"), required=False, max_length=100)
    agent = forms.CharField(
        label=gettext_lazy("Agent"),
        required=False,
        max_length=200,
        widget=forms.TextInput({"list": "known-agents"}),
    )
    since = forms.DateField(label=gettext_lazy("Since"), required=False, widget=DayInput)
    until = forms.DateField(label=gettext_lazy("Until"), required=False, widget=DayInput)

    def filters(self) -> PathFilters:
        """What was understood. A level below the task brings the pieces of other paths in."""
        self.is_valid()
        names = ("text", "status", "result", "level", "origin", "tool", "tag", "agent")
        known = {name: self.cleaned_data.get(name) or "" for name in names}
        return PathFilters(
            **known,
            since=day_start(self.cleaned_data.get("since")),
            until=day_start(self.cleaned_data.get("until"), shift=1),
            parts=known["level"] not in ("", "task"),
        )

    @property
    def is_filtered(self) -> bool:
        """Whether the list is narrowed."""
        return self.filters() != PathFilters()
