"""Decisions in the review inbox: on one item, and on several that were chosen."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from corrections.actions.inbox import MAX_CHOSEN
from corrections.actions.inbox_decisions import (
    UNDO,
    Refusal,
    decide_item,
    decide_items,
    undo_decision,
    verbs_of,
)
from corrections.domain.lifecycle import ReasonMissing
from corrections.queries.inbox import find_decided, find_items, next_item, place_of
from corrections.queries.inbox_kinds import KINDS, Item
from corrections.web.forms.reviewing import DecideForm
from corrections.web.inbox import UNDO_KEY, filters_of, item_of, item_url, narrowing, show_item
from memory.domain.access import NotPermitted
from memory.web.access import PageRequest, workspace_page

DECISIONS = ("approve", "reject")


@require_POST
@workspace_page("sort_inbox")
def inbox_decide_one(request: PageRequest, kind: str, uuid: UUID) -> HttpResponse:
    """Decide on one item, then on to the next."""
    item, form = item_of(request, kind, uuid), DecideForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("The decision could not be read."))
        return show_item(request, item, 422)
    place = place_of(item)
    try:
        decide_item(item=item, by=request.actor, **form.cleaned_data)
    except (ValueError, NotPermitted) as refusal:
        messages.error(request, str(refusal))
        return show_item(request, item_of(request, kind, uuid), 409)
    messages.success(request, said_of(form.cleaned_data["do"], 1))
    remember(request, form.cleaned_data["do"], [item])
    following = next_item(request.workspace.pk, filters_of(request), place)
    return redirect(item_url(request, following) if following else inbox_url(request))


@require_http_methods(["GET", "POST"])
@workspace_page("sort_inbox")
def inbox_decide(request: PageRequest) -> HttpResponse:
    """GET shows the chosen items and asks; POST decides on each by itself and says what became of it."""
    asked = request.POST if request.method == "POST" else request.GET
    do, seen = asked.get("do", ""), chosen_items(asked)
    found = find_items(request.workspace.pk, list(seen))
    items = [item for item in found if do in verbs_of(item)]
    if do not in DECISIONS or not items:
        messages.error(request, _("Choose at least one item that can be decided in this way."))
        return redirect(inbox_url(request))
    if request.method == "POST":
        try:
            decide_chosen(request, do, [(item, seen[item.kind, item.uuid]) for item in items])
            return redirect(inbox_url(request))
        except ReasonMissing as refusal:
            messages.error(request, str(refusal))
    context = {"title": title_of(do), "items": items, "do": do, "left_out": len(seen) - len(items),
               "query": narrowing(request)}  # fmt: skip
    return render(request, "inbox/decide.html", context)


def decide_chosen(request: PageRequest, do: str, chosen: list[tuple[Item, int | None]]) -> None:
    """Decide on each item in the revision that was seen, and say what became of it.

    Raises ReasonMissing when no reason is given; then nothing is decided.
    """
    reason = request.POST.get("reason", "")
    refused = decide_items(items=chosen, do=do, by=request.actor, reason=reason)
    report(request, do, len(chosen), refused)
    left = {refusal.item.uuid for refusal in refused}
    remember(request, do, [item for item, _seen in chosen if item.uuid not in left])


@require_POST
@workspace_page("sort_inbox")
def inbox_undo(request: PageRequest) -> HttpResponse:
    """Take back the last decision, as far as it has a way back."""
    last = request.session.pop(UNDO_KEY, None) or {}
    done = 0
    for kind, uuid in last.get("items", ()) if last.get("workspace") == request.workspace.slug else ():
        row = find_decided(request.workspace.pk, kind, UUID(uuid))
        try:
            if row is not None:
                undo_decision(kind=kind, do=last["do"], row=row, by=request.actor)
                done += 1
        except (ValueError, NotPermitted) as refusal:
            messages.error(request, f"{row}: {refusal}"[:500])
    if done:
        said = ngettext("%(n)d decision is taken back.", "%(n)d decisions are taken back.", done)
        messages.success(request, said % {"n": done})
    elif not last:
        messages.error(request, _("There is no decision to take back."))
    return redirect(inbox_url(request))


def remember(request: PageRequest, do: str, items: list[Item]) -> None:
    """What was decided last, so that it can be taken back."""
    able = [[item.kind, str(item.uuid)] for item in items if (item.kind, do) in UNDO]
    request.session[UNDO_KEY] = (
        {"workspace": request.workspace.slug, "do": do, "items": able} if able else None
    )


def chosen_items(asked: QueryDict) -> dict[tuple[str, UUID], int | None]:
    """The chosen items, ``kind:uuid`` or ``kind:uuid:revision``, with the revision that was seen."""
    found: dict[tuple[str, UUID], int | None] = {}
    for text in asked.getlist("item")[:MAX_CHOSEN]:
        kind, _colon, rest = text.partition(":")
        name, _colon, number = rest.partition(":")
        try:
            place = (kind, UUID(name))
        except ValueError:
            continue
        if kind in KINDS:
            found[place] = int(number) if number.isdecimal() and len(number) < 10 else None
    return found


def inbox_url(request: PageRequest) -> str:
    """The list, narrowed as it was."""
    return reverse("inbox", args=[request.workspace.slug]) + narrowing(request)


def title_of(do: str) -> str:
    """What is asked."""
    return _("Approve these?") if do == "approve" else _("Reject these?")


def said_of(do: str, n: int) -> str:
    """What was done, in a sentence."""
    if do == "approve":
        return ngettext("%(n)d item is approved.", "%(n)d items are approved.", n) % {"n": n}
    return ngettext("%(n)d item is rejected or closed.", "%(n)d items are rejected or closed.", n) % {"n": n}


def report(request: PageRequest, do: str, count: int, refused: list[Refusal]) -> None:
    """Say how many were decided, and each that was not with its reason."""
    if count > len(refused):
        messages.success(request, said_of(do, count - len(refused)))
    for refusal in refused:
        messages.error(request, f"{refusal.item.brief.title[:120]}: {refusal.why[:400]}")
