"""Every way there is to change what agents are served: nothing unapproved is served by any of them."""

import ast
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from corrections.actions.changes import (
    Wanted,
    approve_batch,
    approve_change,
    publish_due_changes,
    request_change,
    request_changes,
    schedule_change,
)
from corrections.actions.publishing import Publication, publish
from corrections.actions.rules import edit_rule, roll_back_rule, take_step
from corrections.domain.lifecycle import Refused, Status
from corrections.models import ChangeApproval, ChangeRequest, Rule
from memory.domain.access import Actor, NotPermitted, Scope
from memory.domain.lifecycle import TransitionError
from memory.models import Alert, Workspace
from memory.permissions import SYSTEM
from tests.architecture.tree import ROOT
from tests.conftest import Cast, api_client, make_key, page_client
from tests.corrections.builders import make_change, make_rule, weather_document

Attempt = Callable[[Cast, Rule, ChangeRequest], Any]


def author(cast: Cast) -> Actor:
    return cast.actor("owner")


def api(cast: Cast, path: str, body: dict[str, Any]) -> Any:
    return api_client(make_key(cast.workspace, *Scope)).post(f"/api/v1/{path}", body, format="json")


def page(cast: Cast, path: str, body: dict[str, Any]) -> Any:
    return page_client(cast.owner).post(f"/w/acme/{path}", body)


def forged(change: ChangeRequest) -> ChangeRequest:
    """As if somebody had set the row's status by hand."""
    ChangeRequest.objects.filter(pk=change.pk).update(status="approved")
    change.refresh_from_db()
    return change


ATTEMPTS: dict[str, Attempt] = {
    "edit": lambda cast, rule, change: edit_rule(
        rule=rule, document=weather_document(priority=99), base_version=2, by=author(cast)
    ),
    "activate as author": lambda cast, rule, change: take_step(rule=rule, step="activate", by=author(cast)),
    "roll back as author": lambda cast, rule, change: roll_back_rule(
        rule=rule, to_version=1, base_version=2, by=author(cast)
    ),
    "approve as author": lambda cast, rule, change: approve_change(
        change=change, revision=1, by=author(cast)
    ),
    "batch as author": lambda cast, rule, change: (
        request_changes(wanted=[Wanted(rule, "edit")], by=author(cast), reason="", batch=(one := uuid4())),
        approve_batch(batch=one, by=author(cast)),
    ),
    "edit for all at once": lambda cast, rule, change: request_change(
        rule=rule, kind="edit", by=author(cast), rollout="all"
    ),
    "publish without a request": lambda cast, rule, change: publish(
        [Publication(rule, Status.ACTIVE, rule.latest_version, "activate_rule")], by=author(cast), reason=""
    ),
    "publish as the system without a request": lambda cast, rule, change: publish(
        [Publication(rule, Status.ACTIVE, rule.latest_version, "activate_rule")], by=SYSTEM, reason=""
    ),
    "publish an open request": lambda cast, rule, change: publish(
        [Publication(rule, Status.ACTIVE, change.version, "activate_rule", change)], by=SYSTEM, reason=""
    ),
    "publish a forged approval": lambda cast, rule, change: publish(
        [Publication(rule, Status.ACTIVE, change.version, "activate_rule", forged(change))],
        by=SYSTEM,
        reason="",
    ),
    "stale approval": lambda cast, rule, change: (
        ChangeApproval.objects.create(
            change=change, revision=1, actor_kind="user", actor_uuid="x", actor_name="x", at=timezone.now()
        ),
        edit_rule(rule=rule, document=weather_document(priority=99), base_version=2, by=author(cast)),
        approve_change(change=change, revision=1, by=cast.actor("reviewer")),
    ),
    "the clock with nothing approved": lambda cast, rule, change: (
        schedule_change(change=change, publish_at=timezone.now() + timedelta(seconds=5), by=author(cast)),
        publish_due_changes(now=timezone.now() + timedelta(minutes=1), by=SYSTEM),
    ),
    "API key with every scope: activate": lambda cast, rule, change: api(
        cast, f"rules/{rule.uuid}/activate", {}
    ),
    "API key with every scope: approve": lambda cast, rule, change: api(
        cast, f"change-requests/{change.uuid}/approve", {"revision": 1}
    ),
    "API key with every scope: loosen the policy, approve": lambda cast, rule, change: (
        api_client(make_key(cast.workspace, *Scope)).patch(
            "/api/v1/change-requests/policy", {"key_approval": True}, format="json"
        ),
        api_client(make_key(cast.workspace, *Scope, name="other")).post(
            f"/api/v1/change-requests/{change.uuid}/approve", {"revision": 1}, format="json"
        ),
    ),
    "API key with every scope: roll back": lambda cast, rule, change: api(
        cast, f"rules/{rule.uuid}/rollback", {"to_version": 1, "base_version": 2}
    ),
    "page as author: activate": lambda cast, rule, change: page(cast, f"rules/{rule.uuid}/activate/", {}),
    "page as author: approve": lambda cast, rule, change: page(
        cast, f"changes/{change.uuid}/approve/", {"revision": 1}
    ),
    "page as author: editor": lambda cast, rule, change: page(
        cast,
        f"rules/{rule.uuid}/edit/",
        {"do": "activate", "mode": "json", "base_version": 2, "document": '{"applies_to": "TOOL_CALL:x"}'},
    ),
    "foreign workspace": lambda cast, rule, change: approve_change(
        change=change, revision=1, by=Actor("user", "x", cast.elsewhere.pk, "x", cast.actor("owner").role)
    ),
}


@pytest.mark.parametrize("name", ATTEMPTS)
def test_gate__every_way_around_it__serves_nothing_unapproved(cast: Cast, name: str) -> None:
    change = make_change(cast.workspace, by=author(cast))
    rule = Rule.objects.get(pk=change.rule_id)
    with suppress(Refused, NotPermitted, TransitionError):
        ATTEMPTS[name](cast, rule, change)
    rule.refresh_from_db()
    assert (rule.status, rule.live_version.number) == ("active", 1)
    assert not ChangeRequest.objects.filter(rule=rule, kind="edit", status="published").exists()


def test_gate__code__only_publishing_writes_what_is_served() -> None:
    """Assignments and keyword arguments of updates, in every module but ``publishing``."""
    found = []
    for path in (*ROOT.glob("corrections/**/*.py"), *ROOT.glob("memory/**/*.py")):
        if path.name == "publishing.py" or "migrations" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Assign):
                names = [t.attr for t in ast.walk(node) if isinstance(t, ast.Attribute) and _is_stored(t)]
                found += [f"{path.name}: {name}" for name in names if name == "live_version"]
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                if node.func.attr in ("update", "create", "update_or_create"):
                    named = {keyword.arg for keyword in node.keywords}
                    found += [f"{path.name}: update" for _ in ["live_version"] if "live_version" in named]
                if ast.unparse(node.func).startswith("Rule.objects") and node.func.attr == "update":
                    found += [f"{path.name}: status" for one in node.keywords if one.arg == "status"]
    assert not found


def _is_stored(target: ast.Attribute) -> bool:
    return isinstance(target.ctx, ast.Store)


def scheduled(cast: Cast) -> ChangeRequest:
    """An approved change that is published in an hour."""
    change = make_change(cast.workspace, by=author(cast))
    moment = timezone.now() + timedelta(hours=1)
    change = schedule_change(change=change, publish_at=moment, by=author(cast))
    return approve_change(change=change, revision=change.revision, by=cast.actor("reviewer"))


LATER = timedelta(hours=2)


def test_schedule__approved__is_published_when_its_time_comes_and_not_before(cast: Cast) -> None:
    change = scheduled(cast)
    assert change.status == "approved"
    assert publish_due_changes(now=timezone.now(), by=SYSTEM) == 0
    assert publish_due_changes(now=timezone.now() + LATER, by=SYSTEM) == 1
    assert publish_due_changes(now=timezone.now() + LATER, by=SYSTEM) == 0
    assert Rule.objects.get(pk=change.rule_id).live_version.number == 2


def test_schedule__edited_after_approval__waits_for_a_new_one(cast: Cast) -> None:
    change = scheduled(cast)
    rule = Rule.objects.get(pk=change.rule_id)
    edit_rule(rule=rule, document=weather_document(priority=7), base_version=2, by=author(cast))
    assert publish_due_changes(now=timezone.now() + LATER, by=SYSTEM) == 0
    rule.refresh_from_db()
    change.refresh_from_db()
    assert (rule.live_version.number, change.status) == (1, "open")


def test_schedule__rule_changed_meanwhile__fails_loudly(cast: Cast) -> None:
    change = scheduled(cast)
    take_step(rule=Rule.objects.get(pk=change.rule_id), step="disable", by=SYSTEM)
    assert publish_due_changes(now=timezone.now() + LATER, by=SYSTEM) == 0
    change.refresh_from_db()
    assert change.status == "failed"
    assert "has changed since" in change.failure
    assert Alert.objects.get(kind="change_failed").detail["change"] == str(change.uuid)
    assert Rule.objects.get(pk=change.rule_id).status == "disabled"


def test_schedule__policy_became_stricter__fails_loudly(cast: Cast) -> None:
    change = scheduled(cast)
    Workspace.objects.filter(pk=cast.workspace.pk).update(settings={"changes": {"required_approvals": 2}})
    assert publish_due_changes(now=timezone.now() + LATER, by=SYSTEM) == 0
    change.refresh_from_db()
    assert (change.status, change.failure) == ("failed", "This lacks 1 more approval.")


def test_schedule__cancelled__is_open_again(cast: Cast) -> None:
    change = scheduled(cast)
    change = schedule_change(change=change, publish_at=None, by=author(cast))
    assert (change.status, change.publish_at) == ("open", None)
    assert publish_due_changes(now=timezone.now() + LATER, by=SYSTEM) == 0


def test_schedule__moment_that_has_passed__is_refused(cast: Cast) -> None:
    change = make_change(cast.workspace)
    with pytest.raises(Refused, match="has passed"):
        schedule_change(change=change, publish_at=timezone.now() - timedelta(seconds=1), by=author(cast))
    rule = make_rule(cast.workspace, name="other")
    with pytest.raises(Refused, match="has passed"):
        request_change(rule=rule, kind="disable", by=author(cast), publish_at=timezone.now())
