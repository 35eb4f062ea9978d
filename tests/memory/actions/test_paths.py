"""Paths by hand: written, corrected, imported, rolled back, retired; who may, and what is kept."""

import threading
from typing import Any

import pytest
from django.db import connection

from memory.actions.path_imports import ImportItem, import_paths, plan_path_import
from memory.actions.path_templates import load_missing_templates, load_templates, switch_templates
from memory.actions.paths import (
    InvalidPathError,
    PathExistsError,
    StaleVersionError,
    correct_path,
    relabel_path,
    retire_lineage,
    roll_back_path,
    write_path,
)
from memory.domain.access import NotPermitted
from memory.domain.lifecycle import TransitionError
from memory.domain.paths.checking import write_path_document
from memory.domain.paths.starters import STARTERS
from memory.models import AuditEvent, Path, PathEntry, RewardChange, Workspace
from memory.permissions import SYSTEM
from memory.queries.path_documents import read_path
from memory.writer.paths import change_reward
from tests.builders import NOW, make_path
from tests.conftest import Cast

DOCUMENT = {
    "goal": "Book a flight",
    "nodes": [{"name": "find", "tool": "find"}, {"name": "book", "tool": "book"}],
    "tags": ["flight"],
    "result": "success",
    "reward": 0.9,
}


def mine(workspace: Workspace) -> list[tuple[int, str, str]]:
    """Version, status and goal of what is no template."""
    rows = Path.objects.filter(workspace=workspace).exclude(origin="template").order_by("pk")
    return list(rows.values_list("version", "status", "goal"))


def verbs() -> list[str]:
    return list(
        AuditEvent.objects.filter(verb__endswith="path").order_by("pk").values_list("verb", flat=True)
    )


def test_write__good_document__is_stored_indexed_and_audited(cast: Cast) -> None:
    path = write_path(workspace=cast.workspace, document=DOCUMENT, by=cast.actor("reviewer"), key="flights")

    assert (path.key, path.origin, path.created_by) == ("path:flights v1", "hand", "reviewer")
    assert read_path(path).edges[0].target == "book"
    assert PathEntry.objects.filter(path=path).exclude(embedder="").exists()
    assert verbs() == ["write_path"]


def test_write__key_is_taken__is_refused(cast: Cast) -> None:
    write_path(workspace=cast.workspace, document=DOCUMENT, by=SYSTEM, key="flights")

    with pytest.raises(PathExistsError, match="path:flights v1"):
        write_path(workspace=cast.workspace, document=DOCUMENT, by=SYSTEM, key="flights")


def test_write__secret_in_it__is_redacted(cast: Cast) -> None:
    node = {"name": "call", "tool": "call", "params": {"api_key": "sk-live-0123456789abcdef0123456789abcdef"}}

    path = write_path(workspace=cast.workspace, document={"goal": "Call", "nodes": [node]}, by=SYSTEM)

    assert "0123456789abcdef" not in str(read_path(path))


def test_write__viewer__may_not(cast: Cast) -> None:
    with pytest.raises(NotPermitted):
        write_path(workspace=cast.workspace, document=DOCUMENT, by=cast.actor("viewer"))

    assert mine(cast.workspace) == []


def test_correct__active_version__gets_a_next_one(cast: Cast) -> None:
    first = write_path(workspace=cast.workspace, document=DOCUMENT, by=SYSTEM)

    second = correct_path(
        path=first, document=DOCUMENT | {"goal": "Book it"}, base_version=1, by=cast.actor("reviewer"),
        reason="clearer",
    )  # fmt: skip

    assert (second.parent, second.version) == (first, 2)
    assert mine(cast.workspace) == [(1, "historical", "Book a flight"), (2, "active", "Book it")]
    event = AuditEvent.objects.get(verb="correct_path")
    assert (event.old["goal"], event.new["goal"], event.reason) == ("Book a flight", "Book it", "clearer")


def test_correct__nothing_changed__makes_no_version(cast: Cast) -> None:
    first = write_path(workspace=cast.workspace, document=DOCUMENT, by=SYSTEM)

    assert correct_path(path=first, document=DOCUMENT, base_version=1, by=SYSTEM) == first
    assert len(mine(cast.workspace)) == 1


def test_correct__old_version__is_stale(cast: Cast) -> None:
    first = write_path(workspace=cast.workspace, document=DOCUMENT, by=SYSTEM)
    relabel_path(path=first, goal="Book it", tags=["x"], base_version=1, by=SYSTEM)

    with pytest.raises(StaleVersionError, match="version 2"):
        correct_path(path=first, document=DOCUMENT, base_version=1, by=SYSTEM)


def test_relabel__other_tags__keeps_the_steps(cast: Cast) -> None:
    first = write_path(workspace=cast.workspace, document=DOCUMENT, by=SYSTEM)

    second = relabel_path(path=first, goal="Book it", tags=["x", "y"], base_version=1, by=SYSTEM)

    assert read_path(second).nodes == read_path(first).nodes
    assert (second.goal, second.tags, second.result) == ("Book it", ["x", "y"], "success")


def test_roll_back__after_a_rewrite__gives_back_what_was_taken(cast: Cast) -> None:
    first = make_path(cast.workspace, "old", reward=0.4)
    second = correct_path(path=first, document=DOCUMENT, base_version=1, by=SYSTEM)
    change_reward(first, 0.0, cause="penalty", now=NOW)

    back = roll_back_path(path=first, by=cast.actor("maintainer"), reason="it was better")
    again = roll_back_path(path=first, by=cast.actor("maintainer"))

    second.refresh_from_db()
    assert (back.status, back.reward, second.status, again.pk) == ("active", 0.4, "historical", first.pk)
    assert RewardChange.objects.filter(cause="rollback").count() == 1
    assert verbs() == ["correct_path", "roll_back_path"]


def test_roll_back__used_since_the_penalty__keeps_what_tasks_said(cast: Cast) -> None:
    first = make_path(cast.workspace, "old", reward=0.75)
    correct_path(path=first, document=DOCUMENT, base_version=1, by=SYSTEM)
    change_reward(first, 0.25, cause="penalty", now=NOW)
    change_reward(first, 0.125, cause="use", now=NOW)

    assert roll_back_path(path=first, by=cast.actor("maintainer")).reward == 0.625


def test_retire__then_roll_back__is_recalled_again(cast: Cast) -> None:
    path = make_path(cast.workspace)

    retired = retire_lineage(path=path, by=cast.actor("maintainer"), reason="wrong")
    assert (retired.status, retired.lineage.retired_at is None) == ("retired", False)

    roll_back_path(path=path, by=cast.actor("maintainer"))
    path.refresh_from_db()
    path.lineage.refresh_from_db()
    assert (path.status, path.lineage.retired_at) == ("active", None)


def test_retire__without_reason_or_right__is_refused(cast: Cast) -> None:
    path = make_path(cast.workspace)

    with pytest.raises(ValueError, match="Say why"):
        retire_lineage(path=path, by=cast.actor("maintainer"), reason=" ")
    with pytest.raises(NotPermitted):
        retire_lineage(path=path, by=cast.actor("reviewer"), reason="wrong")
    with pytest.raises(NotPermitted):
        roll_back_path(path=make_path(cast.elsewhere), by=cast.actor("owner"))


def test_correct__piece_of_a_path__is_refused(cast: Cast) -> None:
    nodes = DOCUMENT["nodes"]
    part = {"goal": "Find", "nodes": nodes[:1], "level": "subtask", "span": [0, 0]}  # type: ignore[index]
    whole = write_path(workspace=cast.workspace, document=DOCUMENT | {"parts": [part]}, by=SYSTEM)

    with pytest.raises(TransitionError, match="part of another path"):
        correct_path(path=whole.parts.get(), document=DOCUMENT, base_version=1, by=SYSTEM)


@pytest.mark.django_db(transaction=True)
def test_correct__two_at_once__one_of_them_is_stale() -> None:
    path = make_path(Workspace.objects.create(slug="w", name="W"))
    said: list[str] = []

    def change(number: int) -> None:
        try:
            document = DOCUMENT | {"goal": f"goal {number}"}
            correct_path(path=path, document=document, base_version=1, by=SYSTEM)
            said.append("made")
        except StaleVersionError:
            said.append("stale")
        finally:
            connection.close()

    threads = [threading.Thread(target=change, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(said) == ["made", "stale", "stale"]


def statuses(items: list[ImportItem]) -> list[str]:
    return [item.status for item in items]


IMPORTED: list[Any] = [
    DOCUMENT | {"key": "one"},
    DOCUMENT | {"goal": "Without a key"},
    DOCUMENT | {"key": "one"},
    {"goal": "No nodes"},
    "no object",
]


def test_import__documents__are_stored_each_by_itself(cast: Cast) -> None:
    planned = plan_path_import(workspace=cast.workspace, documents=IMPORTED, by=SYSTEM)
    assert (statuses(planned), mine(cast.workspace)) == (["new", "new", "invalid", "invalid", "invalid"], [])

    items = import_paths(workspace=cast.workspace, documents=IMPORTED, by=SYSTEM)

    assert statuses(items) == statuses(planned)
    assert [error.field for item in items for error in item.errors] == ["key", "nodes", ""]
    assert [goal for *_, goal in mine(cast.workspace)] == ["Book a flight", "Without a key"]
    assert verbs() == ["import_path"] * 2


def test_import__again__changes_nothing_but_what_says_something_else(cast: Cast) -> None:
    import_paths(workspace=cast.workspace, documents=IMPORTED[:2], by=SYSTEM)
    changed = [DOCUMENT | {"key": "one", "goal": "Other"}, IMPORTED[1]]

    items = import_paths(workspace=cast.workspace, documents=changed, by=SYSTEM)

    assert statuses(items) == ["changed", "same"]
    assert mine(cast.workspace) == [
        (1, "historical", "Book a flight"), (1, "active", "Without a key"), (2, "active", "Other"),
    ]  # fmt: skip


def test_import__exported_run__comes_back_the_same(cast: Cast) -> None:
    doc = read_path(make_path(cast.workspace, "Run", ["a", "b", "a"]))
    document = write_path_document(doc) | {"key": "k"}

    item = import_paths(workspace=cast.elsewhere, documents=[document], by=SYSTEM)[0]

    assert read_path(Path.objects.get(uuid=item.uuid)) == doc


def test_import__too_many__is_refused_whole(cast: Cast) -> None:
    with pytest.raises(InvalidPathError, match="At most 200"):
        import_paths(workspace=cast.workspace, documents=[DOCUMENT] * 201, by=SYSTEM)


def test_templates__new_workspace__has_them_once(cast: Cast) -> None:
    assert load_templates(workspace=cast.workspace) == []

    paths = Path.objects.filter(workspace=cast.workspace, origin="template")
    assert paths.count() == len(STARTERS)
    assert set(paths.values_list("result", "reward", "status")) == {("template", 0.0, "active")}


def test_templates__workspace_from_before__gets_them_from_the_sweep(db: None) -> None:
    workspace = Workspace.objects.create(slug="old", name="Old")

    assert (load_missing_templates(), load_missing_templates()) == (1, 0)

    assert workspace.paths.count() == len(STARTERS)


def test_templates__switched_off_and_on__are_retired_and_restored(cast: Cast) -> None:
    owner = cast.actor("owner")

    assert switch_templates(workspace=cast.workspace, are_on=False, by=owner) == len(STARTERS)
    assert load_templates(workspace=cast.workspace) == []
    assert not Path.objects.active().filter(workspace=cast.workspace).exists()

    assert switch_templates(workspace=cast.workspace, are_on=True, by=owner) == len(STARTERS)
    assert Path.objects.active().filter(workspace=cast.workspace).count() == len(STARTERS)
    with pytest.raises(NotPermitted):
        switch_templates(workspace=cast.workspace, are_on=False, by=cast.actor("maintainer"))


@pytest.mark.django_db(transaction=True)
def test_write__same_key_at_once__is_written_once() -> None:
    workspace = Workspace.objects.create(slug="w", name="W")
    said: list[str] = []

    def write() -> None:
        try:
            write_path(workspace=workspace, document=DOCUMENT, by=SYSTEM, key="one")
            said.append("written")
        except PathExistsError:
            said.append("taken")
        finally:
            connection.close()

    threads = [threading.Thread(target=write) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(said) == ["taken", "taken", "written"]
