"""Editing a proposal: as JSON, or step by step with buttons; checked while it is typed."""

import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from memory.actions.rewrites import edit_rewrite
from memory.domain.paths.document import NodeDoc, PathDoc
from memory.domain.rewriting.editing import blank_rewrite, insert_node, move_node, remove_node
from memory.domain.rewriting.proposal import (
    InvalidRewriteError,
    Rewrite,
    apply,
    read_rewrite,
    validate,
    write_rewrite,
)
from memory.models import RewriteProposal
from memory.queries.path_documents import read_path
from memory.web.access import PageRequest, workspace_page
from memory.web.path_comparing import compare_paths
from memory.web.path_steps import step_rows
from memory.web.path_words import KINDS, kind_words
from memory.web.rewrite_forms import RevisionForm
from memory.web.rewrites import proposal_of

MAX_DOCUMENT = 1_000_000


class DocumentForm(forms.Form):
    """The document as text."""

    document = forms.CharField(
        label=gettext_lazy("The rewrite as JSON"),
        widget=forms.Textarea({"rows": 24, "class": "code", "spellcheck": "false"}),
        help_text=gettext_lazy(
            "A bare name in new_nodes is the old path's step of that name; an object is a new step."
        ),
    )
    revision = forms.IntegerField(widget=forms.HiddenInput)


class StepForm(forms.Form):
    """A step to put in."""

    kind = forms.ChoiceField(label=gettext_lazy("Kind"), choices=list(KINDS.items()))
    tool = forms.CharField(label=gettext_lazy("Tool"), required=False, max_length=200)
    content = forms.CharField(label=gettext_lazy("What happens"), required=False, max_length=2_000)
    after = forms.IntegerField(
        label=gettext_lazy("After step"), required=False, min_value=0, max_value=10_000
    )


@dataclass
class Draft:
    """What is being edited: the text, and the rewrite that it says, or the problems by field."""

    text: str
    rewrite: Rewrite | None
    problems: dict[str, str]


@require_http_methods(["GET", "HEAD", "POST"])
@workspace_page("review_rewrite")
def edit(request: PageRequest, uuid: UUID) -> HttpResponse:
    """Change what is proposed; a button checks it, changes a step, or saves."""
    proposal = proposal_of(request, uuid)
    old, do = read_path(proposal.path), request.POST.get("do", "")
    steps = StepForm(request.POST if do == "insert" else None)
    draft = first_draft(proposal, old)
    if request.method == "POST":
        draft = changed(read_draft(request.POST.get("document", ""), old), do, steps, old)
        if do == "save" and saved(request, proposal, draft):
            return redirect("rewrite", request.workspace.slug, uuid)
    context: dict[str, Any] = {"title": _("Edit the rewrite"), "proposal": proposal, "draft": draft}
    initial = {"document": draft.text, "revision": seen_revision(request, proposal)}
    context |= {"form": DocumentForm(initial=initial), "step_form": steps, "old": old} | preview(draft, old)
    return render(request, "rewrites/edit.html", context)


def seen_revision(request: PageRequest, proposal: RewriteProposal) -> int:
    """The revision that the person started from."""
    form = RevisionForm(request.POST)
    return form.cleaned_data["revision"] if form.is_valid() else proposal.revision


def first_draft(proposal: RewriteProposal, old: PathDoc) -> Draft:
    """What is proposed now; the path as it is where nothing is."""
    document = proposal.edited or proposal.proposal
    if document is None:
        reason = str(proposal.request.get("reason", ""))
        document = write_rewrite(blank_rewrite([node.name for node in old.nodes], old.edges, reason))
    return read_draft(json.dumps(document, indent=2, ensure_ascii=False), old)


def read_draft(text: str, old: PathDoc) -> Draft:
    """The rewrite that a text says, or why it says none."""
    if len(text) > MAX_DOCUMENT:
        return Draft(text, None, {"JSON": _("At most 1,000,000 characters.")})
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        return Draft(text, None, {"JSON": str(error)[:300]})
    if not isinstance(document, dict):
        return Draft(text, None, {"JSON": _("Write an object with new_nodes and a reason.")})
    try:
        rewrite = read_rewrite(document)
        validate(old, rewrite)
    except InvalidRewriteError as error:
        return Draft(text, None, error.problems)
    return Draft(text, rewrite, {})


def changed(draft: Draft, do: str, steps: StepForm, old: PathDoc) -> Draft:
    """The draft after a button: ``up:2``, ``down:2``, ``remove:2``, ``insert``; any other changes nothing."""
    name, _colon, number = do.partition(":")
    place = int(number) if number.isdecimal() and len(number) < 6 else -1
    if draft.rewrite is None:
        return draft
    try:
        if name in ("up", "down"):
            made = move_node(draft.rewrite, place, -1 if name == "up" else 1)
        elif name == "remove":
            made = remove_node(draft.rewrite, place)
        elif name == "insert" and steps.is_valid():
            made = insert_node(draft.rewrite, (steps.cleaned_data["after"] or 0) - 1, new_step(steps))
        else:
            return draft
    except IndexError as error:
        return Draft(draft.text, None, {"step": str(error)})
    return read_draft(json.dumps(write_rewrite(made), indent=2, ensure_ascii=False), old)


def new_step(steps: StepForm) -> NodeDoc:
    """The step that the form describes; its name comes from its tool or its kind."""
    said = steps.cleaned_data
    name = (said["tool"] or said["kind"])[:100]
    return NodeDoc(name=name, kind=said["kind"], tool=said["tool"], content=said["content"])


def saved(request: PageRequest, proposal: RewriteProposal, draft: Draft) -> bool:
    """Whether the action took it; if not, the reason is among the messages."""
    if draft.rewrite is None:
        messages.error(request, _("It is not saved: see what is wrong with it."))
        return False
    try:
        document, revision = write_rewrite(draft.rewrite), seen_revision(request, proposal)
        edit_rewrite(proposal=proposal, document=document, revision=revision, by=request.actor)
    except ValueError as refusal:
        messages.error(request, str(refusal))
        return False
    messages.success(request, _("The edited rewrite is saved. It still has to be approved."))
    return True


def preview(draft: Draft, old: PathDoc) -> dict[str, Any]:
    """The steps, each with whether it is new, and what changes, for the live check."""
    if draft.rewrite is None:
        return {"compared": None, "steps": []}
    new = apply(old, draft.rewrite)
    own = [isinstance(entry, NodeDoc) for entry in draft.rewrite.new_nodes]
    steps = zip(step_rows(new, words=kind_words()), own, strict=True)
    return {"compared": compare_paths(old, new), "steps": list(steps)}
