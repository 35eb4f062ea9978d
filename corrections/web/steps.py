"""The steps in a rule's life, as POST forms."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from corrections.actions import rules as actions
from corrections.domain.lifecycle import Refused
from corrections.models import ChangeRequest
from corrections.queries.rules import get_version
from corrections.web.forms.basics import ReasonForm, RollbackForm
from corrections.web.sessions import find_rule
from hgmem.rules import RuleError
from memory.domain.lifecycle import TransitionError
from memory.web.access import workspace_page


@require_POST
@workspace_page("draft_rule")
def rule_activate(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """Serve the latest version from now on."""
    return _step(request, uuid, "activate", _("The rule is active: agents are served it from now on."))


@require_POST
@workspace_page("draft_rule")
def rule_disable(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """Stop serving a rule."""
    return _step(request, uuid, "disable", _("The rule is disabled: agents are no longer served it."))


@require_POST
@workspace_page("draft_rule")
def rule_retire(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """End a rule for good."""
    return _step(request, uuid, "retire", _("The rule is retired. Its history stays."))


@require_POST
@workspace_page("draft_rule")
def rule_delete(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """Take a rule out of the lists."""
    return _step(request, uuid, "delete", _("The rule is deleted. Its history stays."))


@require_POST
@workspace_page("draft_rule")
def rule_roll_back(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """Write an old version as the next one."""
    rule, form = find_rule(request, uuid), RollbackForm(request.POST)
    if not form.is_valid() or get_version(rule, form.cleaned_data["to_version"]) is None:
        messages.error(request, _("There is no such version."))
        return redirect("rule", request.workspace.slug, uuid)
    try:
        rule = actions.roll_back_rule(rule=rule, by=request.actor, **form.cleaned_data)
        number = rule.latest_version.number if rule.latest_version else 0
        messages.success(request, _("Version %(number)s says what it said then.") % {"number": number})
    except (Refused, actions.StaleEdit, RuleError, TransitionError) as refusal:
        messages.error(request, str(refusal))
    return redirect("rule", request.workspace.slug, uuid)


def _step(request: HttpRequest, uuid: UUID, step: str, done: str) -> HttpResponse:
    rule, form = find_rule(request, uuid), ReasonForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("The reason is too long."))
        return redirect("rule", request.workspace.slug, uuid)
    try:
        change = actions.take_step(rule=rule, step=step, by=request.actor, reason=form.cleaned_data["reason"])
    except (Refused, RuleError, TransitionError) as refusal:
        messages.error(request, str(refusal))
        return redirect("rule", request.workspace.slug, uuid)
    return told(request, change, done)


def told(request: HttpRequest, change: ChangeRequest, done: str) -> HttpResponse:
    """To the rule when the step was taken; to the change request when that waits, with a word about it."""
    if change.status == "published" and change.rule is not None:
        messages.success(request, done)
        return redirect("rule", request.workspace.slug, change.rule.uuid)
    if change.status == "approved":
        messages.info(request, _("It is approved and waits for its time."))
    else:
        messages.info(request, _("This waits for approval: nothing that agents are served has changed."))
    return redirect("change", request.workspace.slug, change.uuid)
