"""The one writer of rule versions."""

from django.utils import timezone

from corrections.actions.scanning import queue_scans
from corrections.domain.documents import body_of
from corrections.domain.proposing import SOURCES
from corrections.models import Rule, RuleVersion
from hgmem import rules as engine
from memory.domain.access import Actor


def write_version(rule: Rule, parsed: engine.Rule, *, by: Actor, note: str) -> RuleVersion:
    """The next version of a locked rule, and the rule's name with it. Nobody is served it yet."""
    now = timezone.now()
    number = rule.latest_version.number + 1 if rule.latest_version else 1
    rule.name = name_of(parsed)
    rule.latest_version = RuleVersion.objects.create(
        rule=rule, number=number, body=body_of(parsed), tool=parsed.applies_to.tool[:200],
        action_type=parsed.action.action_type, priority=parsed.priority,
        valid_from=parsed.valid_from, valid_until=parsed.valid_until, note=note[:500],
        created_at=now, created_by=by.name[:200], created_by_kind=author_kind(by),
    )  # fmt: skip
    rule.updated_at = now
    rule.save(update_fields=["name", "latest_version", "updated_at"])
    queue_scans([rule], by=by)
    return rule.latest_version


def author_kind(by: Actor) -> str:
    """``human`` for people, ``agent`` for keys and for what proposes rules by itself.

    Otherwise the system writes in a person's name (imports, the demo).
    """
    return "agent" if by.kind == "key" or (by.kind == "system" and by.name in SOURCES) else "human"


def name_of(parsed: engine.Rule) -> str:
    """The name of a rule; without one, its description or its action."""
    plain = parsed.name or parsed.description or f"{parsed.action.action_type} on {parsed.applies_to.tool}"
    return plain[:200]
