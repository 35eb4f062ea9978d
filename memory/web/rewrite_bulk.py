"""Several proposals decided together: chosen in the list, confirmed on a page of their own."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from memory.actions.rewrites import approve_rewrite, reject_rewrite
from memory.models import RewriteProposal
from memory.queries.reviewing import MAX_CHOSEN, chosen_rewrites
from memory.web.access import PageRequest, workspace_page

DECISIONS = ("approve", "reject")


@require_http_methods(["GET", "POST"])
@workspace_page("review_rewrite")
def decide(request: PageRequest) -> HttpResponse:
    """GET shows the chosen proposals and asks; POST decides each by itself and says what became of it."""
    asked = request.POST if request.method == "POST" else request.GET
    do, seen = asked.get("do", ""), revisions(asked)
    rows = chosen_rewrites(request.workspace.pk, seen)
    if do not in DECISIONS or not rows:
        messages.error(request, _("Choose at least one rewrite."))
        return redirect("rewrites", request.workspace.slug)
    reason = asked.get("reason", "").strip()
    if request.method == "POST" and (reason or do == "approve"):
        report(request, do, len(rows), decide_all(request, do, rows, seen, reason))
        return redirect("rewrites", request.workspace.slug)
    if request.method == "POST":
        messages.error(request, _("Say why the rewrites are rejected."))
    context: dict[str, Any] = {"title": title_of(do), "rows": rows, "do": do, "most": MAX_CHOSEN}
    return render(request, "rewrites/decide_all.html", context)


def title_of(do: str) -> str:
    """What is asked."""
    return _("Approve these rewrites?") if do == "approve" else _("Reject these rewrites?")


def revisions(asked: QueryDict) -> dict[UUID, int | None]:
    """The chosen proposals, ``uuid`` or ``uuid:revision``, with the revision that was seen."""
    found: dict[UUID, int | None] = {}
    for text in asked.getlist("rewrite")[:MAX_CHOSEN]:
        name, _colon, number = text.partition(":")
        try:
            found[UUID(name)] = int(number) if number.isdecimal() and len(number) < 10 else None
        except ValueError:
            continue
    return found


def decide_all(
    request: PageRequest, do: str, rows: list[RewriteProposal], seen: dict[UUID, int | None], reason: str
) -> list[str]:
    """Decide each in a transaction of its own; the refusals, with the path each is about."""
    refused = []
    for proposal in rows:
        given = {"proposal": proposal, "by": request.actor, "revision": seen[proposal.uuid]}
        try:
            if do == "approve":
                approve_rewrite(**given, reason=reason)
            else:
                reject_rewrite(**given, reason=reason)
        except ValueError as refusal:  # every refusal of these actions is one, with a sentence
            refused.append(f"{proposal.path.key}: {refusal}")
    return refused


def report(request: PageRequest, do: str, count: int, refused: list[str]) -> None:
    """Say how many were decided, and each that was not with its reason."""
    done = count - len(refused)
    if do == "approve":
        said = ngettext("%(n)d rewrite is approved.", "%(n)d rewrites are approved.", done)
    else:
        said = ngettext("%(n)d rewrite is rejected.", "%(n)d rewrites are rejected.", done)
    if done:
        messages.success(request, said % {"n": done})
    for text in refused:
        messages.error(request, text[:600])
