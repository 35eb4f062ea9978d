"""Trying a validator before it is saved: on a pasted or recorded call, or on many recorded ones."""

from typing import Any
from uuid import UUID

import msgspec
from django import forms
from django.utils.translation import gettext_lazy as _

from memory.actions.validators import compile_draft
from memory.domain.failures import CallSnapshot
from memory.models import ToolCall, Workspace
from memory.queries.validators import backtest_validator, snapshot_of
from memory.web.forms import ValidatorForm


class TrialForm(forms.Form):
    """What to try it on: pasted JSON, or a recorded call; how many calls a backtest looks at."""

    trial_call = forms.CharField(
        label=_("Recorded call"), required=False, max_length=300,
        help_text=_("The address of a call on a timeline, or TASK-UUID#NUMBER."),
    )  # fmt: skip
    trial_input = forms.CharField(
        label=_("Input (JSON)"), required=False, widget=forms.Textarea({"rows": 4, "class": "code"})
    )
    trial_output = forms.CharField(
        label=_("Output (JSON or text)"), required=False, widget=forms.Textarea({"rows": 4, "class": "code"})
    )
    calls = forms.IntegerField(
        label=_("Recorded calls"), required=False, min_value=1, max_value=2_000, initial=500
    )


def run_trial(workspace: Workspace, form: ValidatorForm, trial: TrialForm, do: str) -> dict[str, Any]:
    """What the page shows beside the form: the check's verdict, a trial's, or a backtest's."""
    if not do:
        return {"checked": False, "trial": None, "backtest": None}
    form.is_valid()
    shown: dict[str, Any] = {"checked": "source" not in form.errors, "trial": None, "backtest": None}
    if form.errors or not trial.is_valid():
        return shown
    compiled = compile_draft(form.draft())
    if do == "try":
        call, problem = read_call(workspace, trial)
        if problem:
            trial.add_error(*problem)
        shown["trial"] = compiled.check(call) if call else None
    if do == "backtest":
        calls = trial.cleaned_data["calls"] or 500
        shown["backtest"] = backtest_validator(workspace, form.cleaned_data["tool"], compiled, calls=calls)
    return shown


def read_call(workspace: Workspace, trial: TrialForm) -> tuple[CallSnapshot | None, tuple[str, Any] | None]:
    """The call to try, or the field and the sentence that say why there is none."""
    given = trial.cleaned_data
    if given["trial_call"]:
        row = find_call(workspace, given["trial_call"])
        missing = ("trial_call", _("There is no such call in this workspace."))
        return (snapshot_of(row), None) if row else (None, missing)
    try:
        read = msgspec.json.decode(given["trial_input"]) if given["trial_input"].strip() else {}
    except (msgspec.DecodeError, RecursionError) as problem:
        return None, ("trial_input", str(problem))
    if not isinstance(read, dict):
        return None, ("trial_input", _("The input is a JSON object, such as {}."))
    return CallSnapshot(tool="", input=read, output=_read_output(given["trial_output"])), None


def _read_output(text: str) -> Any:
    """JSON where it is JSON, else the text; nothing is null."""
    if not text.strip():
        return None
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text


def find_call(workspace: Workspace, address: str) -> ToolCall | None:
    """From ``.../tasks/<uuid>/#call-3`` or ``<uuid>#3`` to the call."""
    before, _sign, after = address.strip().rpartition("#")
    seq = after.removeprefix("call-")
    path = before.partition("?")[0].rstrip("/")
    try:
        task = UUID(path.rpartition("/")[2])
    except ValueError:
        return None
    if not (seq.isascii() and seq.isdigit() and len(seq) < 8):
        return None
    return ToolCall.objects.filter(workspace=workspace, task__uuid=task, seq=int(seq)).first()
