"""Dependencies: which rules need which, drawn and as a list; what people know of; who may break."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_POST

from corrections.actions.dependencies import MAX_REASON, add_dependency, remove_dependency
from corrections.domain.graphs.dependencies import Dependency
from corrections.domain.graphs.pictures import picture_of_rules
from corrections.domain.lifecycle import Refused
from corrections.models import Rule
from corrections.queries.dependencies import (
    LIVING,
    RuleGraph,
    dependents_of,
    get_manual,
    rule_graph,
)
from corrections.queries.rules import get_rule
from corrections.web.sessions import find_rule
from memory.domain.access import may
from memory.queries.tools import list_tool_names
from memory.web.access import PageRequest, workspace_page
from memory.web.drawing import Drawing, draw

LISTED = 50
CHOICES = 500
"""Rules that the form offers; others are named by their uuid."""


class DependencyFilterForm(forms.Form):
    """Narrows the graph."""

    tool = forms.CharField(label=gettext_lazy("Tool"), required=False, max_length=200)
    served = forms.BooleanField(label=gettext_lazy("Only rules that are served"), required=False)


class NewDependencyForm(forms.Form):
    """A dependency that somebody knows of."""

    rule = forms.UUIDField()
    depends_on = forms.UUIDField()
    reason = forms.CharField(max_length=MAX_REASON)


@dataclass(frozen=True)
class EdgeRow:
    """An edge with both rules; ``in_cycle`` when it is a part of a circle."""

    edge: Dependency
    provider: Rule
    dependent: Rule
    in_cycle: bool


@require_GET
@workspace_page("look")
def dependencies(request: PageRequest) -> HttpResponse:
    """The graph of the rules that need one another, and the same facts as a list, circles first."""
    form = DependencyFilterForm(request.GET)
    asked = form.cleaned_data if form.is_valid() else {}
    found = rule_graph(
        workspace_id=request.workspace.pk, tool=asked.get("tool", "").replace("\0", ""),
        served_only=asked.get("served", False),
    )  # fmt: skip
    context = {"title": _("Dependencies"), "form": form, "found": found, "is_filtered": any(asked.values())}
    context |= drawn(request, found) | listed(request, found)
    context |= {"tools": list_tool_names(request.workspace), "may_add": may(request.actor, "draft_rule")}
    return render(request, "dependencies/list.html", context)


def drawn(request: PageRequest, found: RuleGraph) -> dict[str, Any]:
    """The drawing, and how many rules are only in the list."""
    if not found.graph.rules:
        return {"drawing": None, "undrawn": 0}
    picture, undrawn = picture_of_rules(found.graph)
    links = {box.id: reverse("rule", args=[request.workspace.slug, box.id]) for box in picture.boxes}
    drawing: Drawing = draw(picture, name="rules", title=_("Rules that need one another"), links=links)
    return {"drawing": drawing, "undrawn": undrawn}


def listed(request: PageRequest, found: RuleGraph) -> dict[str, Any]:
    """The edges a page at a time, the circles, and the rules that the form offers."""
    graph = found.graph
    together = {uuid: number for number, cycle in enumerate(graph.cycles) for uuid in cycle}
    rows = [
        EdgeRow(
            edge, found.rules[edge.provider], found.rules[edge.dependent],
            edge.provider in together and together[edge.provider] == together.get(edge.dependent),
        )
        for edge in graph.edges
    ]  # fmt: skip
    rows.sort(key=lambda row: (not row.in_cycle, row.provider.name, row.dependent.name))
    cycles = [[found.rules[uuid] for uuid in cycle] for cycle in graph.cycles]
    offered = sorted(list(found.rules.values())[:CHOICES], key=lambda rule: rule.name.lower())
    page = Paginator(rows, LISTED).get_page(request.GET.get("page"))
    return {"listed": page, "cycles": cycles, "offered": offered, "edge_count": len(rows)}


@require_POST
@workspace_page("draft_rule")
def dependency_add(request: PageRequest) -> HttpResponse:
    """Say that a rule needs another one."""
    form, workspace = NewDependencyForm(request.POST), request.workspace
    if not form.is_valid():
        messages.error(request, _("Choose two rules and say why the one needs the other."))
        return redirect("dependencies", workspace.slug)
    said = form.cleaned_data
    rule = get_rule(workspace_id=workspace.pk, uuid=said["rule"])
    other = get_rule(workspace_id=workspace.pk, uuid=said["depends_on"])
    if rule is None or other is None:
        raise Http404(_("There is no such rule."))
    try:
        add_dependency(rule=rule, depends_on=other, reason=said["reason"], by=request.actor)
        messages.success(request, _("The dependency is noted."))
    except Refused as refusal:
        messages.error(request, str(refusal))
    return redirect("dependencies", workspace.slug)


@require_POST
@workspace_page("draft_rule")
def dependency_remove(request: PageRequest, uuid: UUID) -> HttpResponse:
    """Take back what somebody said."""
    row = get_manual(workspace_id=request.workspace.pk, uuid=uuid)
    if row is None:
        raise Http404(_("There is no such dependency."))
    remove_dependency(dependency=row, by=request.actor)
    messages.success(request, _("The dependency is taken back."))
    return redirect("dependencies", request.workspace.slug)


@require_GET
@workspace_page("look")
def rule_dependents(request: PageRequest, uuid: UUID) -> HttpResponse:
    """Who may break when a rule is disabled or changed, with the calls that show it."""
    rule = find_rule(request, uuid)
    context = {
        "title": _("Who needs it"), "rule": rule,
        "dependents": dependents_of(rule, now=timezone.now()),
        "is_living": rule.status in LIVING,
    }  # fmt: skip
    return render(request, "dependencies/dependents.html", context)
