"""Everything that the page of one path shows."""

from typing import Any

from memory.domain.paths.document import PathDoc
from memory.domain.paths.prompt import DEFAULT_TOKENS, Prompt, render_prompt
from memory.models import Path, RewriteProposal
from memory.permissions import may
from memory.queries import paths as queries
from memory.queries.paging import read_number
from memory.queries.path_documents import read_path
from memory.web.access import PageRequest
from memory.web.path_buttons import path_buttons, why_not_correct
from memory.web.path_charts import reward_chart
from memory.web.path_drawings import draw_path
from memory.web.path_forms import TokensForm
from memory.web.path_steps import step_rows, stretch_from
from memory.web.path_versions import version_tree
from memory.web.path_words import kind_words

SHOWN_FAILURES = 20
SHOWN_REWRITES = 10


def detail_context(request: PageRequest, row: Path) -> dict[str, Any]:
    """Drawing, steps, history, versions, failures, prompt and buttons."""
    doc = read_path(row)
    stretch = stretch_from(read_number(request.GET.get("from", "")), len(doc.nodes))
    context: dict[str, Any] = {"path": row, "doc": doc, "drawing": draw_path(doc), "stretch": stretch}
    context["steps"] = step_rows(doc, words=kind_words(), shown=stretch.positions)
    context |= _history(row) | _prompt(request, doc)
    context["buttons"] = path_buttons(row, request.actor, request.workspace.slug)
    context["why_not_correct"] = why_not_correct(row, request.actor)
    context["may_audit"] = may(request.actor, "see_audit")
    return context


def _history(row: Path) -> dict[str, Any]:
    changes, uses = queries.reward_history(row), queries.list_uses(row)[::-1]
    return {
        "chart": reward_chart(row.reward, changes, uses),
        "versions": version_tree(queries.list_versions(row.lineage)),
        "parts": queries.list_parts(row),
        "failures": queries.failures_met(row, limit=SHOWN_FAILURES),
        "rewrites": RewriteProposal.objects.filter(lineage=row.lineage_id).order_by("-pk")[:SHOWN_REWRITES],
    }


def _prompt(request: PageRequest, doc: PathDoc) -> dict[str, Any]:
    """The prompt text in the tokens that were asked for."""
    form = TokensForm(request.GET if "tokens" in request.GET else {"tokens": DEFAULT_TOKENS})
    tokens = form.cleaned_data["tokens"] if form.is_valid() else None
    prompt: Prompt = render_prompt(doc, tokens=tokens or DEFAULT_TOKENS)
    return {"tokens_form": form, "prompt": prompt}
