"""Asking for changes: a wish becomes a change request, or joins the one that is open already."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from corrections.actions.gate import served_numbers, state_of
from corrections.actions.publishing import lock_rules
from corrections.domain.canaries import ROLLOUTS, default_rollout, on_trial_already, safe_canary_policy
from corrections.domain.changes import SERVES, TITLES, check_change, serving_kind, step_of
from corrections.domain.lifecycle import Refused, check_publishes, check_step
from corrections.models import Canary, ChangeRequest, Rule, RuleVersion
from memory.actions import Event, record_events
from memory.domain.access import Actor, check_may

MAX_TEXT = 5_000
REVISED = (
    "status", "version", "base_version", "base_status", "detail", "batch", "is_urgent", "publish_at",
    "revision", "authors", "description", "failure", "updated_at",
)  # fmt: skip
Slot = tuple[int, str]
"""What there is one undecided request for: a rule, and serving it or the other kinds one by one."""


@dataclass(frozen=True)
class Wanted:
    """One wish: ``version`` is what is to be served (None: the latest), ``detail`` belongs to the kind."""

    rule: Rule
    kind: str
    version: RuleVersion | None = None
    detail: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Circumstances:
    """What all wishes of one call share, and what is known about their rules. Rules are locked."""

    by: Actor
    reason: str
    batch: UUID | None
    publish_at: datetime | None
    now: datetime
    rules: Mapping[int, Rule]
    served: Mapping[int, int]
    latest: Mapping[int, RuleVersion]
    known: Mapping[Slot, ChangeRequest]
    tried: Mapping[int, int]


def request_change(
    *, rule: Rule, kind: str, by: Actor, reason: str = "", version: RuleVersion | None = None,
    publish_at: datetime | None = None, detail: dict[str, Any] | None = None,
    rollout: str = "",
) -> ChangeRequest:  # fmt: skip
    """Ask for one change; :func:`request_changes` for one rule. ``publish_at`` is not before now.

    ``rollout`` is one of ``ROLLOUTS``, "" for what the workspace's policy says. Raises
    :class:`NotPermitted`, :class:`Refused`.
    """
    chosen = chosen_rollout(rollout, kind, rule, version, by)
    wanted = [Wanted(rule, kind, version, (detail or {}) | chosen)]
    return _request(wanted, by=by, reason=reason, publish_at=publish_at)[0]


def chosen_rollout(
    rollout: str, kind: str, rule: Rule, version: RuleVersion | None, by: Actor
) -> dict[str, str]:
    """A choice of :func:`request_change` as it is kept; raises :class:`Refused` where there is none."""
    if not rollout:
        return {}
    if kind not in SERVES or rollout not in ROLLOUTS:
        raise Refused(f"Only what is served is published in a way: {' or '.join(ROLLOUTS)}.")
    if rollout == "all" and by.kind == "key" and _is_tried(rule, version or rule.latest_version):
        raise Refused("An API key may not leave the canary out: that takes a person.")
    return {"rollout": rollout}


def _is_tried(rule: Rule, version: RuleVersion | None) -> bool:
    """Whether the workspace's policy wants a version to begin as a canary."""
    author = version.created_by_kind if version else "agent"
    return default_rollout(safe_canary_policy(rule.workspace.settings), author) == "canary"


def request_changes(
    *, wanted: Sequence[Wanted], by: Actor, reason: str, batch: UUID | None = None
) -> list[ChangeRequest]:
    """Ask for changes of several rules, all or none; the requests in the order of the wishes.

    A request that is undecided already is found, not doubled; with another version it is revised, and its
    approvals no longer count. ``batch`` ties them, for :func:`approve_batch`. The number of queries does not
    grow with the rules. Raises :class:`NotPermitted`, :class:`Refused`.
    """
    return _request(wanted, by=by, reason=reason, batch=batch)


@transaction.atomic
def _request(
    wanted: Sequence[Wanted], *, by: Actor, reason: str, batch: UUID | None = None,
    publish_at: datetime | None = None,
) -> list[ChangeRequest]:  # fmt: skip
    rules = {rule.pk: rule for rule in lock_rules(want.rule.pk for want in wanted)}
    for rule in rules.values():
        check_may(by, "draft_rule", within=rule.workspace_id)
    now = timezone.now()
    if publish_at is not None and publish_at <= now:
        raise Refused("The moment of publication has passed.")
    about = Circumstances(
        by=by, reason=reason.strip()[:MAX_TEXT], batch=batch, publish_at=publish_at,
        now=now, rules=rules, served=served_numbers(rules.values()), latest=_latest(rules.values()),
        known=_known(rules), tried=_tried(rules),
    )  # fmt: skip
    changes: dict[Slot, ChangeRequest] = {}
    events: list[Event] = []
    slots = []
    for want in wanted:
        slots.append(slot := (want.rule.pk, _slot(want.kind)))
        if slot not in changes:
            changes[slot] = _ask(want, about, events)
    _store(list(changes.values()))
    record_events(by=by, events=events)
    return [changes[slot] for slot in slots]


def _ask(want: Wanted, about: Circumstances, events: list[Event]) -> ChangeRequest:
    """The new, revised or found request for a wish; its event is added unless nothing changes."""
    rule = about.rules[want.rule.pk]
    kind = _kind(want.kind, rule.status)
    check_step(rule.status, step_of(kind))
    base = state_of(rule, about.served)
    version = _version(want, rule, base[0], about) if kind in SERVES else None
    change = about.known.get((rule.pk, _slot(kind)))
    if change is None:
        change = _new(want, kind, version, base, about)
        verb = "request_change"
    elif _says_the_same(change, want, kind, version, base, about):
        return change
    else:
        _revise(change, want, version, about)
        if kind not in SERVES:  # asked for again, so for the rule as it is now
            change.base_version, change.base_status = base
        verb = "revise_change"
    new = {"kind": change.kind, "revision": change.revision, "version": version.number if version else None}
    events.append(Event(workspace=rule.workspace, verb=verb, subject=change, new=new, reason=about.reason))
    return change


def _says_the_same(
    change: ChangeRequest, want: Wanted, kind: str, version: RuleVersion | None,
    base: tuple[int | None, str], about: Circumstances,
) -> bool:  # fmt: skip
    if about.publish_at not in (None, change.publish_at) or change.is_urgent:
        return False
    if about.batch not in (None, change.batch) or change.status == "failed":
        return False
    if kind in SERVES:
        is_same = change.version_id == (version.pk if version else None)
        return is_same and want.detail.get("rollout") in (None, change.detail.get("rollout"))
    return (change.base_version, change.base_status) == base


def _new(
    want: Wanted, kind: str, version: RuleVersion | None, base: tuple[int | None, str], about: Circumstances
) -> ChangeRequest:
    rule, by = about.rules[want.rule.pk], about.by
    return ChangeRequest(
        workspace=rule.workspace, rule=rule, kind=kind, title=TITLES[kind].format(rule.name)[:300],
        description=about.reason, version=version, base_version=base[0], base_status=base[1],
        detail=want.detail, batch=about.batch, publish_at=about.publish_at,
        authors=[by.uuid] if by.uuid else [], requested_by=by.name[:200], requested_by_kind=by.kind,
        requested_at=about.now, updated_at=about.now,
    )  # fmt: skip


def _revise(change: ChangeRequest, want: Wanted, version: RuleVersion | None, about: Circumstances) -> None:
    """The next revision: earlier approvals stop counting, and who wrote it is one of its authors."""
    revise(change, by=about.by, now=about.now)
    change.rule = about.rules[want.rule.pk]
    change.version = version
    chosen = {name: change.detail[name] for name in ("rollout",) if name in change.detail}
    change.detail = chosen | want.detail if want.detail else change.detail
    is_bold = change.detail.get("rollout") == "all" and "rollout" not in want.detail
    if is_bold and about.by.kind != "user" and _is_tried(change.rule, version):
        # a person chose that for what they saw, not for what a program wrote since
        change.detail = {name: value for name, value in change.detail.items() if name != "rollout"}
    change.batch = about.batch or change.batch
    change.is_urgent = False
    change.publish_at = about.publish_at or change.publish_at
    change.description = about.reason or change.description


def revise(change: ChangeRequest, *, by: Actor | None, now: datetime) -> None:
    """Open the next revision of a locked request; the caller saves ``REVISED``. ``by`` becomes an author.

    A time of publication that has passed is dropped: nothing is published late.
    """
    change.status = check_change(change.status, "edit")
    change.revision += 1
    change.updated_at = now
    change.failure = ""
    if change.publish_at is not None and change.publish_at <= now:
        change.publish_at = None
    if by is not None and by.uuid and by.uuid not in change.authors:
        change.authors = [*change.authors, by.uuid]


def _store(changes: Sequence[ChangeRequest]) -> None:
    kept = [change for change in changes if change.pk is not None]
    if kept:
        ChangeRequest.objects.bulk_update(kept, REVISED)
    ChangeRequest.objects.bulk_create([change for change in changes if change.pk is None])


def _kind(asked: str, status: str) -> str:
    """Serving has the kind that the rule's status gives it; an edit of what is not served stays one."""
    if asked not in SERVES:
        return asked
    proper = serving_kind(status)
    return "edit" if asked == "edit" and proper == "enable" else proper


def _slot(kind: str) -> str:
    return "serve" if kind in SERVES else kind


def _version(want: Wanted, rule: Rule, live: int | None, about: Circumstances) -> RuleVersion:
    version = want.version or about.latest[rule.pk]
    if version.rule_id != rule.pk:
        raise Refused("This version belongs to another rule.")
    check_publishes(rule.status, live=live, latest=version.number)
    if about.tried.get(rule.pk) == version.pk and want.detail.get("rollout") != "all":
        raise Refused(on_trial_already(version.number))
    return version


def _tried(rules: Mapping[int, Rule]) -> dict[int, int]:
    """The versions on trial by rule; a shadow run that nobody approved is none."""
    rows = Canary.objects.live().filter(rule__in=list(rules), change__isnull=False).exclude(state="holdout")
    return dict(rows.values_list("rule", "version"))


def _latest(rules: Iterable[Rule]) -> dict[int, RuleVersion]:
    ids = [rule.latest_version_id for rule in rules if rule.latest_version_id]
    return {version.rule_id: version for version in RuleVersion.objects.filter(pk__in=ids)}


def _known(rules: Mapping[int, Rule]) -> dict[Slot, ChangeRequest]:
    rows = ChangeRequest.objects.undecided().filter(rule__in=list(rules)).order_by("pk")
    return {(change.rule_id or 0, _slot(change.kind)): change for change in rows.select_for_update()}
