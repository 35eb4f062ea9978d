"""Every page: who may open it, what it costs, and that what agents wrote stays text."""

from dataclasses import dataclass
from datetime import timedelta

import pytest
from django.utils import timezone

from memory.models import ErrorPattern, Task, Tool, Validator, Webhook, WebhookDelivery, Workspace
from tests.builders import (
    make_call,
    make_day,
    make_failure,
    make_link,
    make_outcome,
    make_pattern,
    make_payload,
    make_step,
    make_task,
    make_tool,
    make_validator,
)  # fmt: skip
from tests.conftest import Cast, make_key, page_client
from tests.pages import HOSTILE, extra_queries


@dataclass(frozen=True)
class Scene:
    """One of each, full of hostile text, and as many more as asked for."""

    task: Task
    pattern: ErrorPattern
    tool: Tool
    validator: Validator
    payload: str
    webhook: Webhook


def build_scene(workspace: Workspace, rows: int) -> Scene:
    """``rows`` of everything that lists show; the named ones are the newest."""
    for _ in range(rows):
        tool = make_tool(workspace, f"{HOSTILE}{Tool.objects.count()}", description=HOSTILE)
        pattern = make_pattern(workspace, HOSTILE, identifier=HOSTILE, scope=HOSTILE, tool=tool.name)
        task = make_task(
            workspace, f"{HOSTILE}{Task.objects.count()}", goal=HOSTILE, tags=[HOSTILE], agent=HOSTILE,
            env={HOSTILE: HOSTILE}, analysis_error=HOSTILE, redactions={"email": 1},
        )  # fmt: skip
        validator = make_validator(
            workspace, f"{HOSTILE}{Validator.objects.count()}", tool=tool.name, message=HOSTILE
        )
        make_outcome(task, note=HOSTILE, actor=HOSTILE)
        make_key(workspace, name=f"{HOSTILE}{task.pk}")
    payload = make_payload(workspace, f"{HOSTILE}{task.pk}")
    big = {"$payload": payload.digest, "size": 900, "preview": HOSTILE}
    for _ in range(rows):
        call = make_call(
            task, tool.name, input={"a": HOSTILE}, output=big, reasoning=HOSTILE, tool_version=HOSTILE
        )
        make_step(task, call.seq, HOSTILE)
        make_failure(
            call, pattern, message=HOSTILE, validator=validator, context={"env": HOSTILE}, repeat=True
        )
        make_link(pattern, make_pattern(workspace, HOSTILE))
    make_day(workspace, timezone.now().date() - timedelta(days=rows), 100, 10, 5)
    return Scene(task, pattern, tool, validator, payload.digest, make_webhook(workspace, rows))


def make_webhook(workspace: Workspace, rows: int) -> Webhook:
    """The newest of ``rows`` webhooks, with as many messages that nobody took."""
    now = timezone.now()
    for number in range(Webhook.objects.count(), Webhook.objects.count() + rows):
        hook = Webhook.objects.create(
            workspace=workspace, url=f"https://example.org/{HOSTILE}{number}", events=["alert.raised"],
            created_by=HOSTILE, failures=number,
        )  # fmt: skip
    for _ in range(rows):
        WebhookDelivery.objects.create(
            webhook=hook, event="alert.raised", body={}, state="given_up", next_at=now, created_at=now,
            last_error=HOSTILE,
        )  # fmt: skip
    return hook


PAGES = [
    # url, least role
    pytest.param("", "viewer", id="overview"),
    pytest.param("?days=90", "viewer", id="overview-90"),
    pytest.param("tasks/", "viewer", id="tasks"),
    pytest.param(
        "tasks/?text=script&tag=a&agent=b&tool=c&outcome=failure&since=2026-01-01",
        "viewer",
        id="tasks-filtered",
    ),
    pytest.param("tasks/{task.uuid}/", "viewer", id="task"),
    pytest.param("payloads/{payload}/", "viewer", id="payload"),
    pytest.param("patterns/", "viewer", id="patterns"),
    pytest.param("patterns/?order=recent&text=script", "viewer", id="patterns-recent"),
    pytest.param("patterns/{pattern.uuid}/", "viewer", id="pattern"),
    pytest.param("tools/", "viewer", id="tools"),
    pytest.param("tools/{tool.uuid}/", "viewer", id="tool"),
    pytest.param("validators/", "viewer", id="validators"),
    pytest.param("validators/{validator.uuid}/", "viewer", id="validator"),
    pytest.param("validators/new/", "maintainer", id="validator-new"),
    pytest.param("validators/{validator.uuid}/edit/", "maintainer", id="validator-edit"),
    pytest.param("keys/", "maintainer", id="keys"),
    pytest.param("members/", "viewer", id="members"),
    pytest.param("audit/", "reviewer", id="audit"),
    pytest.param("health/", "viewer", id="health"),
    pytest.param("search/?q=script", "viewer", id="search"),
    pytest.param("settings/", "owner", id="settings"),
    pytest.param("webhooks/", "owner", id="webhooks"),
    pytest.param("webhooks/{webhook.uuid}/", "owner", id="webhook"),
]
BELOW = {"reviewer": "viewer", "maintainer": "reviewer", "owner": "maintainer"}


def address(url: str, scene: Scene) -> str:
    """The page's path in the cast's workspace."""
    return "/w/acme/" + url.format(**vars(scene))


@pytest.mark.parametrize(("url", "role"), PAGES)
def test_page__least_role__opens_and_shows_agents_text_as_text(cast: Cast, url: str, role: str) -> None:
    path = address(url, build_scene(cast.workspace, 2))

    answer = page_client(getattr(cast, role)).get(path)

    assert answer.status_code == 200
    if "payload" not in url:
        assert "<script>alert" not in answer.text
        assert "60481729" not in answer.text
    if answer.headers["Content-Type"].startswith("text/html"):
        assert "<h1>" in answer.text


@pytest.mark.parametrize(("url", "role"), PAGES)
def test_page__others__get_nothing(cast: Cast, url: str, role: str) -> None:
    path = address(url, build_scene(cast.workspace, 1))

    assert page_client(cast.outsider).get(path).status_code == 404
    anonymous = page_client(cast.outsider)
    anonymous.logout()
    assert anonymous.get(path).url.startswith("/login/?next=/w/acme/")
    if role in BELOW:
        refusal = page_client(getattr(cast, BELOW[role])).get(path)
        assert refusal.status_code == 403
        assert f"at least {role}" in refusal.text


@pytest.mark.parametrize(
    "url",
    [
        pytest.param("tasks/{task.uuid}/", id="task"),
        pytest.param("payloads/{payload}/", id="payload"),
        pytest.param("patterns/{pattern.uuid}/", id="pattern"),
        pytest.param("tools/{tool.uuid}/", id="tool"),
        pytest.param("validators/{validator.uuid}/", id="validator"),
        pytest.param("validators/{validator.uuid}/edit/", id="validator-edit"),
    ],
)
def test_page__row_of_another_workspace__is_not_found(cast: Cast, url: str) -> None:
    path = address(url, build_scene(cast.elsewhere, 1))

    assert page_client(cast.owner).get(path).status_code == 404


@pytest.mark.parametrize(("url", "role"), PAGES)
def test_page__more_rows__costs_no_more_queries(cast: Cast, url: str, role: str) -> None:
    client = page_client(getattr(cast, role))
    few = address(url, build_scene(cast.workspace, 3))

    assert extra_queries(client, few, lambda: address(url, build_scene(cast.workspace, 27))) == []


@pytest.mark.parametrize("url", ["", "tasks/", "patterns/", "tools/", "validators/"])
def test_page__nothing_recorded__says_what_to_do(cast: Cast, url: str) -> None:
    text = page_client(cast.owner).get(f"/w/acme/{url}").text

    assert 'class="empty"' in text
    assert 'class="button' in text[text.index('class="empty"') :]


def test_overview__few_calls__says_not_enough_data(cast: Cast) -> None:
    make_task(cast.workspace)
    make_day(cast.workspace, timezone.now().date(), 5, 2, 1)

    assert "Not enough data (n = 5)" in page_client(cast.viewer).get("/w/acme/").text


def test_overview__enough_calls__shows_rate_interval_and_n(cast: Cast) -> None:
    make_task(cast.workspace)
    make_day(cast.workspace, timezone.now().date(), 200, 20, 10)

    text = page_client(cast.viewer).get("/w/acme/").text

    assert "5.0 %" in text
    assert "2.7–9.0 % (95 %), n = 200" in text


@pytest.mark.parametrize(
    "cursor", ["abc", "-1", "9" * 40, "~", "x~1", "1~x", "2026-99-01~5", "2026-01-01~5", "\x00"]
)
def test_list__nonsense_cursor__is_no_error(cast: Cast, cursor: str) -> None:
    client = page_client(cast.owner)

    for url in ("tasks/", "patterns/", "patterns/?order=recent", "tools/", "audit/"):
        given = {"cursor": cursor, "order": "recent" if "recent" in url else ""}
        assert client.get(f"/w/acme/{url.partition('?')[0]}", given).status_code == 200


@pytest.mark.parametrize("text", ["\x00", "a" * 5000, "%", "\\", "'\"", "\ud7ff😀"])
def test_filter__nonsense__is_no_error(cast: Cast, text: str) -> None:
    make_task(cast.workspace, goal="100 % \\ sure")
    client = page_client(cast.owner)
    fields = dict.fromkeys(
        ("text", "agent", "tool", "tag", "q", "since", "kind", "scope", "outcome", "name"), text
    )

    for url in ("tasks/", "patterns/", "tools/", "audit/", "search/", "tools/named/"):
        assert client.get(f"/w/acme/{url}", fields).status_code == (404 if "named" in url else 200)


@pytest.mark.parametrize(
    "query", ["until=9999-12-31", "since=0001-01-01", "since=9999-12-31&until=0001-01-01"]
)
def test_tasks__days_at_the_ends_of_the_calendar__are_answered(cast: Cast, query: str) -> None:
    assert page_client(cast.owner).get(f"/w/acme/tasks/?{query}").status_code == 200
