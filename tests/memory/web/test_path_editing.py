"""Writing, correcting and importing paths on their pages."""

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from memory.models import AuditEvent, Path
from memory.queries.path_documents import read_path
from tests.conftest import Cast, page_client
from tests.memory.web.path_scenes import PathScene, build_path_scene


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
            {"mode": "form", "count": "0", "result": "success"}, "Goal: Say what the path is for.", id="empty"
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
