"""Reindex: whatever happens to it, it ends where an undisturbed one ends."""

import io
import sys
from pathlib import Path as File
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from memory.background import embedding, reindexing
from memory.background.reindexing import embed_backlog, plan_reindex, reindex
from memory.live.embedders import BuiltinEmbedder, EmbedderError
from memory.live.index import entry_name
from memory.models import Path, PathEntry
from memory.queries.entries import count_by_embedder
from memory.writer.vectors import KINDS, index_name
from tests.builders import make_path
from tests.conftest import Cast
from tests.memory.live.vectors import NAME, make_placed, make_vectors, near
from tests.servers import Process, database_environment, wait_until

OLD, NEW = NAME, entry_name(BuiltinEmbedder())
SLOW = """
import sys, time, django
django.setup()
from memory.live.embedders import BuiltinEmbedder
plain = BuiltinEmbedder.embed_passages
def slowly(self, texts):
    time.sleep(0.05)
    return plain(self, texts)
BuiltinEmbedder.embed_passages = slowly
from django.core.management import call_command
call_command("reindex", batch=5)
"""


class Fallible(BuiltinEmbedder):
    """Answers so many times, then no more."""

    def __init__(self, answers: int) -> None:
        self.answers = answers

    def embed_passages(self, texts: Any) -> Any:
        self.answers -= 1
        if self.answers < 0:
            raise EmbedderError("The endpoint does not answer.")
        return super().embed_passages(texts)


def waiting(cast: Cast) -> int:
    return plan_reindex(BuiltinEmbedder(), cast.workspace.pk).waiting


@pytest.mark.django_db
def test_reindex__other_embedder_and_no_entry__all_are_made(cast: Cast) -> None:
    old = make_placed(cast.workspace, make_vectors(1)[0])
    lost = make_path(cast.workspace)
    PathEntry.objects.filter(path=lost).delete()
    assert waiting(cast) == 2

    seen: list[int] = []
    assert reindex(BuiltinEmbedder(), workspace_id=cast.workspace.pk, progress=seen.append) == 2

    assert waiting(cast) == 0
    assert sum(seen) == 2
    assert set(count_by_embedder(cast.workspace.pk)) == {NEW}
    assert near(cast.workspace, make_vectors(1)[0]) == {}
    assert PathEntry.objects.get(path=old).entry


@pytest.mark.django_db
def test_reindex__workspace_given__others_stay(cast: Cast) -> None:
    make_placed(cast.workspace, make_vectors(1)[0])
    make_placed(cast.elsewhere, make_vectors(1)[0])

    call_command("reindex", workspace="acme", stdout=io.StringIO())

    assert set(count_by_embedder(cast.workspace.pk)) == {NEW}
    assert OLD in count_by_embedder(cast.elsewhere.pk)


@pytest.mark.django_db
def test_reindex__embedder_fails_half_way__the_rest_waits_and_is_done_later(cast: Cast) -> None:
    for vector in make_vectors(6):
        make_placed(cast.workspace, vector)

    with pytest.raises(EmbedderError):
        reindex(Fallible(2), workspace_id=cast.workspace.pk, batch=2)
    assert waiting(cast) == 2
    assert len(near(cast.workspace, make_vectors(1)[0])) == 2  # what waits is found by its earlier vectors

    assert reindex(BuiltinEmbedder(), workspace_id=cast.workspace.pk, batch=2) == 2
    assert waiting(cast) == 0


@pytest.mark.django_db(transaction=True)
@pytest.mark.worker
def test_reindex__killed_again_and_again__goes_on_where_it_was(cast: Cast, tmp_path: File) -> None:
    paths = [make_placed(cast.workspace, vector) for vector in make_vectors(60)]
    environment = database_environment(tmp_path) | {"DJANGO_SETTINGS_MODULE": "hgmem_site.settings"}
    left = waiting(cast)
    rounds = 0
    while left and rounds < 10:
        rounds += 1
        child = Process([sys.executable, "-c", SLOW], tmp_path / f"{rounds}.log", **environment)
        try:
            wait_until(lambda bound=left: waiting(cast) < bound, process=child)  # type: ignore[misc]
            if rounds == 1:
                paths.append(
                    make_placed(cast.workspace, make_vectors(1, seed=3)[0])
                )  # beside the running one
            if rounds == 3:
                wait_until(lambda: waiting(cast) == 0, process=child)
        finally:
            child.kill()
        left = waiting(cast)

    assert left == 0
    assert rounds == 3
    assert PathEntry.objects.filter(path__in=paths, embedder=NEW, dims=BuiltinEmbedder.dims).count() == 61


@pytest.mark.django_db
def test_embed_backlog__stored_without_vectors__embedded_and_nothing_else(cast: Cast) -> None:
    bare, other = make_path(cast.workspace), make_placed(cast.workspace, make_vectors(1)[0])
    PathEntry.objects.filter(path=bare).update(embedder="")

    assert embed_backlog() == 1
    assert embed_backlog() == 0

    assert PathEntry.objects.get(path=bare).embedder == NEW
    assert PathEntry.objects.get(path=other).embedder == OLD


@pytest.mark.django_db
def test_embed_backlog__embedder_away__asked_again_later_only(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make_path(cast.workspace)
    PathEntry.objects.filter(path=path).update(embedder="")
    away = Fallible(0)
    monkeypatch.setattr(embedding, "get_embedder", lambda: away)
    monkeypatch.setattr(reindexing, "_backlog", embedding.EmbeddingBacklog("embedding", "Paths"))

    assert embed_backlog() == 0
    assert embed_backlog() == 0

    assert away.answers == -1
    assert Path.objects.filter(entry__embedder="").get() == path


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param({"workspace": "nowhere"}, "no workspace 'nowhere'", id="unknown workspace"),
        pytest.param({"batch": 0}, "between 1 and 1000", id="batch of nothing"),
        pytest.param({"embedder": "openai"}, "HGMEM_EMBEDDINGS_URL", id="embedder not set up"),
    ],
)
def test_reindex_command__bad_options__refused(db: None, options: dict[str, Any], message: str) -> None:
    with pytest.raises(CommandError, match=message):
        call_command("reindex", **options)


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="pgvector only")
def test_reindex__embedder_without_vector_index__gets_one(cast: Cast) -> None:
    class Other(BuiltinEmbedder):
        name = "other model's 3"

    make_placed(cast.workspace, make_vectors(1)[0])
    names = [index_name(entry_name(Other()), kind) for kind in KINDS]
    try:
        reindex(Other(), workspace_id=cast.workspace.pk)
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_indexes WHERE indexname = ANY(%s)", [names])
            assert cursor.fetchone() == (2,)
    finally:
        with connection.cursor() as cursor:
            for name in names:
                cursor.execute(f"DROP INDEX IF EXISTS {name}")
