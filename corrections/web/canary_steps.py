"""Steering a canary, and running a version in shadow, as POST forms."""

from collections.abc import Callable
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from corrections.actions import canaries as actions
from corrections.domain.lifecycle import ReasonMissing, Refused
from corrections.models import Canary
from corrections.queries.rules import get_version
from corrections.web.canaries import canary_of
from corrections.web.canary_buttons import WORDS
from corrections.web.forms.canaries import ShadowForm, SteerForm
from corrections.web.sessions import find_rule
from hgmem.rules import RuleError
from memory.domain.lifecycle import TransitionError
from memory.web.access import PageRequest, workspace_page

REFUSALS = (Refused, ReasonMissing, RuleError, TransitionError)
DO: dict[str, Callable[..., Canary]] = {
    "pause": actions.pause_canary,
    "resume": actions.resume_canary,
    "promote": actions.promote_canary,
    "roll_back": actions.roll_back_canary,
    "extend": actions.extend_canary,
    "end_holdout": actions.end_holdout,
    "set_share": actions.set_share,
    "stop_shadow": actions.stop_shadow,
}


@require_POST
@workspace_page("draft_rule")
def canary_steer(request: PageRequest, uuid: UUID) -> HttpResponse:
    """Take a step, with its reason. Each step has its own permission, which the action checks."""
    row, form = canary_of(request, uuid), SteerForm(request.POST)
    answer = redirect("canary", request.workspace.slug, uuid)
    if not form.is_valid():
        messages.error(request, next(iter(form.errors.values()))[0])
        return answer
    step = form.cleaned_data["step"]
    try:
        DO[step](canary=row, by=request.actor, **form.given())
        messages.success(request, WORDS[step].done)
    except REFUSALS as refusal:
        messages.error(request, str(refusal))
    return answer


@require_POST
@workspace_page("draft_rule")
def rule_shadow(request: PageRequest, uuid: UUID) -> HttpResponse:
    """Run a version in shadow, approved or not: it is watched and never acts."""
    rule, form = find_rule(request, uuid), ShadowForm(request.POST)
    version = get_version(rule, form.cleaned_data["version"]) if form.is_valid() else None
    if version is None:
        messages.error(request, _("Say why, and which version."))
        return redirect("rule", request.workspace.slug, uuid)
    reason = form.cleaned_data["reason"]
    try:
        canary = actions.start_shadow(rule=rule, version=version, by=request.actor, reason=reason)
    except REFUSALS as refusal:
        messages.error(request, str(refusal))
        return redirect("rule", request.workspace.slug, uuid)
    messages.success(request, _("It runs in shadow: what it would do is counted, and nothing is changed."))
    return redirect("canary", request.workspace.slug, canary.uuid)
