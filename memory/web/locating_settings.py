"""How paths are located: the part of the settings page that says so."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from memory.actions.locating_policy import set_locate_policy
from memory.domain.locating.policy import read_policy
from memory.domain.locating.question import InvalidQuestionError
from memory.models import Workspace
from memory.web.access import PageRequest, workspace_page


def _number(label: Any, top: float, help_text: Any = "") -> forms.FloatField:
    widget = forms.NumberInput({"min": 0, "max": top, "step": "any"})
    return forms.FloatField(label=label, min_value=0, max_value=top, widget=widget, help_text=help_text)


class LocatingForm(forms.Form):
    """Weights, the least score, and whether a model has a word."""

    tags = _number(gettext_lazy("Weight of tags"), 1_000)
    semantic = _number(gettext_lazy("Weight of meaning"), 1_000)
    structure = _number(
        gettext_lazy("Weight of structure"), 1_000, gettext_lazy("Counts when an agent says where it is.")
    )
    min_score = _number(
        gettext_lazy("Least score"), 1, gettext_lazy("From 0 to 1. A path below it is not answered.")
    )
    verify_localizations = forms.BooleanField(
        label=gettext_lazy("Let a model choose among the paths"),
        required=False,
        help_text=gettext_lazy(
            "Needs HGMEM_LLM_URL and HGMEM_LLM_MODEL; each answer waits for it, two seconds at most."
        ),
    )

    def changes(self) -> dict[str, Any]:
        """For the action."""
        said = self.cleaned_data
        return {
            "weights": {name: said[name] for name in ("tags", "semantic", "structure")},
            "min_score": said["min_score"],
            "verify_localizations": said["verify_localizations"],
        }


def locating_form(workspace: Workspace) -> LocatingForm:
    """The form with what holds now."""
    policy = read_policy(workspace.settings)
    initial = {**policy.weights.document(), **policy.document()}
    return LocatingForm(initial=initial, prefix="locating")


@require_POST
@workspace_page("manage_workspace")
def save(request: PageRequest) -> HttpResponse:
    """Keep the policy; it holds for the next question."""
    form = LocatingForm(request.POST, prefix="locating")
    try:
        if form.is_valid():
            set_locate_policy(workspace=request.workspace, changes=form.changes(), by=request.actor)
            messages.success(request, _("Saved. It holds for the next question."))
        else:
            messages.error(request, _("Not saved: %(why)s") % {"why": _first_error(form)})
    except InvalidQuestionError as refusal:
        messages.error(request, str(refusal))
    return redirect("settings", request.workspace.slug)


def _first_error(form: forms.Form) -> str:
    name, errors = next(iter(form.errors.items()))
    return f"{form[name].label}: {errors[0]}"
