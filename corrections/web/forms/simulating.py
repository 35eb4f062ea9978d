"""The simulator's question: which call, and which rule to try beside the live ones."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from corrections.web.forms.values import CodeArea, read_json


class JsonTextField(forms.CharField):
    """Pasted JSON of an expected shape; cleans to the value, or None when empty."""

    def __init__(self, *, kinds: tuple[type, ...], shape: Any, rows: int, **options: Any) -> None:
        super().__init__(required=False, max_length=1_000_000, widget=CodeArea(rows), **options)
        self.kinds, self.shape = kinds, shape

    def clean(self, value: Any) -> Any:
        """The value."""
        text = super().clean(value)
        if not text:
            return None
        try:
            found = read_json(text)
        except ValueError as error:
            raise forms.ValidationError(_("This is no JSON: %(why)s.") % {"why": error}) from error
        if not isinstance(found, self.kinds):
            raise forms.ValidationError(self.shape)
        return found


class PickForm(forms.Form):
    """A recorded call."""

    task = forms.UUIDField(
        label=gettext_lazy("Task"),
        required=False,
        help_text=gettext_lazy("Its uuid, from the address of its page."),
    )
    seq = forms.IntegerField(
        label=gettext_lazy("Call"), required=False, min_value=0, max_value=2**31 - 1,
        help_text=gettext_lazy("The number beside it on the task's page."),
    )  # fmt: skip
    point = forms.ChoiceField(
        label=gettext_lazy("Point"),
        required=False,
        choices=[
            ("", gettext_lazy("before the call")),
            ("after", gettext_lazy("after the call")),
            ("planning", gettext_lazy("while planning")),
        ],
    )
    rule = forms.UUIDField(label=gettext_lazy("Rule to try"), required=False)


class QuestionForm(forms.Form):
    """A pasted context, and a pasted rule."""

    context = JsonTextField(
        label=gettext_lazy("Call to ask about"), kinds=(dict,), rows=12,
        shape=gettext_lazy("The context must be a JSON object with tool and input."),
        help_text=gettext_lazy("JSON: tool, input, task, env, history; after the call also output, error."),
    )  # fmt: skip
    document = JsonTextField(
        label=gettext_lazy("Rule to try beside the live ones"), kinds=(dict, list), rows=8,
        shape=gettext_lazy("A rule is a JSON object; several are a list of them."),
        help_text=gettext_lazy(
            "Optional. A rule document, or a list of them. Drafts are not asked by themselves: "
            "choose Simulate on the page of the draft."
        ),
    )  # fmt: skip
