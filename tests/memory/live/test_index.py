"""The index against brute force: what is near, what may be found, what has changed."""

from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from django.db import connection
from django.utils import timezone

from memory.live.index import EXACT, Question, exact, find_near, statements, warming
from memory.models import Path
from memory.queries.path_documents import read_path
from memory.writer.paths import NewPath, add_version, lock_lineage, set_status
from tests.builders import NOW, make_doc, make_localization, make_path
from tests.conftest import Cast
from tests.memory.live.vectors import NAME, ROUNDED, Matrix, make_placed, make_vectors, near, place

pytestmark = pytest.mark.django_db


def best(paths: list[Path], scores: Matrix, limit: int) -> set[int]:
    """Paths that are among the best by more than rounding."""
    order = np.sort(scores)[::-1]
    least = order[limit - 1] if len(order) >= limit else -2.0
    return {path.pk for path, score in zip(paths, scores, strict=True) if score > least + ROUNDED}


@pytest.mark.parametrize("seed", range(4))
def test_find_near__random_paths__what_brute_force_finds(cast: Cast, seed: int) -> None:
    goals, actions = make_vectors(60, seed), make_vectors(60, seed + 100)
    results = ["success", "failure", "retry", "pending"]
    paths = [
        make_placed(cast.workspace, goal, action, goal=f"g{n}", result=results[n % 4])
        for n, (goal, action) in enumerate(zip(goals, actions, strict=True))
    ]
    asked = make_vectors(1, seed + 200)[0]

    found = near(cast.workspace, asked, limit=8)

    worked = [n for n in range(60) if n % 4 != 1]
    failed = [n for n in range(60) if n % 4 == 1]
    wanted = best([paths[n] for n in worked], (goals @ asked)[worked], 8)
    wanted |= best([paths[n] for n in worked], (actions @ asked)[worked], 8)
    wanted |= best([paths[n] for n in failed], (goals @ asked)[failed], 4)
    assert wanted <= found.keys()
    assert len(found) <= 8 + 8 + 4
    for n, path in enumerate(paths):
        if path.pk in found:
            assert found[path.pk].goal_cosine == pytest.approx(float(goals[n] @ asked), abs=ROUNDED)
            assert found[path.pk].actions_cosine == pytest.approx(float(actions[n] @ asked), abs=ROUNDED)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        pytest.param({"tool": "sql"}, {"tool": "sql"}, id="tool"),
        pytest.param({"tag": "red"}, {"tag": "red"}, id="tag"),
        pytest.param({"agent": "Ada"}, {"agent": "Ada"}, id="agent"),
        pytest.param({"level": "tool"}, {"levels": ("tool",)}, id="level"),
        pytest.param({"result": "failure"}, {"results": ("failure",)}, id="result"),
    ],
)
def test_find_near__filter__only_what_passes(
    cast: Cast, given: dict[str, Any], wanted: dict[str, Any]
) -> None:
    fields = {key: value for key, value in given.items() if key not in ("tool", "tag")}
    nodes = [given["tool"]] if "tool" in given else ["other"]
    tags = (given["tag"], "blue") if "tag" in given else ("blue",)
    vectors = make_vectors(6)
    chosen = make_placed(cast.workspace, vectors[0], goal="x", nodes=nodes, tags=tags, **fields)
    for vector in vectors[1:]:
        make_placed(cast.workspace, vector, goal="y", nodes=["other"], tags=("blue",))

    assert near(cast.workspace, vectors[1], **wanted).keys() == {chosen.pk}
    assert (
        near(
            cast.workspace,
            vectors[1],
            **{key: ("x",) if isinstance(value, tuple) else "none" for key, value in wanted.items()},
        )
        == {}
    )


def test_find_near__since_and_until__bound_when_it_was_written(cast: Cast) -> None:
    vector = make_vectors(1)[0]
    path = make_placed(cast.workspace, vector)

    def is_found(**wanted: Any) -> bool:
        return path.pk in near(cast.workspace, vector, **wanted)

    assert is_found(since=NOW, until=NOW + timedelta(seconds=1))
    assert not is_found(since=NOW + timedelta(seconds=1))
    assert not is_found(until=NOW)


def test_find_near__tags__paths_that_share_a_fifth_of_them_however_far(cast: Cast) -> None:
    asked, *others = make_vectors(30)
    far = -asked
    shared = make_placed(cast.workspace, far, tags=("order", "query", "a", "b"))
    barely = make_placed(cast.workspace, far, tags=("order", "c", "d", "e", "f", "g"))
    for vector in others:
        make_placed(cast.workspace, vector, tags=("other",))

    found = near(cast.workspace, asked, tags=("order", "query"), limit=5)

    assert found[shared.pk].tag_overlap == pytest.approx(0.5)
    assert barely.pk not in found


def test_find_near__only_tags_asked__found_by_them(cast: Cast) -> None:
    vectors = make_vectors(2)
    tagged = make_placed(cast.workspace, vectors[0], tags=("order",))
    make_placed(cast.workspace, vectors[1], tags=("other",))

    assert near(cast.workspace, None, tags=("order",)).keys() == {tagged.pk}
    assert near(cast.workspace, None) == {}


def test_find_near__hostile_words__are_only_words(cast: Cast) -> None:
    vector = make_vectors(1)[0]
    words = ("a'; DROP TABLE memory_path; --", "100% {x} %s", '"b"\\', "订单")
    path = make_placed(cast.workspace, vector, tags=words, agent=words[0], nodes=[words[1]])

    assert near(cast.workspace, vector, tags=words)[path.pk].tag_overlap == pytest.approx(1.0)
    for word in words:
        assert path.pk in near(cast.workspace, vector, tag=word)
    assert path.pk in near(cast.workspace, vector, agent=words[0], tool=words[1])
    assert near(cast.workspace, vector, agent=words[1]) == {}


def test_find_near__templates__always_among_the_candidates(cast: Cast) -> None:
    asked, *others = make_vectors(12)
    template = make_path(cast.workspace, "retry, then fall back", result="template", reward=0.0)
    for vector in others:
        make_placed(cast.workspace, vector)

    assert template.pk in near(cast.workspace, asked, limit=2, results=())


def test_find_near__another_workspace__nothing_of_it(cast: Cast) -> None:
    vector = make_vectors(1)[0]
    theirs = make_placed(cast.elsewhere, vector, tags=("order",))
    make_path(cast.elsewhere, "a template", result="template", reward=0.0)

    assert near(cast.workspace, vector, tags=("order",)) == {}
    assert theirs.pk in near(cast.elsewhere, vector)


def test_find_near__status_changes__followed_at_once(cast: Cast) -> None:
    vector = make_vectors(1)[0]
    path = make_placed(cast.workspace, vector)
    assert path.pk in near(cast.workspace, vector)

    lock_lineage(path.lineage)
    set_status(path, "retire", now=NOW)
    assert near(cast.workspace, vector) == {}
    assert near(cast.workspace, vector, statuses=("retired",)).keys() == {path.pk}

    set_status(path, "restore", now=NOW)
    assert near(cast.workspace, vector).keys() == {path.pk}


def test_find_near__new_version__in_place_of_the_old(cast: Cast) -> None:
    vector = make_vectors(1)[0]
    old = make_placed(cast.workspace, vector)
    assert near(cast.workspace, vector).keys() == {old.pk}

    new = add_version(
        lineage=old.lineage, new=NewPath(doc=make_doc("better"), origin="hand"), base=old, now=NOW
    )

    assert near(cast.workspace, vector) == {}
    assert near(cast.workspace, None, tags=("flight",)).keys() == {new.pk}


def test_find_near__vectors_renewed__the_new_ones_count(cast: Cast) -> None:
    one, other = make_vectors(2)
    path = make_placed(cast.workspace, one)
    assert near(cast.workspace, one)[path.pk].goal_cosine == pytest.approx(1.0, abs=ROUNDED)

    place(path, other)

    assert near(cast.workspace, other)[path.pk].goal_cosine == pytest.approx(1.0, abs=ROUNDED)


def test_find_near__path_deleted__not_found_after_the_next_write(cast: Cast) -> None:
    one, other = make_vectors(2)
    path = make_placed(cast.workspace, one)
    assert path.pk in near(cast.workspace, one)

    Path.objects.filter(pk=path.pk).delete()
    rest = make_placed(cast.workspace, other)

    assert near(cast.workspace, one).keys() == {rest.pk}


def test_find_near__path_with_pieces__each_has_its_entry(cast: Cast) -> None:
    part = make_doc("the middle", ["find"], level="subtask", span=(0, 0), tags=("piece",))
    path = make_path(cast.workspace, "the whole", ["find", "book"], parts=(part,), tags=("whole",))

    assert near(cast.workspace, None, tags=("whole",)).keys() == {path.pk}
    piece = Path.objects.get(container=path)
    assert near(cast.workspace, None, tags=("piece",)).keys() == {piece.pk}
    assert read_path(piece).goal == "the middle"


def test_find_near__other_embedder__not_compared_with_it(cast: Cast) -> None:
    one, other = make_vectors(2)
    place(make_path(cast.workspace, tags=("a",)), one, name="elsewhere/1")
    ours = make_placed(cast.workspace, other, tags=("b",))

    assert near(cast.workspace, one).keys() == {ours.pk}
    assert len(near(cast.workspace, one, tags=("a",))) == 2


def test_find_near__vectors_wanted__those_of_the_goals(cast: Cast) -> None:
    one, other = make_vectors(2)
    path = make_placed(cast.workspace, one, other)
    question = Question(workspace_id=cast.workspace.pk, vectors={NAME: other}, wants_vectors=True)

    vectors = {found.path_id: found.goal_vector for found in find_near(question)}

    np.testing.assert_allclose(vectors[path.pk], one, atol=ROUNDED)


def test_exact_index__many_changes__packed_and_the_same(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "WASTE_FROM", 3)
    monkeypatch.setattr(exact, "WASTE_SHARE", 0.1)
    vectors = make_vectors(6)
    paths = [make_placed(cast.workspace, vector, tags=(f"t{n}", "all")) for n, vector in enumerate(vectors)]
    for turn in range(5):
        for path, vector in zip(paths, np.roll(vectors, turn, axis=0), strict=True):
            place(path, vector)
        found = near(cast.workspace, vectors[0], limit=20, tags=("all",))
        assert found.keys() == {path.pk for path in paths}
        assert found[paths[turn].pk].goal_cosine == pytest.approx(1.0, abs=ROUNDED)
        assert near(cast.workspace, None, tags=("t3",)).keys() == {paths[3].pk}


def test_exact_index__no_room__drops_the_workspace_not_asked_about(cast: Cast, settings: Any) -> None:
    settings.INDEX_MB = 0
    vector = make_vectors(1)[0]
    ours, theirs = make_placed(cast.workspace, vector), make_placed(cast.elsewhere, vector)
    for _ in range(2):
        assert near(cast.workspace, vector).keys() == {ours.pk}
        assert near(cast.elsewhere, vector).keys() == {theirs.pk}
    if connection.vendor != "postgresql":
        assert list(EXACT._workspaces) == [cast.elsewhere.pk]


@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="pgvector only")
def test_approximate_index__through_hnsw__nearly_what_brute_force_finds(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memory.writer.vectors import index_statements

    goals = make_vectors(300)
    paths = [
        make_placed(cast.workspace, goal, tags=("even",) if n % 2 == 0 else ("odd",))
        for n, goal in enumerate(goals)
    ]
    with connection.cursor() as cursor:
        for statement in index_statements(NAME, 16, concurrently=False):
            cursor.execute(statement)
        cursor.execute("ANALYZE memory_pathvector")
        cursor.execute("SET LOCAL enable_seqscan = off")
    monkeypatch.setattr(statements, "EXACT_ROWS", 10)
    monkeypatch.setattr(statements, "TAG_ROWS", 10)
    hits = total = 0
    for asked in make_vectors(10, 5):
        wanted = best(paths, goals @ asked, 10)
        found = near(cast.workspace, asked, limit=10)
        hits, total = hits + len(wanted & found.keys()), total + len(wanted)
        odd = near(cast.workspace, asked, limit=10, tag="odd")
        assert odd.keys() <= {path.pk for path in paths[1::2]}
        assert len(odd) >= 10
        assert len(near(cast.workspace, asked, limit=10, tags=("even",))) >= 10
    assert hits / total > 0.95


def test_warm_index__workspaces_asked_lately__are_in_memory(cast: Cast) -> None:
    now = timezone.now()
    make_localization(cast.workspace, asked_at=now)
    make_localization(cast.elsewhere, asked_at=now - timedelta(days=30))

    assert warming.warm_index() == 1

    assert list(EXACT._workspaces) == [cast.workspace.pk]
