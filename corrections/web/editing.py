"""Writing a rule: a new one, the next version of one, the live check beside it."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from corrections.actions.proposals import accept_proposal
from corrections.actions.rules import StaleEdit, draft_rule, edit_rule, take_step
from corrections.domain.lifecycle import LIVE, Refused, check_step
from corrections.models import Rule
from corrections.queries.dependencies import dependents_of
from corrections.queries.rules import patterns_of
from corrections.web.checking import check_editor
from corrections.web.reference import REFERENCE
from corrections.web.sessions import (
    Session,
    as_uuid,
    compare_with_latest,
    failing_calls,
    find_rule,
    offered_patterns,
    open_session,
    proposal_of,
    read_session,
)
from corrections.web.simulator import simulate_draft
from corrections.web.steps import told
from hgmem.rules import RuleError
from memory.domain.access import NotPermitted
from memory.domain.lifecycle import TransitionError
from memory.web.access import workspace_page

FORM_STEPS = ("check", "change", "add-operation", "remove-operation", "as-json", "as-form")


@require_http_methods(["GET", "POST"])
@workspace_page("draft_rule")
def rule_new(request: HttpRequest) -> HttpResponse:
    """Write a new rule."""
    return _edit(request, None)


@require_http_methods(["GET", "POST"])
@workspace_page("draft_rule")
def rule_edit(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """Write the next version of a rule."""
    rule = find_rule(request, uuid)
    try:
        check_step(rule.status, "edit")
    except Refused as refusal:
        messages.error(request, str(refusal))
        return redirect("rule", request.workspace.slug, uuid)
    return _edit(request, rule)


@require_POST
@workspace_page("draft_rule")
def rule_check(request: HttpRequest) -> HttpResponse:
    """What the engine says about what was typed: the panel alone for htmx, the whole editor otherwise."""
    uuid = as_uuid(request.POST.get("rule", ""))
    session = read_session(request, find_rule(request, uuid) if uuid else None, "check")
    if not request.htmx:
        return _show(request, session)
    panel = check_editor(session.editor, session.patterns, now=timezone.now(), by=request.actor)
    return render(request, "rules/check.html", {"panel": panel})


def _edit(request: HttpRequest, rule: Rule | None) -> HttpResponse:
    if request.method == "GET":
        return _show(request, open_session(request, rule))
    step = request.POST.get("do", "check")
    session = read_session(request, rule, step)
    if step == "simulate":
        return _simulate(request, session)
    if step.startswith(FORM_STEPS):
        return _show(request, session)
    return _save(request, session, activate=step == "activate")


def _save(request: HttpRequest, session: Session, *, activate: bool) -> HttpResponse:
    """Save what was typed; whatever refuses it is said on the page, and the text stays."""
    try:
        rule = _write(request, session)
    except RuleError as error:
        session.editor.say(error)
        return _show(request, session, status=422)
    except StaleEdit as error:
        session.problem = str(error)
        compare_with_latest(session)
        return _show(request, session, status=409)
    except Refused as refusal:
        session.problem = str(refusal)
        return _show(request, session, status=409)
    _say_what_happened(request, session, rule, activate=activate)
    if activate and not (session.rule is None and rule.status in LIVE):
        return _activate(request, rule)
    return redirect("rule", request.workspace.slug, rule.uuid)


def _write(request: HttpRequest, session: Session) -> Rule:
    document, actor = session.editor.document(), request.actor
    proposal = proposal_of(request) if session.rule is None else None
    if proposal is not None:
        return accept_proposal(proposal=proposal, document=document, by=actor, note=session.note).rule
    if session.rule is None:
        return draft_rule(
            workspace_id=request.workspace.pk, document=document, by=actor, pattern_uuids=session.patterns,
            note=session.note,
        )  # fmt: skip
    linked = {pattern.uuid for pattern in patterns_of(session.rule)}
    ticked = None if linked == set(session.patterns) else session.patterns
    return edit_rule(
        rule=session.rule, document=document, base_version=session.base_version, by=actor, note=session.note,
        pattern_uuids=ticked,
    )  # fmt: skip


def _say_what_happened(request: HttpRequest, session: Session, rule: Rule, *, activate: bool) -> None:
    number = rule.latest_version.number if rule.latest_version else 0
    if session.rule is None and rule.status == "active":
        messages.success(request, _("The rule is active: agents are served it from now on."))
    elif session.rule is None and rule.status == "canary":
        messages.success(request, _("The rule is on trial: its canary says how it does."))
    elif session.rule is None and activate:
        messages.success(request, _("The rule is saved."))
    elif session.rule is None:
        messages.success(request, _("The rule is saved as a draft. Agents are not served it yet."))
    elif number == session.base_version:
        messages.info(request, _("The document is the same as before: no new version was written."))
    else:
        messages.success(request, _("Version %(number)s is saved.") % {"number": number})


def _activate(request: HttpRequest, rule: Rule) -> HttpResponse:
    try:
        change = take_step(
            rule=rule, step="activate", by=request.actor, reason=request.POST.get("note", "")[:500]
        )
    except (NotPermitted, Refused, RuleError, TransitionError) as refusal:
        messages.error(request, _("It is saved, but not active: %(why)s") % {"why": refusal})
        return redirect("rule", request.workspace.slug, rule.uuid)
    return told(request, change, _("The rule is active: agents are served it from now on."))


def _simulate(request: HttpRequest, session: Session) -> HttpResponse:
    try:
        document = session.editor.document()
    except RuleError as error:
        session.editor.say(error)
        return _show(request, session, status=422)
    calls = failing_calls(session, request.workspace.pk)
    return simulate_draft(request, document, session.rule, calls[0] if calls else None)


def _show(request: HttpRequest, session: Session, *, status: int = 200) -> HttpResponse:
    rule, workspace = session.rule, request.workspace
    context = {
        "title": _("Edit %(name)s") % {"name": rule.name} if rule else _("New rule"),
        "session": session,
        "form_url": _form_url(request, rule),
        "editor": session.editor,
        "panel": check_editor(session.editor, session.patterns, now=timezone.now(), by=request.actor),
        "offered": offered_patterns(session, workspace.pk),
        "failing": failing_calls(session, workspace.pk),
        "reference": REFERENCE,
        "dependents": dependents_of(rule, now=timezone.now(), looked_at=0) if rule else [],
    }
    return render(request, "rules/edit.html", context, status=status)


def _form_url(request: HttpRequest, rule: Rule | None) -> str:
    slug = request.workspace.slug
    if rule is not None:
        return reverse("rule-edit", args=[slug, rule.uuid])
    proposal = proposal_of(request)
    return reverse("rule-new", args=[slug]) + (f"?proposal={proposal.uuid}" if proposal else "")
