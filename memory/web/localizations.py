"""Localizations: the list and one question with its answer."""

from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET

from memory.domain.locating.sampling import week_of
from memory.models import Localization
from memory.queries.localizations import (
    LocalizationFilters,
    list_localizations,
    list_uses,
    localization_rows,
    named_paths,
)
from memory.web.access import PageRequest, workspace_page


class LocalizationFilterForm(forms.Form):
    """Narrows the list."""

    text = forms.CharField(label=gettext_lazy("Goal contains"), required=False, max_length=200)
    kind = forms.ChoiceField(
        label=gettext_lazy("Answer"),
        required=False,
        choices=[
            ("", gettext_lazy("any")), ("found", gettext_lazy("found")),
            ("template", gettext_lazy("template only")), ("nothing", gettext_lazy("nothing found")),
        ],
    )  # fmt: skip
    outcome = forms.ChoiceField(
        label=gettext_lazy("Outcome"),
        required=False,
        choices=[
            ("", gettext_lazy("any")), ("success", gettext_lazy("success")),
            ("failure", gettext_lazy("failure")), ("unknown", gettext_lazy("unknown")),
        ],
    )  # fmt: skip
    task = forms.CharField(label=gettext_lazy("Task"), required=False, max_length=200)
    sampled = forms.BooleanField(label=gettext_lazy("In the weekly sample"), required=False)

    def filters(self) -> LocalizationFilters:
        """What was understood."""
        self.is_valid()
        words = {name: self.cleaned_data.get(name) or "" for name in ("text", "kind", "outcome", "task")}
        return LocalizationFilters(**words, sampled=bool(self.cleaned_data.get("sampled")))


@require_GET
@workspace_page("look")
def localizations(request: PageRequest) -> HttpResponse:
    """What was asked, newest first."""
    form = LocalizationFilterForm(request.GET)
    page = list_localizations(request.workspace, form.filters(), request.GET.get("cursor", ""))
    context = {"title": _("Localizations"), "form": form, "page": page, "is_filtered": bool(request.GET)}
    return render(request, "localizations/list.html", context)


@require_GET
@workspace_page("look")
def localization(request: PageRequest, uuid: UUID) -> HttpResponse:
    """One question, its answer, what came of it."""
    row = get_object_or_404(localization_rows(request.workspace.pk), uuid=uuid)
    context = {"title": row.goal[:80] or _("Localization"), "row": row, "uses": list_uses(row)}
    context |= {"named": named_paths([row])[0], "avoided": named_paths([row], "avoid")[0]}
    context |= {"monday": week_of(row.asked_at), "again": _again(row, request.workspace.slug)}
    return render(request, "localizations/detail.html", context)


def _again(row: Localization, slug: str) -> str:
    """The lab's address with the same question."""
    query = row.query
    asked: dict[str, Any] = {
        "goal": row.goal[:2_000],
        "tags": ", ".join(query.get("tags", [])),
        "nodes": "\n".join(query.get("nodes", [])),
        "top_k": query.get("top_k", 3),
    }
    asked |= {
        name: value for name, value in query.get("filters", {}).items() if name in ("tool", "tag", "agent")
    }
    try:
        return f"{reverse('lab', args=[slug])}?{urlencode(asked)}"
    except NoReverseMatch:
        return ""
