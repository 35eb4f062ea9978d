"""The review inbox: the list of everything that waits, and one item after another."""

from collections.abc import Callable
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from corrections.actions.deciding import comment_on_change
from corrections.actions.inbox import assign_items, comment_on_item
from corrections.actions.inbox_decisions import VERBS, verbs_of
from corrections.queries.inbox import (
    InboxFilters,
    comments_on,
    count_items,
    find_decided,
    find_item,
    list_items,
    next_item,
    place_of,
    previous_item,
)
from corrections.queries.inbox_kinds import Item
from corrections.web.forms.reviewing import AssignForm, CommentForm, InboxFilterForm
from corrections.web.inbox_words import OWN_PAGES, list_keys, shown_item
from memory.domain.access import may
from memory.queries.members import list_members
from memory.web.access import PageRequest, workspace_page

UNDO_KEY = "inbox_last_decision"
"""Where a session keeps what was decided last."""


@require_GET
@workspace_page("look")
def inbox(request: PageRequest) -> HttpResponse:
    """Everything that waits for a person, newest first."""
    form = InboxFilterForm(request.GET)
    filters = form.filters(request.actor.uuid)
    page = list_items(request.workspace.pk, filters, request.GET.get("cursor", ""))
    may_sort = may(request.actor, "sort_inbox")
    context = {
        "title": _("Review inbox"), "form": form, "page": page, "counts": count_items(request.workspace.pk),
        "is_filtered": form.is_narrowed(), "may_sort": may_sort,
        "page_keys": list_keys() if may_sort else [], "query": narrowing(request),
        "undoable": request.session.get(UNDO_KEY),
        "may_decide": any(VERBS.get(item.kind) for item in page.rows),
    }  # fmt: skip
    return render(request, "inbox/list.html", context)


@require_GET
@workspace_page("look")
def inbox_item(request: PageRequest, kind: str, uuid: UUID) -> HttpResponse:
    """One item with what is needed to decide on it; one that is decided leads to its own page."""
    here = request.workspace.pk
    if find_item(here, kind, uuid) is None and find_decided(here, kind, uuid) is not None:
        messages.info(request, _("Nothing waits here any more: somebody decided, or it decided itself."))
        return redirect(OWN_PAGES[kind], request.workspace.slug, uuid)
    return show_item(request, item_of(request, kind, uuid))


def show_item(request: PageRequest, item: Item, status: int = 200) -> HttpResponse:
    """The page of an item."""
    filters, place = filters_of(request), place_of(item)
    context = {
        "title": item.brief.title, "item": item, "query": narrowing(request), "verbs": verbs_of(item),
        "following": next_item(request.workspace.pk, filters, place),
        "preceding": previous_item(request.workspace.pk, filters, place),
        "comments": comments_on(request.workspace.pk, item),
        "members": list_members(request.workspace), "may_sort": may(request.actor, "sort_inbox"),
        "undoable": request.session.get(UNDO_KEY), **shown_item(request, item),
    }  # fmt: skip
    return render(request, "inbox/item.html", context, status=status)


def item_of(request: PageRequest, kind: str, uuid: UUID) -> Item:
    """The item that still waits, or 404."""
    item = find_item(request.workspace.pk, kind, uuid)
    if item is None:
        raise Http404(_("Nothing of this kind waits here: it may have been decided meanwhile."))
    return item


def filters_of(request: PageRequest) -> InboxFilters:
    """What the reader narrowed the inbox to: it goes along from item to item in the address."""
    return InboxFilterForm(request.GET).filters(request.actor.uuid)


def narrowing(request: PageRequest) -> str:
    """The narrowing as a query text, "" for none."""
    kept = request.GET.copy()
    for name in list(kept):
        if name not in InboxFilterForm.base_fields or not kept[name]:
            del kept[name]
    return f"?{kept.urlencode()}" if kept else ""


def item_url(request: PageRequest, item: Item) -> str:
    """Where an item is, within the reader's narrowing."""
    address = reverse("inbox-item", args=[request.workspace.slug, item.kind, item.uuid])
    return address + narrowing(request)


@require_POST
@workspace_page("sort_inbox")
def inbox_comment(request: PageRequest, kind: str, uuid: UUID) -> HttpResponse:
    """Say something about an item."""
    item, form = item_of(request, kind, uuid), CommentForm(request.POST)
    if not form.is_valid():
        messages.error(request, form.errors["text"][0])
        return show_item(request, item, 422)

    text, by = form.cleaned_data["text"], request.actor

    def say() -> None:
        if kind == "change":
            comment_on_change(change=item.row, text=text, by=by)
        else:
            comment_on_item(item=item, workspace_id=request.workspace.pk, text=text, by=by)

    return _done(request, item, say, _("The comment is kept."))


@require_POST
@workspace_page("sort_inbox")
def inbox_assign(request: PageRequest, kind: str, uuid: UUID) -> HttpResponse:
    """Give an item to a member, or to nobody."""
    item, form = item_of(request, kind, uuid), AssignForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Choose a member."))
        return show_item(request, item, 422)
    assignee = form.cleaned_data["assignee"]

    def give() -> None:
        assign_items(
            workspace_id=request.workspace.pk, chosen=[(kind, uuid)], assignee=assignee, by=request.actor
        )

    return _done(request, item, give, _("It is given to nobody.") if assignee is None else _("It is given."))


def _done(request: PageRequest, item: Item, act: Callable[[], None], said: str) -> HttpResponse:
    try:
        act()
    except ValueError as refusal:  # every refusal of these actions is one, with a sentence
        messages.error(request, str(refusal))
        return show_item(request, item, 422)
    messages.success(request, said)
    return redirect(item_url(request, item))
