"""The localization lab: ask as an agent would, and see why each path is or is not in the answer."""

from typing import Any

from django import forms
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET

from memory.actions.locating import Tried, try_locating
from memory.domain.locating.policy import LocatePolicy, PartWeights, read_policy
from memory.domain.locating.question import MAX_TOP_K, InvalidQuestionError, Question, read_question
from memory.domain.paths.document import PATH_LEVELS
from memory.web.access import PageRequest, workspace_page
from memory.web.filters import DayInput, day_start

PROMPT_TOKENS = 800
WEIGHTS = {"w_tags": "tags", "w_semantic": "semantic", "w_structure": "structure"}
FIELDS = {
    "filters.until": "until",
    "filters.since": "since",
    "goal": "goal",
    "tags": "tags",
    "nodes": "nodes",
}


def _number(label: Any, top: float, step: float) -> forms.FloatField:
    widget = forms.NumberInput({"min": 0, "max": top, "step": step})
    return forms.FloatField(label=label, min_value=0, max_value=top, required=False, widget=widget)


class LabForm(forms.Form):
    """A question, and the weights to try it with."""

    goal = forms.CharField(
        label=gettext_lazy("Goal"), required=False, max_length=2_000, widget=forms.Textarea({"rows": 3})
    )
    tags = forms.CharField(
        label=gettext_lazy("Tags"),
        required=False,
        max_length=500,
        help_text=gettext_lazy("Divided by commas."),
    )
    nodes = forms.CharField(
        label=gettext_lazy("Walked so far"), required=False, max_length=2_000,
        widget=forms.Textarea({"rows": 3, "class": "code"}),
        help_text=gettext_lazy("Tools or names of nodes, one a line, in order."),
    )  # fmt: skip
    tool = forms.CharField(label=gettext_lazy("Tool"), required=False, max_length=200)
    tag = forms.CharField(label=gettext_lazy("Tag"), required=False, max_length=100)
    agent = forms.CharField(label=gettext_lazy("Agent"), required=False, max_length=200)
    level = forms.ChoiceField(
        label=gettext_lazy("Level"),
        required=False,
        choices=[
            ("", gettext_lazy("whole tasks")),
            *((name, name) for name in PATH_LEVELS if name != "task"),
        ],
    )
    since = forms.DateField(label=gettext_lazy("Since"), required=False, widget=DayInput)
    until = forms.DateField(label=gettext_lazy("Until"), required=False, widget=DayInput)
    top_k = forms.IntegerField(
        label=gettext_lazy("At most"), required=False, min_value=1, max_value=MAX_TOP_K,
        widget=forms.NumberInput({"min": 1, "max": MAX_TOP_K}),
    )  # fmt: skip
    min_score = _number(gettext_lazy("Least score"), 1, 0.01)
    w_tags = _number(gettext_lazy("Weight of tags"), 1_000, 0.1)
    w_semantic = _number(gettext_lazy("Weight of meaning"), 1_000, 0.1)
    w_structure = _number(gettext_lazy("Weight of structure"), 1_000, 0.1)

    @property
    def filters_open(self) -> bool:
        """Whether a filter is set, so that the page shows them."""
        return any(self.data.get(name) for name in ("tool", "tag", "agent", "level", "since", "until"))

    def question(self) -> Question:
        """What is asked. Raises InvalidQuestionError."""
        said = self.cleaned_data
        filters = {name: said[name] for name in ("tool", "tag", "agent", "level") if said[name]}
        bounds = {"since": day_start(said["since"]), "until": day_start(said["until"], shift=1)}
        filters |= {name: moment for name, moment in bounds.items() if moment}
        return read_question(
            {
                "goal": said["goal"],
                "tags": [tag.strip() for tag in said["tags"].split(",") if tag.strip()],
                "nodes": [line.strip() for line in said["nodes"].splitlines() if line.strip()],
                "filters": filters,
                "top_k": said["top_k"] or 3,
                "prompt_tokens": PROMPT_TOKENS,
            }
        )

    def policy(self, stored: LocatePolicy) -> LocatePolicy:
        """The workspace's, with what was typed instead."""
        said = {name: self.cleaned_data[name] for name in (*WEIGHTS, "min_score")}
        weights = {
            part: getattr(stored.weights, part) if said[name] is None else said[name]
            for name, part in WEIGHTS.items()
        }
        least = stored.min_score if said["min_score"] is None else said["min_score"]
        return LocatePolicy(PartWeights(**weights), least, stored.verify_localizations)


@require_GET
@workspace_page("locate_paths")
def lab(request: PageRequest) -> HttpResponse:
    """Ask, without a trace: what is asked here is not kept as a localization."""
    stored = read_policy(request.workspace.settings)
    form = LabForm(_filled(request, stored))
    context: dict[str, Any] = {"title": _("Localization lab"), "form": form, "asked": False}
    if any(request.GET.get(name, "").strip() for name in ("goal", "tags", "nodes")) and form.is_valid():
        tried = _try(request, form, stored)
        context |= {"asked": tried is not None, "tried": tried}
    return render(request, "lab/lab.html", context)


def _filled(request: PageRequest, stored: LocatePolicy) -> dict[str, Any]:
    """What was typed, and the workspace's own numbers where nothing was."""
    own: dict[str, Any] = {name: getattr(stored.weights, part) for name, part in WEIGHTS.items()}
    own |= {"min_score": stored.min_score, "top_k": 3}
    return own | {name: value for name, value in request.GET.items() if value != ""}


def _try(request: PageRequest, form: LabForm, stored: LocatePolicy) -> Tried | None:
    """The answer, or None with the reason on the form."""
    try:
        return try_locating(
            workspace_id=request.workspace.pk,
            query=form.question(),
            policy=form.policy(stored),
            by=request.actor,
        )
    except InvalidQuestionError as refusal:
        for error in refusal.errors:
            form.add_error(FIELDS.get(error.field.rstrip("0123456789").rstrip(".")), error.detail)
        return None
