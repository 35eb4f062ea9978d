"""Rules: the list, one rule with everything about it, its versions and what changed between them."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from corrections.domain.documents import read_document
from corrections.models import Rule, RuleProposal, RuleVersion
from corrections.queries import rules as queries
from corrections.queries.ageing import ageing_of
from corrections.queries.changes import undecided_of
from corrections.queries.conflicts import conflicts_of_rule, latest_scan
from corrections.queries.dependencies import dependents_of
from corrections.queries.effects import effect_of
from corrections.queries.receipts import list_uses
from corrections.web.buttons import step_buttons, why_not_edit, why_not_review
from corrections.web.canary_of_rule import canaries_shown
from corrections.web.effect_words import ShownUplift, ageing_said, uplift_shown
from corrections.web.forms.basics import RuleFilterForm
from corrections.web.sessions import find_rule
from hgmem.rules import Condition, RuleError
from memory.permissions import may
from memory.queries.paging import newest_first, read_number
from memory.web.access import workspace_page

USES_PER_PAGE = 20
SHOWN_VERSIONS = 50


@dataclass(frozen=True)
class ReadVersion:
    """A version as the engine reads it. ``fault`` says why it cannot, when it cannot."""

    sentence: str = ""
    reads: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    specificity: int = 0
    fault: str = ""


@require_GET
@workspace_page("look")
def rules(request: HttpRequest) -> HttpResponse:
    """All rules, newest first."""
    form = RuleFilterForm(request.GET)
    rows = queries.list_rules(workspace_id=request.workspace.pk, **form.filters())
    page = newest_first(rows, request.GET.get("cursor", ""))
    context = {
        "title": _("Rules"),
        "form": form,
        "page": page,
        "standings": standings_of(page.rows),
        "is_filtered": any(form.filters().values()),
        "may_draft": may(request.actor, "draft_rule"),
        "counts": queries.count_by_status(request.workspace.pk),
    }
    return render(request, "rules/list.html", context)


@require_GET
@workspace_page("look")
def rule(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """What a rule does, where it fired, and how it came to be."""
    row = find_rule(request, uuid)
    dependents = dependents_of(row, now=timezone.now(), looked_at=0)
    context = {
        "title": row.name,
        "dependents": dependents,
        "rule": row,
        "version": row.latest_version,
        "read": read_version(row.latest_version),
        "versions": paired_versions(row),
        "patterns": queries.patterns_of(row),
        "page": newest_first(list_uses(row), request.GET.get("cursor", ""), size=USES_PER_PAGE),
        "buttons": step_buttons(row, request.actor, timezone.now(), needed_by=len(dependents)),
        "why_not_edit": why_not_edit(row, request.actor),
        "why_not_review": why_not_review(request.actor),
    }
    context |= canaries_shown(row, request.actor)
    return render(request, "rules/detail.html", context | standing_of(row))


def standings_of(rows: list[Rule]) -> list[tuple[Rule, ShownUplift, str]]:
    """Rules of a list with their uplift and how they age; three queries."""
    ageing = ageing_of(rows, now=timezone.now())
    return [(row, uplift_shown(row), ageing_said(ageing.get(row.pk))) for row in rows]


def standing_of(row: Rule) -> dict[str, Any]:
    """How a rule stands: its conflicts, the change that is asked for, and what it has done."""
    ageing = ageing_of([row], now=timezone.now()).get(row.pk)
    return {
        "scan": latest_scan(row.workspace_id, row),
        "conflicts": conflicts_of_rule(row),
        "undecided": undecided_of(row),
        "effect": effect_of(row),
        "uplift": uplift_shown(row),
        "ageing": ageing,
        "ageing_said": ageing_said(ageing),
    }


@require_GET
@workspace_page("look")
def rule_version(request: HttpRequest, uuid: UUID, number: int) -> HttpResponse:
    """What one version said."""
    row = find_rule(request, uuid)
    version = queries.get_version(row, number)
    if version is None:
        raise Http404(_("There is no such version."))
    context = {
        "title": _("Version %(number)s") % {"number": number},
        "rule": row,
        "version": version,
        "read": read_version(version),
        "changes": queries.diff_versions(row, old=number - 1, new=number) or [],
        "why_not_edit": why_not_edit(row, request.actor),
    }
    return render(request, "rules/version.html", context)


@require_GET
@workspace_page("look")
def rule_diff(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """Two versions side by side, field by field. Without numbers: what is served against the latest."""
    row = find_rule(request, uuid)
    old, new = _chosen_versions(request, row)
    changes = queries.diff_versions(row, old=old, new=new)
    if changes is None:
        raise Http404(_("There is no such version."))
    context = {
        "title": _("Version %(old)s and version %(new)s") % {"old": old, "new": new},
        "rule": row,
        "old": old,
        "new": new,
        "changes": changes,
        "numbers": [version.number for version in queries.list_versions(row)[:SHOWN_VERSIONS]],
    }
    return render(request, "rules/diff.html", context)


def paired_versions(row: Rule) -> list[tuple[RuleVersion, RuleVersion | None]]:
    """The newest versions, each with the one before it."""
    versions = list(queries.list_versions(row)[:SHOWN_VERSIONS])
    return list(zip(versions, [*versions[1:], None], strict=True))


def _chosen_versions(request: HttpRequest, row: Rule) -> tuple[int, int]:
    latest = row.latest_version.number if row.latest_version else 1
    live = row.live_version.number if row.live_version else max(latest - 1, 1)
    old, new = (read_number(request.GET.get(name, "")) for name in ("from", "to"))
    return live if old is None else old, latest if new is None else new


def read_version(version: RuleVersion | None) -> ReadVersion:
    """What the engine makes of a version."""
    return ReadVersion() if version is None else _read(version.body, version.created_by_kind)


def read_document_of(proposal: RuleProposal) -> ReadVersion:
    """What the engine makes of a proposed document; nothing while a model is still drafting it."""
    return _read(proposal.document, "agent") if proposal.document else ReadVersion()


def _read(body: Any, author: str) -> ReadVersion:
    try:
        parsed = read_document(body, author=author)
    except RuleError as error:
        return ReadVersion(fault=str(error))
    reads = Condition.compile(parsed.condition).read_set | parsed.action.reads()
    return ReadVersion(parsed.describe(), sorted(reads), sorted(parsed.action.writes()), parsed.specificity)
