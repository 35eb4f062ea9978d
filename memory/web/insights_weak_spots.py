"""Weak spots: error patterns that hang together, drawn and listed."""

from typing import Any

from django import forms
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET

from memory.domain.graphs.pictures import picture_of_graph
from memory.domain.graphs.weak_spots import QUIET
from memory.models import WeakSpot, WeakSpotMember
from memory.queries.tools import list_tool_names
from memory.queries.weak_spots import (
    DRAWN_PATTERNS,
    SpotFilters,
    graph_of_spots,
    last_scan,
    list_spots,
    members_of,
)
from memory.web.access import PageRequest, workspace_page
from memory.web.drawing import Drawing, draw

BONDS = {
    "burst": gettext_lazy("burst together"),
}

KINDS = {"action": gettext_lazy("tool"), "event": gettext_lazy("error pattern")}


class SpotForm(forms.Form):
    """Narrows the list."""

    status = forms.ChoiceField(
        label=gettext_lazy("Status"), required=False,
        choices=[("open", gettext_lazy("open")), ("resolved", gettext_lazy("resolved"))],
    )  # fmt: skip
    tools = forms.ChoiceField(
        label=gettext_lazy("Tools"), required=False,
        choices=[("", gettext_lazy("several")), ("any", gettext_lazy("one is enough"))],
    )  # fmt: skip
    tool = forms.CharField(
        label=gettext_lazy("With the tool"), required=False, max_length=200,
        widget=forms.TextInput({"list": "known-tools"}),
    )  # fmt: skip

    def filters(self) -> SpotFilters:
        """What was understood."""
        self.is_valid()
        known = self.cleaned_data
        return SpotFilters(
            status=known.get("status") or "open",
            any_tools=known.get("tools") == "any",
            tool=known.get("tool") or "",
        )


@require_GET
@workspace_page("look")
def weak_spots(request: PageRequest) -> HttpResponse:
    """Where one cause may be behind the errors of several tools."""
    form, workspace = SpotForm(request.GET), request.workspace.pk
    page = list_spots(workspace, form.filters(), request.GET.get("cursor", ""))
    members = members_of(page.rows, most=DRAWN_PATTERNS)
    context: dict[str, Any] = {"title": _("Weak spots"), "span": None, "spans": (), "form": form}
    context |= {"page": page, "spots": [(spot, members[spot.pk]) for spot in page.rows]}
    context |= {"scan": last_scan(workspace), "tools": list_tool_names(request.workspace)}
    context |= {"drawing": draw_spots(request, page.rows, members), "quiet_days": QUIET.days}
    context |= {"is_filtered": any(request.GET.get(name) for name in ("status", "tools", "tool"))}
    return render(request, "insights/weak_spots.html", context)


def draw_spots(
    request: PageRequest, spots: list[WeakSpot], members: dict[int, list[WeakSpotMember]]
) -> Drawing | None:
    """The spots with their patterns around the tools; None where there is nothing to draw."""
    graph, uuids = graph_of_spots(spots, members, {bond: str(word) for bond, word in BONDS.items()})
    if not graph.nodes:
        return None
    slug = request.workspace.slug
    links = {name: reverse("pattern", args=[slug, uuid]) for name, uuid in uuids.items()}
    return draw(picture_of_graph(graph), name="spots", title=_("Weak spots"), links=links, words=KINDS)
