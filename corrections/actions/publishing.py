"""What changes what agents are served: the one publish action, for pages, API, clock, import and commands."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import OuterRef, Subquery
from django.utils import timezone

from corrections.actions.canary_starting import follow_publications
from corrections.actions.gate import Publication, check_let_through, served_numbers, state_of
from corrections.actions.locking import lock_rule, lock_rules, lock_stamp, stamp_ruleset
from corrections.actions.regressions import check_rulings
from corrections.actions.scanning import queue_scans
from corrections.domain.documents import check_window
from corrections.domain.lifecycle import LIVE, check_step
from corrections.models import Rule, RuleVersion
from memory.actions import Event, record_events
from memory.actions.patterns import cover_patterns, uncover_patterns
from memory.domain.access import Actor, check_may

__all__ = [
    "Publication", "expire_overdue_rules", "latest_of", "lock_rule", "lock_rules", "lock_stamp", "publish",
    "stamp_ruleset",
]  # fmt: skip

CHUNK = 500


@transaction.atomic
def publish(publications: Sequence[Publication], *, by: Actor, reason: str) -> list[Rule]:
    """Set what agents are served of some rules, all or none of them; the rules as they are now.

    The only code that writes ``Rule.status`` and ``Rule.live_version``. It locks the rules, asks the gate,
    stamps each workspace once, moves the linked patterns and writes the audit rows; the number of queries
    does not grow with the rules. Raises :class:`Refused` (``BrokenRuling`` among them), and
    :class:`hgmem.rules.RuleError` for a version whose window has ended.
    """
    if not publications:
        return []
    rules = {rule.pk: rule for rule in lock_rules(item.rule.pk for item in publications)}
    served = served_numbers(rules.values())
    check_let_through(publications, rules, served, by)
    now = timezone.now()
    for item in publications:
        if (wanted := item.trial or item.version) is not None:
            check_window(wanted.valid_until, now)
    old = {pk: state_of(rule, served) for pk, rule in rules.items()}
    _check_rulings(publications, rules)
    _write(publications, rules, now)
    moved = [item for item in publications if LIVE & {old[item.rule.pk][1], item.status}]
    for workspace_id in sorted({rules[item.rule.pk].workspace_id for item in moved}):
        stamp_ruleset(workspace_id)
    _move_patterns([rules[item.rule.pk] for item in moved], old, by=by)
    events = [_event(item, rules[item.rule.pk], old[item.rule.pk], reason) for item in publications]
    record_events(by=by, events=events)
    queue_scans([rules[item.rule.pk] for item in publications if item.status in LIVE], by=by)
    follow_publications(publications, rules, by=by, reason=reason)
    return [rules[item.rule.pk] for item in publications]


def _check_rulings(publications: Sequence[Publication], rules: Mapping[int, Rule]) -> None:
    """No change may undo a ruling; that a window ends is no change."""
    after: dict[int, dict[int, RuleVersion | None]] = {}
    for item in publications:
        if item.change is not None or item.canary is not None:
            rule = rules[item.rule.pk]
            version = (item.trial or item.version) if item.status in LIVE else None
            if version is not None:
                version.rule = rule
            after.setdefault(rule.workspace_id, {})[rule.pk] = version
    for workspace_id, versions in sorted(after.items()):
        lock_stamp(workspace_id)
        check_rulings(workspace_id=workspace_id, after=versions)


def expire_overdue_rules(*, now: datetime, by: Actor) -> int:
    """The clock: every active rule past its ``valid_until`` is expired. Returns how many.

    The matcher has not served them since the second they ended: this only makes the status say so.
    """
    check_may(by, "publish_rule")
    overdue = list(Rule.objects.overdue(now).order_by("pk").values_list("pk", flat=True))
    return sum(_expire(overdue[start : start + CHUNK], now, by) for start in range(0, len(overdue), CHUNK))


@transaction.atomic
def _expire(ids: Sequence[int], now: datetime, by: Actor) -> int:
    rules = [rule for rule in lock_rules(ids) if rule.status in LIVE]
    live = RuleVersion.objects.filter(pk__in=[rule.live_version_id for rule in rules], valid_until__lte=now)
    ended = set(live.values_list("pk", flat=True))
    over = [
        Publication(rule, check_step(rule.status, "expire"), None, "expire_rule")
        for rule in rules
        if rule.live_version_id in ended
    ]
    return len(publish(over, by=by, reason=""))


def latest_of(rule: Rule) -> RuleVersion:
    """The newest version; every rule has one from its first moment."""
    if rule.latest_version is None:
        raise LookupError(f"Rule {rule.uuid} has no version.")
    return rule.latest_version


def _write(publications: Sequence[Publication], rules: Mapping[int, Rule], now: datetime) -> None:
    """One statement for each status that rules get."""
    for status in sorted({item.status for item in publications}):
        group = [item for item in publications if item.status == status]
        versions = [item.version.pk for item in group if item.version is not None]
        theirs = RuleVersion.objects.filter(rule=OuterRef("pk"), pk__in=versions).values("pk")[:1]
        Rule.objects.filter(pk__in=[item.rule.pk for item in group]).update(
            status=status, live_version=Subquery(theirs) if versions else None, updated_at=now
        )
        for item in group:
            rule = rules[item.rule.pk]
            rule.status, rule.live_version, rule.updated_at = status, item.version, now


def _event(item: Publication, rule: Rule, old: tuple[int | None, str], reason: str) -> Event:
    new = {"status": str(item.status), "live_version": item.version.number if item.version else None}
    through = {"change": str(item.change.uuid)} if item.change else {}
    if item.trial is not None:
        through["trial"] = str(item.trial.number)
    return Event(
        workspace=rule.workspace, verb=item.verb, subject=rule,
        old={"status": old[1], "live_version": old[0]}, new=new | through, reason=reason,
    )  # fmt: skip


def _move_patterns(rules: Sequence[Rule], old: Mapping[int, tuple[int | None, str]], *, by: Actor) -> None:
    """Linked patterns are covered while any active rule names them, or one on trial."""
    moved = {rule.pk: rule for rule in rules if (old[rule.pk][1] in LIVE) != (rule.status in LIVE)}
    if not moved:
        return
    links = Rule.patterns.through.objects.filter(rule__in=list(moved)).order_by("rule_id")
    pairs = list(links.values_list("errorpattern_id", "rule_id"))
    come = {pattern: f"rule {moved[rule].name}" for pattern, rule in pairs if moved[rule].status in LIVE}
    gone = {
        pattern: f"rule {moved[rule].name} is {moved[rule].status}"
        for pattern, rule in pairs
        if pattern not in come
    }
    if gone:
        others = Rule.objects.live().filter(patterns__in=list(gone))
        for pattern in others.values_list("patterns", flat=True):
            gone.pop(pattern, None)
    cover_patterns(reasons=come, by=by)
    uncover_patterns(reasons=gone, by=by)
