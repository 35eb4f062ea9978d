"""The management API: one happy path and one refusal for each endpoint, and the wall between workspaces."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from rest_framework.test import APIClient

from memory.domain.access import Role, Scope
from memory.models import ApiKey, AuditEvent, ErrorPattern, Member, Tool, ToolSchema, Validator, Workspace
from tests.builders import (
    make_call,
    make_failure,
    make_link,
    make_pattern,
    make_task,
    make_tool,
    make_validator,
)
from tests.conftest import Cast, api_client, make_key

pytestmark = pytest.mark.django_db
Make = Callable[[Workspace], Any]


def make_member(workspace: Workspace) -> Member:
    return Member.objects.filter(workspace=workspace).latest("pk")


def make_listed_key(workspace: Workspace) -> ApiKey:
    make_key(workspace, name="listed")
    return ApiKey.objects.get(workspace=workspace, name="listed")


def names(answer: Any, field: str) -> list[Any]:
    assert answer.status_code == 200, answer.json()
    return [row[field] for row in answer.json()["results"]]


OBJECTS = [
    pytest.param("get", "api-tool", make_tool, None, id="get-tool"),
    pytest.param("patch", "api-tool", make_tool, {"description": "x"}, id="patch-tool"),
    pytest.param("get", "api-tool-schemas", make_tool, None, id="tool-schemas"),
    pytest.param("get", "api-pattern", make_pattern, None, id="get-pattern"),
    pytest.param("get", "api-pattern-failures", make_pattern, None, id="pattern-failures"),
    pytest.param("post", "api-pattern-status", make_pattern, {"status": "ignored"}, id="pattern-status"),
    pytest.param("get", "api-validator", make_validator, None, id="get-validator"),
    pytest.param("patch", "api-validator", make_validator, {"is_enabled": False}, id="patch-validator"),
    pytest.param("delete", "api-validator", make_validator, None, id="delete-validator"),
    pytest.param("post", "api-key-revoke", make_listed_key, None, id="revoke-key"),
    pytest.param("get", "api-member", make_member, None, id="get-member"),
    pytest.param("patch", "api-member", make_member, {"role": "reviewer"}, id="patch-member"),
    pytest.param("delete", "api-member", make_member, None, id="delete-member"),
]
LISTS = ["api-tools", "api-patterns", "api-validators", "api-keys", "api-members", "api-audit"]


@pytest.mark.parametrize(("method", "url", "make", "body"), OBJECTS)
def test_object__of_another_workspace__is_404_and_stays_as_it_is(
    cast: Cast, foreign_api: APIClient, method: str, url: str, make: Make, body: Any
) -> None:
    row = make(cast.workspace)
    before = type(row).objects.filter(pk=row.pk).values().get()

    answer = getattr(foreign_api, method)(reverse(url, args=[row.uuid]), body)
    unknown = getattr(foreign_api, method)(reverse(url, args=[uuid4()]), body)

    assert (answer.status_code, answer.json()) == (unknown.status_code, unknown.json())
    assert answer.status_code == 404
    assert type(row).objects.filter(pk=row.pk).values().get() == before


@pytest.mark.parametrize(("method", "url", "make", "body"), OBJECTS)
def test_object__key_of_its_workspace__is_served(
    cast: Cast, admin_api: APIClient, method: str, url: str, make: Make, body: Any
) -> None:
    row = make(cast.workspace)

    answer = getattr(admin_api, method)(reverse(url, args=[row.uuid]), body)

    assert answer.status_code in {200, 204}, answer.json()


@pytest.mark.parametrize("url", LISTS)
def test_list__two_workspaces__shows_only_its_own(cast: Cast, foreign_api: APIClient, url: str) -> None:
    make_tool(cast.workspace)
    make_pattern(cast.workspace)
    make_validator(cast.workspace)
    mine = {
        str(uuid) for model in (Tool, ErrorPattern, Validator, ApiKey, Member) for uuid in uuids(model, cast)
    }
    mine |= {str(event.uuid) for event in AuditEvent.objects.filter(workspace_uuid=cast.workspace.uuid)}

    assert mine.isdisjoint(names(foreign_api.get(reverse(url)), "uuid"))


def uuids(model: Any, cast: Cast) -> list[UUID]:
    return list(model.objects.filter(workspace=cast.workspace).values_list("uuid", flat=True))


@pytest.mark.parametrize(
    ("method", "url", "make", "body", "what"),
    [
        pytest.param("patch", "api-tool", make_tool, {"description": "x"}, "edit tools", id="tool"),
        pytest.param(
            "post",
            "api-pattern-status",
            make_pattern,
            {"status": "ignored"},
            "change the status",
            id="pattern",
        ),
        pytest.param("patch", "api-validator", make_validator, {}, "write validators", id="validator"),
        pytest.param("post", "api-validators", None, {}, "write validators", id="new-validator"),
        pytest.param("post", "api-validator-try", None, {}, "write validators", id="try-validator"),
        pytest.param("get", "api-keys", None, None, "manage API keys", id="keys"),
        pytest.param("post", "api-keys", None, {}, "manage API keys", id="new-key"),
        pytest.param("post", "api-key-revoke", make_listed_key, None, "manage API keys", id="revoke-key"),
        pytest.param("post", "api-members", None, {}, "manage members", id="new-member"),
        pytest.param("delete", "api-member", make_member, None, "manage members", id="member"),
        pytest.param("get", "api-audit", None, None, "read the audit trail", id="audit"),
    ],
)
def test_write__key_with_too_little_scope__is_403_with_the_sentence(
    cast: Cast, agent_api: APIClient, method: str, url: str, make: Make | None, body: Any, what: str
) -> None:
    args = [make(cast.workspace).uuid] if make else []

    answer = getattr(agent_api, method)(reverse(url, args=args), body)

    assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied")
    assert f"This key may not {what}" in answer.json()["detail"]


@pytest.mark.parametrize("url", [*LISTS, "api-me"])
def test_list__without_a_key__is_401(db: None, url: str) -> None:
    answer = APIClient().get(reverse(url))

    assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Bearer")


def test_me__any_key__says_who_and_what_it_may(cast: Cast) -> None:
    answer = api_client(make_key(cast.workspace, Scope.RULES_READ, name="asker")).get(reverse("api-me"))

    assert answer.status_code == 200
    body = answer.json()
    assert (body["name"], body["scopes"], body["workspace"]["slug"]) == ("asker", ["rules:read"], "acme")
    assert body["may"] == ["see_self", "query_corrections", "locate_paths"]


def test_tools__part_of_a_name__filters(cast: Cast, agent_api: APIClient) -> None:
    make_tool(cast.workspace, "book_flight")
    make_tool(cast.workspace, "cancel")

    assert names(agent_api.get(reverse("api-tools"), {"q": "FLIGHT"}), "name") == ["book_flight"]


def test_tools__more_than_a_page__come_by_cursor(cast: Cast, agent_api: APIClient) -> None:
    for number in range(5):
        make_tool(cast.workspace, f"tool{number}")

    first = agent_api.get(reverse("api-tools"), {"page_size": 3})
    second = agent_api.get(first.json()["next"])

    assert names(first, "name") + names(second, "name") == [f"tool{number}" for number in (4, 3, 2, 1, 0)]


def test_tool__described__keeps_the_words_and_an_event(cast: Cast, admin_api: APIClient) -> None:
    tool = make_tool(cast.workspace)
    url = reverse("api-tool", args=[tool.uuid])

    answers = [admin_api.patch(url, {"description": "Books a flight."}) for _ in range(2)]

    assert [answer.json()["description"] for answer in answers] == ["Books a flight."] * 2
    event = AuditEvent.objects.get(verb="describe_tool")
    assert (event.actor_name, event.old, event.new) == (
        "admin", {"description": ""}, {"description": "Books a flight."},
    )  # fmt: skip


def test_tool__anything_but_the_description__is_422(cast: Cast, admin_api: APIClient) -> None:
    answer = admin_api.patch(reverse("api-tool", args=[make_tool(cast.workspace).uuid]), {"name": "other"})

    assert (answer.status_code, answer.json()["field"]) == (422, "description")


def test_tool_schemas__two_versions__newest_first(cast: Cast, agent_api: APIClient) -> None:
    tool = make_tool(cast.workspace)
    for version in (1, 2):
        ToolSchema.objects.create(tool=tool, version=version, schema_hash="x", seen_at=timezone.now())

    assert names(agent_api.get(reverse("api-tool-schemas", args=[tool.uuid])), "version") == [2, 1]


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        pytest.param({}, ["often", "new", "old"], id="by-count"),
        pytest.param({"order": "recent"}, ["new", "often", "old"], id="by-recency"),
        pytest.param({"status": "ignored"}, ["old"], id="status"),
        pytest.param({"tool": "cancel"}, ["new"], id="tool"),
        pytest.param({"scope": "shop"}, ["often"], id="scope"),
        pytest.param({"q": "OLD"}, ["old"], id="text"),
    ],
)
def test_patterns__filters_and_order__pick_the_rows(
    cast: Cast, agent_api: APIClient, query: dict[str, str], titles: list[str]
) -> None:
    now = timezone.now()
    week = timedelta(days=7)
    make_pattern(cast.workspace, "often", occurrence_count=9, scope="shop_1", last_seen_at=now - week)
    make_pattern(cast.workspace, "new", occurrence_count=2, tool="cancel", last_seen_at=now)
    make_pattern(cast.workspace, "old", occurrence_count=1, status="ignored", last_seen_at=now - 2 * week)

    assert names(agent_api.get(reverse("api-patterns"), query), "title") == titles


def test_patterns__many_with_the_same_count__every_one_comes_once(cast: Cast, agent_api: APIClient) -> None:
    made = {str(make_pattern(cast.workspace, f"p{number}").uuid) for number in range(120)}
    url, seen = reverse("api-patterns"), []
    while url:
        answer = agent_api.get(url)
        seen += names(answer, "uuid")
        url = answer.json()["next"]

    assert len(seen) == len(set(seen)) == 120
    assert set(seen) == made


def test_pattern__similar_ones__come_nearest_first(cast: Cast, agent_api: APIClient) -> None:
    pattern, near, far = (make_pattern(cast.workspace, title) for title in ("this", "near", "far"))
    make_link(far, pattern, 0.6)
    make_link(pattern, near, 0.9)

    body = agent_api.get(reverse("api-pattern", args=[pattern.uuid])).json()

    assert [(row["pattern"]["title"], row["similarity"]) for row in body["similar"]] == [
        ("near", 0.9),
        ("far", 0.6),
    ]


def test_pattern_failures__filtered__with_task_and_call(cast: Cast, agent_api: APIClient) -> None:
    pattern, task = make_pattern(cast.workspace), make_task(cast.workspace, "trip")
    make_failure(make_call(task), pattern)
    make_failure(make_call(task), pattern, repeat=True)
    url = reverse("api-pattern-failures", args=[pattern.uuid])

    assert names(agent_api.get(url), "call") == [1, 0]
    assert names(agent_api.get(url, {"repeat": "true"}), "external_id") == ["trip"]


def test_pattern_failures__more_rows__cost_no_more_queries(cast: Cast, agent_api: APIClient) -> None:
    pattern, task = make_pattern(cast.workspace), make_task(cast.workspace)
    url = reverse("api-pattern-failures", args=[pattern.uuid])
    counts = []
    for _ in range(2):
        for _ in range(10):
            make_failure(make_call(task), pattern)
        agent_api.get(url)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            agent_api.get(url)
        counts.append(len(queries))

    assert counts[0] == counts[1]


def test_pattern_status__ignored_and_back__leaves_two_events(cast: Cast, admin_api: APIClient) -> None:
    pattern = make_pattern(cast.workspace)
    url = reverse("api-pattern-status", args=[pattern.uuid])

    answers = [
        admin_api.post(url, {"status": status, "reason": "known"}).json()["status"]
        for status in ("ignored", "ignored", "open")
    ]

    assert answers == ["ignored", "ignored", "open"]
    verbs = AuditEvent.objects.filter(subject_uuid=str(pattern.uuid)).order_by("pk")
    assert list(verbs.values_list("verb", "reason")) == [
        ("ignore_pattern", "known"),
        ("reopen_pattern", "known"),
    ]


def test_pattern_status__covered_pattern_to_open__is_409(cast: Cast, admin_api: APIClient) -> None:
    pattern = make_pattern(cast.workspace, status="covered")

    answer = admin_api.post(reverse("api-pattern-status", args=[pattern.uuid]), {"status": "open"})

    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")
    assert "this is covered" in answer.json()["detail"]


def test_pattern_status__what_rules_decide__is_422(cast: Cast, admin_api: APIClient) -> None:
    url = reverse("api-pattern-status", args=[make_pattern(cast.workspace).uuid])

    answer = admin_api.post(url, {"status": "covered"})

    assert (answer.status_code, answer.json()["field"]) == (422, "status")


def test_audit__filters__pick_the_events(cast: Cast, admin_api: APIClient) -> None:
    admin_api.patch(reverse("api-tool", args=[make_tool(cast.workspace).uuid]), {"description": "x"})
    tomorrow = (timezone.now() + timedelta(days=1)).isoformat()

    assert names(admin_api.get(reverse("api-audit"), {"verb": "describe_tool"}), "actor_name") == ["admin"]
    assert names(admin_api.get(reverse("api-audit"), {"actor": "nobody"}), "uuid") == []
    assert names(admin_api.get(reverse("api-audit"), {"since": tomorrow}), "uuid") == []


def test_audit__bad_date__is_422(admin_api: APIClient) -> None:
    answer = admin_api.get(reverse("api-audit"), {"since": "yesterday"})

    assert (answer.status_code, answer.json()["field"]) == (422, "since")


def test_members__role_filter__picks(cast: Cast, agent_api: APIClient) -> None:
    assert names(agent_api.get(reverse("api-members"), {"role": Role.OWNER.value}), "username") == ["owner"]
