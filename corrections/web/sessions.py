"""One editing of a rule: what stands in the editor, what it started from, and what came in between."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _

from corrections.domain.diff import Change, diff_documents
from corrections.domain.documents import body_of, read_document
from corrections.domain.drafting import NEVER, PatternWords, blank_rule, rule_from_pattern
from corrections.domain.suggesting import Suggestion, suggest_conditions
from corrections.models import Rule, RuleProposal, RuleVersion
from corrections.queries import rules as queries
from corrections.queries.proposals import find_proposal
from corrections.web.editor import Editor, editor_of_post
from hgmem.rules import RuleError
from memory.queries.evidence import (
    PatternFacts,
    RecordedCall,
    list_failing_calls,
    list_open_patterns_of_tool,
    list_patterns_by_uuid,
    list_recent_calls,
)
from memory.queries.paging import read_number

SUGGEST_FROM = 100
SHOWN_FAILING = 5
MAX_PATTERNS = 50


@dataclass(frozen=True)
class Stale:
    """Somebody else's newer version: what they changed, and what stands here against the common start."""

    version: RuleVersion
    theirs: list[Change]
    ours: list[Change]


@dataclass
class Session:
    """The state of one editor page. ``rule`` is None for a new rule, ``patterns`` are the ticked ones."""

    rule: Rule | None
    editor: Editor
    base_version: int = 0
    note: str = ""
    patterns: list[UUID] = field(default_factory=list)
    suggestions: list[Suggestion] = field(default_factory=list)
    chosen: int = -1
    stale: Stale | None = None
    problem: str = ""


def open_session(request: HttpRequest, rule: Rule | None) -> Session:
    """Start from the latest version, from an error pattern, from a copy, or from nothing."""
    if rule is not None:
        linked = [pattern.uuid for pattern in queries.patterns_of(rule)]
        base = rule.latest_version.number if rule.latest_version else 0
        return Session(rule, Editor.of_document(queries.document_of(rule)), base, patterns=linked)
    if request.GET.get("pattern"):
        return _from_pattern(request, request.GET["pattern"])
    proposal = proposal_of(request)
    if proposal is not None:
        linked = list(proposal.patterns.values_list("uuid", flat=True)[:MAX_PATTERNS])
        return Session(None, Editor.of_document(proposal.document), patterns=linked)
    if request.GET.get("copy"):
        return Session(None, Editor.of_document(_copied(request, request.GET["copy"])))
    if request.GET.get("as") == "json":
        return Session(None, Editor.of_text(""))
    return Session(None, Editor.of_document(blank_rule(request.GET.get("tool", "")[:200])))


def proposal_of(request: HttpRequest) -> RuleProposal | None:
    """The proposal that this editing accepts (``?proposal=``), if any; 404 for one that is not there."""
    text = request.GET.get("proposal", "")
    if not text:
        return None
    uuid = as_uuid(text)
    found = find_proposal(workspace_id=request.workspace.pk, uuid=uuid) if uuid else None
    if found is None or not found.document:
        raise Http404(_("There is no such proposal."))
    return found


def read_session(request: HttpRequest, rule: Rule | None, step: str) -> Session:
    """What was typed, after a step that changes only the form."""
    post = request.POST
    problem = ""
    try:
        editor = editor_of_post(post, step)
    except RuleError as error:
        editor, problem = editor_of_post(post), _("The other view needs a document that can be read.")
        editor.say(error)
    patterns = [uuid for uuid in map(as_uuid, post.getlist("pattern")[:MAX_PATTERNS]) if uuid]
    base = read_number(post.get("base_version", "")) or 0
    return Session(rule, editor, base, post.get("note", "")[:500], patterns, problem=problem)


def compare_with_latest(session: Session) -> None:
    """Show both versions of a stale edit; saving again then builds on the newer one."""
    rule = session.rule
    if rule is None:
        return
    latest, base = rule.versions.latest("number"), queries.get_version(rule, session.base_version)
    start = base.body if base else {}
    try:
        ours = body_of(read_document(session.editor.document(), author="human"))
    except RuleError:
        ours = start
    session.stale = Stale(latest, diff_documents(start, latest.body), diff_documents(start, ours))
    session.base_version = latest.number


def offered_patterns(session: Session, workspace_id: int) -> list[tuple[PatternFacts, bool]]:
    """The patterns to tick: the ticked ones first, then open ones of the same tool."""
    ticked = list_patterns_by_uuid(workspace_id=workspace_id, uuids=session.patterns)
    tool = session.editor.scope.cleaned_data.get("tool", "") if session.editor.mode == "form" else ""
    open_ones = list_open_patterns_of_tool(workspace_id=workspace_id, tool=tool) if tool else []
    known = {pattern.uuid for pattern in ticked}
    return [(row, True) for row in ticked] + [(row, False) for row in open_ones if row.uuid not in known]


def failing_calls(session: Session, workspace_id: int) -> list[RecordedCall]:
    """The newest calls that met the ticked patterns."""
    if not session.patterns:
        return []
    return list_failing_calls(workspace_id=workspace_id, patterns=session.patterns, limit=SHOWN_FAILING)


def find_rule(request: HttpRequest, uuid: UUID) -> Rule:
    """The workspace's rule, or 404."""
    rule = queries.get_rule(workspace_id=request.workspace.pk, uuid=uuid)
    if rule is None:
        raise Http404(_("There is no such rule."))
    return rule


def as_uuid(text: str) -> UUID | None:
    """A uuid from the address bar or a form; None for anything else."""
    try:
        return UUID(text)
    except ValueError:
        return None


def _from_pattern(request: HttpRequest, text: str) -> Session:
    workspace_id, uuid = request.workspace.pk, as_uuid(text)
    facts = list_patterns_by_uuid(workspace_id=workspace_id, uuids=[uuid] if uuid else [])
    if not facts:
        raise Http404(_("There is no such error pattern."))
    pattern = facts[0]
    failing = list_failing_calls(workspace_id=workspace_id, patterns=[pattern.uuid], limit=SUGGEST_FROM)
    recent = list_recent_calls(workspace_id=workspace_id, tool=pattern.tool, limit=2 * SUGGEST_FROM)
    suggestions = _suggest(pattern, failing, [call for call in recent if not call.failed])
    chosen = _chosen(request.GET.get("suggestion", ""), suggestions)
    condition = suggestions[chosen].condition if chosen >= 0 else NEVER
    document = rule_from_pattern(_words(pattern, failing), condition)
    editor = Editor.of_document(document | {"error_pattern": str(pattern.uuid)})
    return Session(None, editor, patterns=[pattern.uuid], suggestions=suggestions, chosen=chosen)


def _chosen(asked: str, suggestions: Sequence[Suggestion]) -> int:
    """The suggestion to start from: the one asked for, or the first if it convinces; -1 for none."""
    number = read_number(asked)
    if number is not None and number < len(suggestions):
        return number
    return 0 if suggestions and suggestions[0].is_convincing else -1


def _suggest(
    pattern: PatternFacts, failing: Sequence[RecordedCall], good: Sequence[RecordedCall]
) -> list[Suggestion]:
    return suggest_conditions(
        identifier=pattern.identifier,
        scope=pattern.scope,
        failing=[call.context for call in failing],
        good=[call.context for call in good],
    )


def _words(pattern: PatternFacts, failing: Sequence[RecordedCall]) -> PatternWords:
    return PatternWords(
        title=pattern.title,
        tool=pattern.tool,
        message=_common_message(pattern, failing),
        occurrences=pattern.occurrence_count,
        tasks=pattern.task_count,
        last_seen=timezone.localtime(pattern.last_seen_at).strftime("%Y-%m-%d"),
    )


def _common_message(pattern: PatternFacts, failing: Sequence[RecordedCall]) -> str:
    """The error's words; where they differ from call to call, what they have in common."""
    messages = {call.message for call in failing}
    return messages.pop() if len(messages) == 1 else pattern.title.removeprefix(f"{pattern.tool}: ")


def _copied(request: HttpRequest, text: str) -> dict[str, Any]:
    uuid = as_uuid(text)
    rule = queries.get_rule(workspace_id=request.workspace.pk, uuid=uuid) if uuid else None
    if rule is None:
        raise Http404(_("There is no such rule."))
    document = queries.document_of(rule)
    return document | {"name": _("Copy of %(name)s") % {"name": rule.name}}
