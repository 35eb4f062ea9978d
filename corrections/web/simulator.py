"""The simulator: what would agents be told about this call, and why, or why not."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from corrections.actions.trying import simulate
from corrections.models import Rule
from corrections.queries.rules import document_of, get_rule, list_drafts
from corrections.web.editor import pretty_json
from corrections.web.forms.simulating import PickForm, QuestionForm
from corrections.web.simulations import Simulation, readable
from hgmem.rules import RuleError
from memory.queries.contexts import call_context
from memory.queries.evidence import RecordedCall, list_failing_calls
from memory.web.access import workspace_page

RECENT = 12
EXAMPLE = {"tool": "weather_api", "input": {"city": ""}, "task": {"goal": "Weather for the trip"}, "env": {}}


@dataclass
class Question:
    """What is asked: a context, the rules to try beside the live ones, and what stands in the forms."""

    pick: PickForm
    form: QuestionForm
    context: dict[str, Any] | None = None
    documents: list[Any] | None = None
    problem: str = ""
    shared: bool = False


@require_http_methods(["GET", "POST"])
@workspace_page("look")
def simulator(request: HttpRequest) -> HttpResponse:
    """Ask about a recorded call (its address can be shared) or about a pasted one."""
    question = _pasted(request) if request.method == "POST" else _picked(request)
    return _show(request, question)


def simulate_draft(
    request: HttpRequest, document: Mapping[str, Any], rule: Rule | None, call: RecordedCall | None
) -> HttpResponse:
    """The simulator with a rule that is being written, asked about a failing call of its pattern."""
    known = {**document, "uuid": str(rule.uuid)} if rule else dict(document)
    context = call.context if call else EXAMPLE
    texts = {"context": pretty_json(context), "document": pretty_json(known)}
    question = Question(PickForm(), QuestionForm(texts), context if call else None, [known])
    return _show(request, question)


def _picked(request: HttpRequest) -> Question:
    pick = PickForm(request.GET or None)
    question = Question(pick, QuestionForm(initial={"context": pretty_json(EXAMPLE)}))
    if not pick.is_valid():
        question.problem = _("This address names no recorded call.") if pick.is_bound else ""
        return question
    chosen = pick.cleaned_data
    if chosen["rule"]:
        rule = get_rule(workspace_id=request.workspace.pk, uuid=chosen["rule"])
        question.documents = [{**document_of(rule), "uuid": str(rule.uuid)}] if rule else None
        question.problem = "" if rule else _("There is no such rule.")
    if chosen["task"] and chosen["seq"] is not None:
        question.context = _recorded(request, chosen)
        question.problem = question.problem if question.context else _("There is no such recorded call.")
        question.shared = question.context is not None
    question.form = QuestionForm(initial=_texts(question))
    return question


def _recorded(request: HttpRequest, chosen: Mapping[str, Any]) -> dict[str, Any] | None:
    context = call_context(
        workspace_id=request.workspace.pk, task_uuid=chosen["task"], seq=chosen["seq"],
        after=chosen["point"] == "after",
    )  # fmt: skip
    return context and context | {"point": chosen["point"] or "before"}


def _texts(question: Question) -> dict[str, str]:
    documents = question.documents
    return {
        "context": pretty_json(question.context or EXAMPLE),
        "document": pretty_json(documents[0]) if documents else "",
    }


def _pasted(request: HttpRequest) -> Question:
    form = QuestionForm(request.POST)
    question = Question(PickForm(), form)
    if form.is_valid():
        document = form.cleaned_data["document"]
        question.context = form.cleaned_data["context"]
        question.documents = document if isinstance(document, list) or document is None else [document]
        question.problem = "" if question.context is not None else _("Paste a call, or pick a recorded one.")
    return question


def _show(request: HttpRequest, question: Question) -> HttpResponse:
    result = _answer(request, question)
    workspace_id = request.workspace.pk
    context = {
        "title": _("Simulator"),
        "question": question,
        "result": result,
        "recent": list_failing_calls(workspace_id=workspace_id, limit=RECENT),
        "drafts": list_drafts(workspace_id=workspace_id),
    }
    return render(request, "simulator/simulator.html", context, status=422 if _is_wrong(question) else 200)


def _is_wrong(question: Question) -> bool:
    return bool(question.form.is_bound and (question.form.errors or question.problem))


def _answer(request: HttpRequest, question: Question) -> Simulation | None:
    if question.context is None or question.problem:
        return None
    try:
        answer = simulate(
            context=question.context, now=timezone.now(), by=request.actor, documents=question.documents,
            with_live=True,
        )  # fmt: skip
    except RuleError as error:
        question.problem = str(error)
        return None
    return readable(answer, question.context, workspace_id=request.workspace.pk)
