"""Validators: the list, one, the editor with its live check, trial and backtest."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db import IntegrityError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from memory.actions.validators import StaleEdit, create_validator, edit_validator, set_validator_enabled
from memory.models import Validator
from memory.permissions import may
from memory.queries.paging import read_number
from memory.queries.validators import list_found, list_validators, source_of
from memory.web.access import PageRequest, workspace_page
from memory.web.forms import ValidatorForm
from memory.web.trials import TrialForm, run_trial


@require_GET
@workspace_page("look")
def validators(request: PageRequest) -> HttpResponse:
    """What watches the calls for silent failures."""
    context = {"title": _("Validators"), "validators": list_validators(request.workspace)}
    return render(request, "validators/list.html", context | _rights(request))


@require_GET
@workspace_page("look")
def validator(request: PageRequest, uuid: UUID) -> HttpResponse:
    """One validator: what it checks and what it found."""
    row = get_object_or_404(Validator, workspace=request.workspace, uuid=uuid)
    context = {"title": row.name, "validator": row, "source": source_of(row)}
    context |= {"page": list_found(row, request.GET.get("cursor", ""))}
    return render(request, "validators/detail.html", context | _rights(request))


def _rights(request: PageRequest) -> dict[str, bool]:
    return {"may_edit": may(request.actor, "edit_validator")}


@require_http_methods(["GET", "HEAD", "POST"])
@workspace_page("edit_validator")
def new(request: PageRequest) -> HttpResponse:
    """A new validator."""
    form = ValidatorForm(request.POST or None, initial={"tool": request.GET.get("tool", "*")})
    return _edit(request, form, None)


@require_http_methods(["GET", "HEAD", "POST"])
@workspace_page("edit_validator")
def edit(request: PageRequest, uuid: UUID) -> HttpResponse:
    """Change one; a revision that is not the newest any more is refused."""
    row = get_object_or_404(Validator, workspace=request.workspace, uuid=uuid)
    initial = {"name": row.name, "tool": row.tool, "kind": row.kind, "message": row.message}
    initial |= {"source": source_of(row), "target": row.body.get("target", "output")}
    return _edit(request, ValidatorForm(request.POST or None, initial=initial), row)


def _edit(request: PageRequest, form: ValidatorForm, row: Validator | None) -> HttpResponse:
    """Save, or only check, try or backtest: the same form, told apart by its button (``do``)."""
    do = request.POST.get("do", "") if request.method == "POST" else ""
    trial_form = TrialForm(request.POST or None)
    if do == "save" and form.is_valid():
        saved = _save(request, form, row)
        if saved:
            messages.success(request, _("Saved. It watches every call that is analysed from now on."))
            return redirect("validator", request.workspace.slug, saved.uuid)
    context: dict[str, Any] = {"title": _("Edit the validator") if row else _("New validator")}
    context |= {"form": form, "validator": row, "trial_form": trial_form, "revision": _revision(request, row)}
    context |= run_trial(request.workspace, form, trial_form, do)
    return render(request, "validators/edit.html", context)


def _revision(request: PageRequest, row: Validator | None) -> str:
    """The revision the person started from."""
    return request.POST.get("revision", "") or str(row.revision if row else 0)


def _save(request: PageRequest, form: ValidatorForm, row: Validator | None) -> Validator | None:
    """The stored validator, or None with the reason on the form."""
    try:
        if row is None:
            return create_validator(workspace=request.workspace, draft=form.draft(), by=request.actor)
        revision = read_number(request.POST.get("revision", "")) or 0
        return edit_validator(validator=row, draft=form.draft(), revision=revision, by=request.actor)
    except IntegrityError:
        form.add_error("name", _("Another validator has this name."))
    except StaleEdit as refusal:
        form.add_error(None, str(refusal))
    return None


@require_POST
@workspace_page("edit_validator")
def switch(request: PageRequest, uuid: UUID) -> HttpResponse:
    """On or off."""
    row = get_object_or_404(Validator, workspace=request.workspace, uuid=uuid)
    set_validator_enabled(validator=row, is_enabled=request.POST.get("to") == "on", by=request.actor)
    messages.success(request, _("It is on.") if row.is_enabled else _("It is off. What it found stays."))
    return redirect("validator", request.workspace.slug, uuid)
