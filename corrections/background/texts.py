"""What rules are found by: their texts, read again after each change. The rows are the state."""

from django.db.models import Exists, OuterRef, QuerySet

from corrections.models import Rule, RuleVersion
from hgmem.rules import Rule as RuleDocument
from hgmem.rules import RuleError
from memory.actions.texts import TextDraft, keep_texts
from memory.queries.texts import text_entries

RULE = "rule"
CHUNK = 500
MAX_TITLES = 10


def collect_rule_texts() -> int:
    """Write the texts of rules that changed since theirs was written; how many."""
    count = 0
    while True:
        rules = list(_unwritten()[:CHUNK])
        if not rules:
            return count
        homes: dict[int, list[TextDraft]] = {}
        for rule in rules:
            homes.setdefault(rule.workspace_id, []).append(rule_draft(rule))
        for workspace_id, drafts in homes.items():
            keep_texts(workspace_id=workspace_id, kind=RULE, drafts=drafts)
        count += len(rules)


def _unwritten() -> QuerySet[Rule]:
    entries = text_entries(RULE).filter(
        workspace=OuterRef("workspace"), subject=OuterRef("uuid"), updated_at=OuterRef("updated_at")
    )
    rows = Rule.objects.filter(~Exists(entries)).select_related("latest_version", "live_version")
    return rows.prefetch_related("patterns").order_by("pk")


def rule_draft(rule: Rule) -> TextDraft:
    """The telling parts first: name, description, what it does, the words of its errors, condition, tool."""
    version = rule.live_version or rule.latest_version
    body = version.body if version else {}
    titles = [pattern.title for pattern in rule.patterns.all()[:MAX_TITLES]]
    parts = (
        rule.name, body.get("description", ""), _sentence(version), *titles, body.get("condition", ""),
        version.tool if version else "",
    )  # fmt: skip
    text = "\n".join(dict.fromkeys(part for part in parts if part))
    return TextDraft(rule.uuid, rule.name, text, rule.updated_at)


def _sentence(version: RuleVersion | None) -> str:
    if version is None:
        return ""
    try:
        return RuleDocument.from_document({**version.body, "uuid": "text"}).describe()
    except RuleError:
        return ""
