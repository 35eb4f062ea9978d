"""The pages of paths: who may open them, what they cost, that agents' text stays text, and what they do."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory.models import AuditEvent, Path, RewriteProposal
from memory.queries.path_documents import read_path
from tests.builders import make_path
from tests.conftest import Cast, page_client
from tests.memory.web.path_scenes import HOSTILE, PathScene, build_path_scene

PAGES = [
    pytest.param("paths/", "viewer", id="paths"),
    pytest.param(
        "paths/?text=img&status=active&tag=a&tool=b&agent=c&since=2026-01-01", "viewer", id="filtered"
    ),
    pytest.param("paths/{path.uuid}/", "viewer", id="path"),
    pytest.param("paths/{old.uuid}/", "viewer", id="old-version"),
    pytest.param("paths/{part.uuid}/", "viewer", id="part"),
    pytest.param("paths/{path.uuid}/compare/", "viewer", id="compare"),
    pytest.param("paths/{path.uuid}/compare/?with={old.uuid}", "viewer", id="compare-with"),
    pytest.param("paths/new/", "reviewer", id="new"),
    pytest.param("paths/import/", "reviewer", id="import"),
    pytest.param("paths/{path.uuid}/correct/", "reviewer", id="correct"),
]
BELOW = {"reviewer": "viewer"}


def address(url: str, scene: PathScene) -> str:
    """The page's path in the cast's workspace."""
    return "/w/acme/" + url.format(**vars(scene))


@pytest.mark.parametrize(("url", "role"), PAGES)
def test_page__least_role__opens_and_shows_agents_text_as_text(cast: Cast, url: str, role: str) -> None:
    path = address(url, build_path_scene(cast.workspace, 2))

    answer = page_client(getattr(cast, role)).get(path)

    assert answer.status_code == 200
    assert "<script>alert" not in answer.text
    assert "<img src=x" not in answer.text
    assert "60481729" not in answer.text
    assert "<h1>" in answer.text


@pytest.mark.parametrize(("url", "role"), PAGES)
def test_page__others__get_nothing(cast: Cast, url: str, role: str) -> None:
    path = address(url, build_path_scene(cast.workspace))

    assert page_client(cast.outsider).get(path).status_code == 404
    if role in BELOW:
        refusal = page_client(getattr(cast, BELOW[role])).get(path)
        assert refusal.status_code == 403
        assert f"at least {role}" in refusal.text


@pytest.mark.parametrize(("url", "role"), PAGES)
def test_page__more_rows__costs_no_more_queries(cast: Cast, url: str, role: str) -> None:
    client = page_client(getattr(cast, role))
    few = build_path_scene(cast.workspace, 2)
    client.get(address(url, few))
    with CaptureQueriesContext(connection) as before:
        client.get(address(url, few))
    many = build_path_scene(cast.workspace, 9)
    with CaptureQueriesContext(connection) as after:
        client.get(address(url, many))

    assert len(after) <= len(before), "\n".join(query["sql"] for query in after.captured_queries)


@pytest.mark.parametrize("with_", ["", "nonsense", "00000000-0000-0000-0000-000000000000"])
def test_compare__unknown_other__compares_with_the_parent(cast: Cast, with_: str) -> None:
    scene = build_path_scene(cast.workspace)

    text = page_client(cast.viewer).get(f"/w/acme/paths/{scene.path.uuid}/compare/", {"with": with_}).text

    assert "From version 1 to version 2." in text


def test_compare__path_of_another_workspace__is_not_shown(cast: Cast) -> None:
    mine, theirs = build_path_scene(cast.workspace), make_path(cast.elsewhere, "their secret")

    answer = page_client(cast.viewer).get(
        f"/w/acme/paths/{mine.path.uuid}/compare/", {"with": str(theirs.uuid)}
    )

    assert "their secret" not in answer.text


def test_compare__path_of_another_lineage__is_named_by_key(cast: Cast) -> None:
    one, other = make_path(cast.workspace, key="path:one"), make_path(cast.workspace, key="path:other")

    answer = page_client(cast.viewer).get(f"/w/acme/paths/{one.uuid}/compare/", {"with": str(other.uuid)})

    assert "Two different paths." in answer.text
    assert (answer.context["compared"].old.title, answer.context["compared"].new.title) == (
        one.key,
        other.key,
    )


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        pytest.param({"text": "refund"}, {"refund"}, id="text"),
        pytest.param({"tool": "pay"}, {"refund"}, id="tool"),
        pytest.param({"tag": "flight"}, {"flight"}, id="tag"),
        pytest.param({"agent": "o1"}, {"refund"}, id="agent"),
        pytest.param({"result": "failure"}, {"refund"}, id="result"),
        pytest.param({"level": "task"}, {"refund", "flight"}, id="level"),
        pytest.param({"origin": "hand"}, set(), id="origin"),
        pytest.param({"status": "nonsense", "since": "1-1-1"}, {"refund", "flight"}, id="nonsense"),
        pytest.param({"since": "2999-01-01"}, set(), id="time"),
    ],
)
def test_paths__filter__shows_what_matches(cast: Cast, query: dict[str, str], shown: set[str]) -> None:
    make_path(cast.workspace, "flight", tags=("flight",))
    make_path(cast.workspace, "refund", ["pay"], tags=("money",), agent="o1", result="failure")

    text = page_client(cast.viewer).get("/w/acme/paths/", {"text": "", **query}).text

    assert {goal for goal in ("flight", "refund") if f">{goal}</a>" in text} == shown


def test_paths__nothing_there__says_how_paths_come(cast: Cast) -> None:
    Path.objects.all().delete()

    text = page_client(cast.owner).get("/w/acme/paths/").text

    assert "No path yet" in text
    assert 'href="/w/acme/paths/new/"' in text


def test_path__long__shows_a_stretch_of_its_steps(cast: Cast) -> None:
    path = make_path(cast.workspace, "long", [f"tool{number}" for number in range(450)])
    client = page_client(cast.viewer)

    first = client.get(f"/w/acme/paths/{path.uuid}/").text
    last = client.get(f"/w/acme/paths/{path.uuid}/", {"from": "401"}).text

    assert ("Steps 1 to 200 of 450" in first, "Steps 401 to 450 of 450" in last) == (True, True)
    assert 'data-shows="path:n449"' not in first
    assert 'data-shows="path:n449"' in last


@pytest.mark.parametrize(
    ("wanted", "type_", "read"),
    [
        pytest.param("json", "application/json", lambda text: len(json.loads(text)["nodes"]), id="json"),
        pytest.param("graphml", "application/graphml+xml", lambda text: text.count("<node "), id="graphml"),
        pytest.param("dot", "text/vnd.graphviz", lambda text: text.count("shape="), id="dot"),
    ],
)
def test_export__format__holds_every_node(
    cast: Cast, wanted: str, type_: str, read: Callable[[str], int]
) -> None:
    scene = build_path_scene(cast.workspace)

    answer = page_client(cast.viewer).get(f"/w/acme/paths/{scene.path.uuid}/export/", {"format": wanted})

    assert answer.headers["Content-Type"].startswith(type_)
    assert answer.headers["Content-Disposition"] == f'attachment; filename="path-{scene.path.uuid}.{wanted}"'
    assert read(answer.text) == 5


def test_export__unknown_format__is_not_found(cast: Cast) -> None:
    path = make_path(cast.workspace)

    assert page_client(cast.viewer).get(f"/w/acme/paths/{path.uuid}/export/?format=exe").status_code == 404


@pytest.mark.parametrize("tokens", ["60", "", "-1", "abc", "99999999999"])
def test_prompt__any_budget__is_answered(cast: Cast, tokens: str) -> None:
    scene = build_path_scene(cast.workspace)

    answer = page_client(cast.viewer).get(f"/w/acme/paths/{scene.path.uuid}/", {"tokens": tokens})

    assert answer.status_code == 200
    assert 'id="prompt-text"' in answer.text


def test_write__steps__are_stored_in_order(cast: Cast) -> None:
    data = {
        "mode": "form", "do": "save", "goal": "Change a flight", "tags": "flight， change",
        "result": "success", "reward": "0.9", "count": "2", "step-0-kind": "action", "step-0-tool": "find",
        "step-0-params": '{"a": 1}', "step-0-condition": "found",
        "step-1-kind": "decision", "step-1-content": "Ask which one",
    }  # fmt: skip

    answer = page_client(cast.reviewer).post("/w/acme/paths/new/", data)

    path = Path.objects.get(workspace=cast.workspace, origin="hand")
    doc = read_path(path)
    assert answer.url == f"/w/acme/paths/{path.uuid}/"
    assert [(node.kind, node.tool, node.params) for node in doc.nodes] == [
        ("action", "find", {"a": 1}), ("decision", "", {}),
    ]  # fmt: skip
    assert [(edge.source, edge.target, edge.condition) for edge in doc.edges] == [
        ("find", "decision", "found")
    ]
    assert (doc.tags, doc.reward) == (("flight", "change"), 0.9)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        pytest.param(
            {"mode": "form", "count": "0", "result": "success"}, "goal: Say what the path is for.", id="empty"
        ),
        pytest.param(
            {"mode": "form", "count": "1", "result": "success", "goal": "g", "step-0-params": "{"},
            "Step 1: Parameters (JSON): This is no JSON: line 1, column 2", id="params",
        ),
        pytest.param({"mode": "json", "document": "{,"}, "This is no JSON: line 1, column 2", id="no-json"),
        pytest.param({"mode": "json", "document": "[]"}, "A path is a JSON object.", id="list"),
        pytest.param(
            {"mode": "json", "document": '{"goal": "g", "nodes": [], "x": 1}'}, "x: This field is", id="field"
        ),
        pytest.param({"mode": "json", "document": "[" * 100_000}, "This JSON cannot be read", id="deep"),
    ],
)  # fmt: skip
def test_write__wrong__is_said_and_nothing_is_stored(cast: Cast, data: dict[str, str], said: str) -> None:
    answer = page_client(cast.reviewer).post("/w/acme/paths/new/", {"do": "save", **data})

    assert answer.status_code == 422
    assert said in answer.text
    assert not Path.objects.filter(origin="hand").exists()


def test_editor__rows__are_added_moved_and_removed(cast: Cast) -> None:
    client = page_client(cast.reviewer)
    data = {"mode": "form", "count": "2", "step-0-tool": "one", "step-1-tool": "two", "result": "pending"}

    def tools(do: str) -> list[str]:
        context = client.post("/w/acme/paths/new/", data | {"do": do}).context
        return [step["tool"].value() for step in context["editor"].steps]

    assert tools("add") == ["one", "two", ""]
    assert tools("up:1") == ["two", "one"]
    assert tools("down:0") == ["two", "one"]
    assert tools("remove:0") == ["two"]
    assert tools("remove:99") == ["one", "two"]


def test_editor__other_mode__shows_the_same_path(cast: Cast) -> None:
    client = page_client(cast.reviewer)
    data = {"mode": "form", "count": "1", "step-0-tool": "one", "result": "pending", "goal": "g"}

    as_json = client.post("/w/acme/paths/new/", data | {"do": "as-json"}).context["editor"]
    text = as_json.json["document"].value()
    back = client.post("/w/acme/paths/new/", {"mode": "json", "document": text, "do": "as-form"}).context[
        "editor"
    ]

    assert (as_json.mode, back.mode) == ("json", "form")
    assert back.steps[0]["tool"].value() == "one"


def test_editor__nothing_written__either_mode_can_be_chosen(cast: Cast) -> None:
    client = page_client(cast.reviewer)
    rows = {"mode": "form", "count": "2", "step-0-kind": "action", "step-1-kind": "action"}

    as_json = client.post("/w/acme/paths/new/", rows | {"do": "as-json"}).context["editor"]
    text = as_json.json["document"].value().replace("\n", "\r\n")  # as a browser sends it
    back = client.post("/w/acme/paths/new/", {"mode": "json", "document": text, "do": "as-form"})

    assert (as_json.mode, as_json.faults) == ("json", [])
    assert (back.context["editor"].mode, back.context["editor"].faults) == ("form", [])


def test_editor__branching_path__stays_json_and_says_why(cast: Cast) -> None:
    scene = build_path_scene(cast.workspace)
    url = f"/w/acme/paths/{scene.path.uuid}/correct/"
    client = page_client(cast.reviewer)
    text = client.get(url).context["editor"].json["document"].value()

    answer = client.post(url, {"mode": "json", "document": text, "do": "as-form", "base_version": "2"})

    assert answer.context["editor"].mode == "json"
    assert "only the JSON can show it" in answer.text


def corrected(scene: PathScene, client: Any, base: int) -> Any:
    """The answer to saving the path with one step less."""
    url = f"/w/acme/paths/{scene.path.uuid}/correct/"
    document = json.loads(client.get(url).context["editor"].json["document"].value())
    document["nodes"].pop()
    names = {node["name"] for node in document["nodes"]}
    document["edges"] = [edge for edge in document["edges"] if {edge["from"], edge["to"]} <= names]
    data = {"mode": "json", "document": json.dumps(document), "do": "save", "reason": "too long"}
    return client.post(url, data | {"base_version": str(base)})


def test_correct__saved__is_the_next_version(cast: Cast) -> None:
    scene = build_path_scene(cast.workspace)

    answer = corrected(scene, page_client(cast.reviewer), 2)

    new = Path.objects.get(lineage=scene.path.lineage, version=3)
    assert answer.url == f"/w/acme/paths/{new.uuid}/"
    assert (new.node_count, new.status, new.parent) == (4, "active", scene.path)
    assert AuditEvent.objects.get(verb="correct_path").reason == "too long"


def test_correct__somebody_was_faster__is_refused_with_the_typed_text(cast: Cast) -> None:
    scene = build_path_scene(cast.workspace)

    answer = corrected(scene, page_client(cast.reviewer), 1)

    assert answer.status_code == 422
    assert "The path was changed in the meantime" in answer.text
    assert Path.objects.filter(lineage=scene.path.lineage).count() == 2


def test_correct__check__shows_what_would_change(cast: Cast) -> None:
    scene = build_path_scene(cast.workspace)
    url = f"/w/acme/paths/{scene.path.uuid}/correct/"
    client = page_client(cast.reviewer)
    text = client.get(url).context["editor"].json["document"].value().replace('"ask"', '"ask_twice"')

    answer = client.post(url, {"mode": "json", "document": text, "do": "check", "base_version": "2"})

    assert answer.context["compared"].counts["kept"] == 4
    assert not answer.context["compared"].is_same


IMPORTED = [{"key": "k", "goal": "g", "nodes": [{"name": "a", "tool": "t"}]}, {"goal": ""}]


def test_import__plan__stores_nothing_and_says_what_would_be(cast: Cast) -> None:
    before = Path.objects.count()

    answer = page_client(cast.reviewer).post(
        "/w/acme/paths/import/", {"source": json.dumps(IMPORTED), "do": "plan"}
    )

    assert [item.status for item in answer.context["items"]] == ["new", "invalid"]
    assert "a new path" in answer.text
    assert Path.objects.count() == before


def test_import__applied_twice__is_there_once(cast: Cast) -> None:
    client = page_client(cast.reviewer)
    data = {"source": json.dumps({"paths": IMPORTED}), "do": "apply"}

    client.post("/w/acme/paths/import/", data)
    again = client.post("/w/acme/paths/import/", data)

    assert [item.status for item in again.context["items"]] == ["same", "invalid"]
    assert Path.objects.filter(origin="import").count() == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(json.dumps(IMPORTED).encode(), "a new path", id="json"),
        pytest.param(b"\xef\xbb\xbf" + json.dumps(IMPORTED).encode(), "a new path", id="with-a-mark"),
        pytest.param(b"\xff\xfe\x00", "The file is no UTF-8 text.", id="no-text"),
    ],
)
def test_import__file__is_planned_or_refused(cast: Cast, content: bytes, said: str) -> None:
    file = SimpleUploadedFile("paths.json", content)

    answer = page_client(cast.reviewer).post("/w/acme/paths/import/", {"file": file, "do": "plan"})

    assert said in answer.text


@pytest.mark.parametrize("source", ["", "{", '"text"', "null", "[" * 50_000])
def test_import__nonsense__is_said(cast: Cast, source: str) -> None:
    answer = page_client(cast.reviewer).post("/w/acme/paths/import/", {"source": source, "do": "apply"})

    assert answer.status_code == 422
    assert "note-error" in answer.text


@pytest.mark.parametrize(
    ("step", "role", "version", "statuses"),
    [
        pytest.param("roll-back", "maintainer", "old", ("active", "historical"), id="roll-back"),
        pytest.param("retire", "maintainer", "path", ("historical", "retired"), id="retire"),
    ],
)
def test_step__confirmed__changes_the_versions(
    cast: Cast, step: str, role: str, version: str, statuses: tuple[str, str]
) -> None:
    scene = build_path_scene(cast.workspace)
    url = f"/w/acme/paths/{getattr(scene, version).uuid}/{step}/"

    refused = page_client(cast.reviewer).post(url, {"reason": "it is wrong"})
    page_client(getattr(cast, role)).post(url, {"reason": "it is wrong"})

    assert refused.status_code == 403
    versions = Path.objects.filter(lineage=scene.path.lineage).order_by("version")
    assert tuple(row.status for row in versions) == statuses
    assert AuditEvent.objects.filter(reason="it is wrong").count() == 1


def test_rewrite__asked_for__waits_in_the_queue(cast: Cast) -> None:
    scene = build_path_scene(cast.workspace)
    before = RewriteProposal.objects.count()

    page_client(cast.reviewer).post(f"/w/acme/paths/{scene.path.uuid}/rewrite/", {"reason": "asks too late"})

    assert RewriteProposal.objects.count() == before + 1
    assert RewriteProposal.objects.first().request["reason"] == "asks too late"


@pytest.mark.parametrize("step", ["rewrite", "retire"])
def test_step__without_a_reason__is_refused(cast: Cast, step: str) -> None:
    scene = build_path_scene(cast.workspace)
    client = page_client(cast.owner)

    answer = client.post(f"/w/acme/paths/{scene.path.uuid}/{step}/", {"reason": " "}, follow=True)

    assert "Say why" in answer.text
    scene.path.refresh_from_db()
    assert scene.path.status == "active"


def test_buttons__viewer__says_who_may(cast: Cast) -> None:
    scene = build_path_scene(cast.workspace)

    text = page_client(cast.viewer).get(f"/w/acme/paths/{scene.path.uuid}/").text

    assert "You need to be at least maintainer to roll back or retire a path." in text


def test_hostile_path__in_the_data_of_the_drawing__cannot_end_the_script(cast: Cast) -> None:
    scene = build_path_scene(cast.workspace)

    text = page_client(cast.viewer).get(f"/w/acme/paths/{scene.path.uuid}/").text

    data = text.split('id="graph-path-data" type="application/json">')[1].split("</script>")[0]
    assert len(json.loads(data)["nodes"]) == 5
    assert "\\u003Cimg src=x" in data
    assert HOSTILE not in text


def test_search__word_of_a_goal__finds_the_active_version(cast: Cast) -> None:
    scene = build_path_scene(cast.workspace)

    text = page_client(cast.viewer).get("/w/acme/search/", {"q": "onerror"}).text

    assert f"/w/acme/paths/{scene.path.uuid}/" in text
    assert f"/w/acme/paths/{scene.old.uuid}/" not in text


def test_task__with_paths__leads_to_them(cast: Cast) -> None:
    scene = build_path_scene(cast.workspace)

    text = page_client(cast.viewer).get(f"/w/acme/tasks/{scene.task.uuid}/").text

    assert f"/w/acme/paths/{scene.old.uuid}/" in text
