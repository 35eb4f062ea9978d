"""The wall: every action for every role and scope, and every URL for those who must stay outside.

The tables are written out here and not derived: a change of the product's table must be said twice.
"""

from itertools import product
from uuid import uuid4

import pytest
from django.test import Client
from rest_framework.test import APIClient

from memory.domain.access import PERMISSIONS, Actor, Role, Scope, may
from tests.architecture.routes import API, ELSE, METHODS, PAGES, Route
from tests.conftest import Cast, page_client

ROLES = ("viewer", "reviewer", "maintainer", "owner")
LEAST_ROLE = {
    "see_self": "viewer",
    "look": "viewer",
    "query_corrections": "viewer",
    "record_experience": "maintainer",
    "import_runs": "maintainer",
    "judge_task": "reviewer",
    "speak_for_people": "reviewer",
    "triage_pattern": "reviewer",
    "locate_paths": "viewer",
    "report_reuse": "reviewer",
    "write_path": "reviewer",
    "request_rewrite": "reviewer",
    "review_rewrite": "reviewer",
    "roll_back_path": "maintainer",
    "merge_nodes": "maintainer",
    "review_sample": "reviewer",
    "handle_alert": "reviewer",
    "sort_inbox": "reviewer",
    "draft_rule": "reviewer",
    "rule_conflict": "reviewer",
    "publish_rule": "maintainer",
    "steer_canary": "maintainer",
    "stop_canary": "reviewer",
    "review_rule": "reviewer",
    "review_change": "reviewer",
    "edit_validator": "maintainer",
    "edit_tool": "maintainer",
    "manage_keys": "maintainer",
    "manage_members": "owner",
    "manage_webhooks": "owner",
    "manage_workspace": "owner",
    "see_audit": "reviewer",
}
SCOPE = {
    "see_self": None,  # every key
    "look": "experience:read",
    "query_corrections": "rules:read",
    "record_experience": "experience:write",
    "import_runs": "experience:write",
    "judge_task": "experience:write",
    "speak_for_people": "review",
    "triage_pattern": "review",
    "locate_paths": "rules:read",
    "report_reuse": "experience:write",
    "write_path": "experience:write",
    "request_rewrite": "experience:write",
    "review_rewrite": "review",
    "roll_back_path": "review",
    "merge_nodes": "review",
    "review_sample": "review",
    "handle_alert": "review",
    "sort_inbox": "review",
    "draft_rule": "rules:write",
    "rule_conflict": "review",
    "publish_rule": "admin",
    "steer_canary": "admin",
    "stop_canary": "review",
    "review_rule": "review",
    "review_change": "review",
    "edit_validator": "rules:write",
    "edit_tool": "rules:write",
    "manage_keys": "admin",
    "manage_members": "admin",
    "manage_webhooks": "admin",
    "manage_workspace": "admin",
    "see_audit": "admin",
}
PUBLIC = {"login", "healthz", "readyz", "set_language"}
FOR_SIGNED_IN = {"home", "logout", "password"}
UNKNOWN = {"uuid:uuid": str(uuid4()), "slug:digest": "0" * 64, "int:number": "1", "int:seq": "0",
           "slug:kind": "rewrite"}  # fmt: skip


def test_permissions__every_action__is_in_the_expected_tables() -> None:
    assert set(PERMISSIONS) == set(LEAST_ROLE) == set(SCOPE)


@pytest.mark.parametrize(("role", "action"), list(product(ROLES, LEAST_ROLE)))
def test_role__each_action__is_allowed_from_its_least_role_on(role: str, action: str) -> None:
    actor = Actor(kind="user", name="somebody", role=Role(role))

    assert may(actor, action) == (ROLES.index(role) >= ROLES.index(LEAST_ROLE[action]))


@pytest.mark.parametrize(("scope", "action"), list(product([scope.value for scope in Scope], SCOPE)))
def test_key__each_action__is_allowed_by_its_scope_or_admin(scope: str, action: str) -> None:
    actor = Actor(kind="key", name="agent", scopes=frozenset({Scope(scope)}))

    assert may(actor, action) == (SCOPE[action] is None or scope in {SCOPE[action], "admin"})


def test_nobody__no_role_and_no_scope__may_do_nothing() -> None:
    assert not any(may(Actor(kind="user", name="x"), action) for action in PERMISSIONS)
    assert [action for action in PERMISSIONS if may(Actor(kind="key", name="x"), action)] == ["see_self"]


@pytest.mark.parametrize("route", PAGES, ids=lambda route: route.name)
def test_page__every_one__has_an_access_rule(route: Route) -> None:
    assert getattr(route.view, "access_rule", None) in PERMISSIONS


@pytest.mark.parametrize("route", API, ids=lambda route: route.name)
def test_api_view__every_method__names_its_action(route: Route) -> None:
    handled = {name.upper() for name in METHODS if hasattr(route.view_class, name)}

    assert handled == set(route.view_class.actions)
    assert set(route.view_class.actions.values()) <= set(PERMISSIONS)


def test_other_urls__every_one__is_known() -> None:
    assert {route.name for route in ELSE} <= PUBLIC | FOR_SIGNED_IN


@pytest.mark.parametrize("route", PAGES, ids=lambda route: route.name)
def test_page__nobody_signed_in__is_sent_to_the_login(db: None, route: Route) -> None:
    answers = probe(Client(), route)

    assert 302 in answers
    assert answers <= {302, 405}


@pytest.mark.parametrize("route", PAGES, ids=lambda route: route.name)
def test_page__outsider__finds_nothing(cast: Cast, route: Route) -> None:
    answers = probe(page_client(cast.outsider), route)

    assert 404 in answers
    assert answers <= {404, 405}


@pytest.mark.parametrize("name", sorted(FOR_SIGNED_IN))
def test_own_page__nobody_signed_in__is_sent_to_the_login(db: None, name: str) -> None:
    route = next(route for route in ELSE if route.name == name)

    assert probe(Client(), route) <= {302, 405}


@pytest.mark.parametrize("route", API, ids=lambda route: route.name)
def test_api__no_key__is_asked_for_one(db: None, route: Route) -> None:
    for method in route.view_class.actions:
        answer = APIClient().generic(method, route.url(UNKNOWN), "{}", content_type="application/json")
        assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Bearer")


@pytest.mark.parametrize("route", API, ids=lambda route: route.name)
def test_api__method_without_an_action__is_refused(admin_api: APIClient, route: Route) -> None:
    for method in {"PUT", "DELETE", "PATCH", "POST"} - set(route.view_class.actions):
        answer = admin_api.generic(method, route.url(UNKNOWN), "{}", content_type="application/json")
        assert answer.status_code in {403, 405}


def probe(client: Client, route: Route) -> set[int]:
    """What GET and POST answer."""
    url = route.url(UNKNOWN)
    return {client.get(url).status_code, client.post(url).status_code}
