"""Winning sequences, those to avoid, and making one a template path."""

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_http_methods

from memory.actions.paths import InvalidPathError
from memory.actions.sequence_templates import (
    TemplateExistsError,
    make_sequence_template,
    template_key,
    template_made,
)
from memory.domain.insights.sequence_paths import template_of
from memory.domain.insights.sequences import FALSE_SHARE, LEAST_TASKS, LONGEST, split_kind
from memory.models import SequenceKind, ToolSequence
from memory.permissions import may
from memory.queries.sequences import (
    VERDICTS,
    SequenceFilters,
    find_kind,
    find_sequence,
    list_kinds,
    list_sequences,
    show_sequences,
    tags_of_examples,
)
from memory.web.access import PageRequest, workspace_page
from memory.web.path_drawings import draw_path

MAX_LEAST = 1_000_000
WORDS = {
    "winning": gettext_lazy("Winning"),
    "losing": gettext_lazy("To avoid"),
    "all": gettext_lazy("All, most frequent first"),
}


class SequenceForm(forms.Form):
    """Narrows the list. Every field is optional; a bad value is said and ignored."""

    show = forms.ChoiceField(label=gettext_lazy("Show"), required=False, choices=list(WORDS.items()))
    kind = forms.ChoiceField(label=gettext_lazy("Kind of tasks"), required=False)
    least = forms.IntegerField(
        label=gettext_lazy("In at least so many tasks"), required=False, min_value=0, max_value=MAX_LEAST
    )

    def __init__(self, kinds: list[SequenceKind], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        known = {kind.name: f"{kind_words(kind.name)} ({kind.won + kind.lost})" for kind in kinds}
        self.fields["kind"].choices = list(({"": _("All tasks")} | known).items())

    def filters(self) -> SequenceFilters:
        """What was understood."""
        self.is_valid()
        show = self.cleaned_data.get("show")
        return SequenceFilters(
            verdict=show if show in VERDICTS else "winning",
            kind=self.cleaned_data.get("kind") or "",
            least=self.cleaned_data.get("least") or 0,
        )


class TemplateForm(forms.Form):
    """What the template is for and what it is found by."""

    goal = forms.CharField(
        label=gettext_lazy("Goal"), max_length=2_000, widget=forms.Textarea({"rows": 2}),
        help_text=gettext_lazy("A template is found by its goal and its tags: say when to go this way."),
    )  # fmt: skip
    tags = forms.CharField(
        label=gettext_lazy("Tags"), required=False, max_length=2_000,
        help_text=gettext_lazy("Separated by commas."),
    )  # fmt: skip

    def clean_tags(self) -> list[str]:
        """The tags, each once."""
        named = (tag.strip() for tag in self.cleaned_data["tags"].split(","))
        return list(dict.fromkeys(tag for tag in named if tag))


def kind_words(name: str) -> str:
    """A kind of tasks in the reader's language."""
    sort, word = split_kind(name)
    if sort == "domain":
        return _("Domain %(name)s") % {"name": word}
    return _("Tag %(name)s") % {"name": word} if sort == "tag" else _("All tasks")


@require_GET
@workspace_page("look")
def sequences(request: PageRequest) -> HttpResponse:
    """Runs of tools that go with success, or with failure."""
    workspace = request.workspace.pk
    form = SequenceForm(list_kinds(workspace), request.GET)
    filters = form.filters()
    page = list_sequences(workspace, filters, request.GET.get("cursor", ""))
    keys = {row.pk: template_key(row) for row in page.rows}
    context = {"title": _("Sequences"), "span": None, "spans": (), "form": form, "filters": filters}
    context |= {"page": page, "shown": show_sequences(workspace, page.rows, keys)}
    context |= {"kind": find_kind(workspace, filters.kind), "kind_words": kind_words(filters.kind)}
    context |= {"may_write": may(request.actor, "write_path"), "least": LEAST_TASKS, "longest": LONGEST}
    return render(request, "insights/sequences.html", context | {"false_share": FALSE_SHARE})


@require_http_methods(["GET", "POST"])
@workspace_page("write_path")
def sequence_template(request: PageRequest, uuid: UUID) -> HttpResponse:
    """A preview of the template that a sequence would become; POST makes it."""
    row = find_sequence(request.workspace.pk, uuid)
    if row is None:
        raise Http404(_("There is no such sequence."))
    form = TemplateForm(request.POST or None, initial=_suggested(row))
    if request.method == "POST" and form.is_valid():
        made = _make(request, row, form)
        if made is not None:
            return made
    doc = template_of(tuple(row.tools), goal="…", tags=())
    context = {"title": _("Make a template path"), "sequence": row, "form": form, "doc": doc}
    context |= {"drawing": draw_path(doc, name="template"), "made": template_made(row)}
    context |= {"kind_words": kind_words(row.kind.name), "span": None, "spans": ()}
    return render(request, "insights/sequence_template.html", context)


def _suggested(row: ToolSequence) -> dict[str, str]:
    """A goal and tags to start from."""
    tools, tags = " → ".join(row.tools), tags_of_examples(row)
    about = ", ".join(tags) or split_kind(row.kind.name)[1]
    goal = f"{about}: {tools}" if about else tools
    return {"goal": goal, "tags": ", ".join(tags)}


def _make(request: PageRequest, row: ToolSequence, form: TemplateForm) -> HttpResponse | None:
    """Make the template and go there; None with the error in the form."""
    try:
        path = make_sequence_template(sequence=row, by=request.actor, **form.cleaned_data)
        messages.success(request, _("The template is made. It is recalled where nothing real is found."))
    except TemplateExistsError as refusal:
        path = refusal.path
        url = reverse("path", args=[request.workspace.slug, path.uuid])
        said = _("This sequence is a template path already.")
        messages.warning(request, format_html('{} <a href="{}">{}</a>', said, url, path.key))
    except InvalidPathError as refusal:
        form.add_error(None, str(refusal))
        return None
    return redirect("path", request.workspace.slug, path.uuid)
