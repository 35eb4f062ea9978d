"""Stored paths: read back as they were, versions in lineages, pieces with their whole."""

import threading
from itertools import count
from typing import Any

import pytest
from django.db import connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.domain.lifecycle import TransitionError
from memory.domain.paths.document import EdgeDoc, NodeDoc, PathDoc, chain
from memory.models import Lineage, Node, Path, RewardChange, Workspace
from memory.queries.path_documents import read_path, read_paths
from memory.writer.paths import (
    NewPath,
    StaleVersionError,
    active_version,
    add_version,
    change_reward,
    lock_lineage,
    set_status,
    store_paths,
)
from tests.builders import NOW, make_doc, make_path

numbers = count()


@pytest.fixture
def workspace(db: None) -> Workspace:
    """A workspace without templates."""
    return Workspace.objects.create(slug="bare", name="Bare")


def part_of(doc: PathDoc, start: int, end: int, **fields: Any) -> PathDoc:
    nodes = doc.nodes[start : end + 1]
    return PathDoc(
        goal="a part", nodes=nodes, edges=chain([node.name for node in nodes]), span=(start, end), **fields
    )


def nested_doc() -> PathDoc:
    whole = make_doc("Book a trip", ["find", "find", "book", "pay"])
    tool = part_of(whole, 0, 1, level="tool")
    first = part_of(whole, 0, 1, level="subtask", parts=(tool,))
    return make_doc(
        "Book a trip", whole.nodes, parts=(first, part_of(whole, 2, 3, level="subtask", result="pending"))
    )


texts = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=20)
plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def documents(draw: st.DrawFn) -> PathDoc:
    """Any path: repeated tools, equal nodes, branching and backward edges, pieces."""
    size = draw(st.integers(1, 8))
    nodes = tuple(
        NodeDoc(
            name=f"n{place}",
            kind=draw(st.sampled_from(["entity", "action", "decision", "event"])),
            content=draw(st.sampled_from(["", "look", "看"])),
            tool=draw(st.sampled_from(["", "find", "book"])),
            params=draw(st.dictionaries(st.sampled_from("ab"), plain, max_size=2)),
            observation=draw(plain),
            details=draw(st.dictionaries(st.sampled_from("ab"), plain, max_size=2)),
        )
        for place in range(size)
    )
    names = st.sampled_from([node.name for node in nodes])
    some_edge = st.builds(EdgeDoc, source=names, target=names, condition=st.sampled_from(["", "ok"]))
    edges = draw(st.lists(some_edge, max_size=8))
    start = draw(st.integers(0, size - 1))
    end = draw(st.integers(start, size - 1))
    piece = PathDoc(goal="piece", nodes=nodes[start : end + 1], level="subtask", span=(start, end))
    parts = draw(st.sampled_from([(), (piece,), (piece, piece)]))
    return PathDoc(goal="g", nodes=nodes, edges=tuple(edges), parts=parts, tags=("a", "b"))


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(docs=st.lists(documents(), min_size=1, max_size=3))
def test_path__stored_and_read__loses_and_reorders_nothing(workspace: Workspace, docs: list[PathDoc]) -> None:
    made = next(numbers)
    items = [
        NewPath(lineage_key=f"path:{made}.{place}", doc=doc, origin="hand") for place, doc in enumerate(docs)
    ]

    stored = store_paths(workspace.pk, items, now=NOW)

    assert read_paths(stored) == docs


def test_store__the_same_step_in_two_paths__is_one_node(workspace: Workspace) -> None:
    make_path(workspace, "one", ["find", "book"])
    make_path(workspace, "two", ["find", "find", "pay"])

    assert Node.objects.count() == 3
    assert Node.objects.get(tool="find").places.count() == 3


def test_store__other_workspace__shares_nothing(workspace: Workspace) -> None:
    make_path(workspace, "one", ["find"])
    make_path(Workspace.objects.create(slug="b", name="B"), "one", ["find"])

    assert Node.objects.count() == 2


def test_add_version__pieces__follow_their_whole(workspace: Workspace) -> None:
    first = make_path(workspace, key="task:t", nodes=nested_doc().nodes, parts=nested_doc().parts)

    second = add_version(
        lineage=first.lineage, new=NewPath(doc=nested_doc(), origin="hand"), base=first, now=NOW
    )

    assert (second.version, second.parent, second.key) == (2, first, "task:t v2")
    counts = {status: Path.objects.filter(status=status).count() for status in ("active", "historical")}
    assert counts == {"active": 4, "historical": 4}
    keys = Lineage.objects.values_list("key", flat=True)
    assert set(keys) == {"task:t", "task.1:t", "task.1.1:t", "task.2:t"}


def test_add_version__base_was_replaced__is_stale(workspace: Workspace) -> None:
    first = make_path(workspace)
    second = add_version(
        lineage=first.lineage, new=NewPath(doc=make_doc("x"), origin="hand"), base=first, now=NOW
    )

    with pytest.raises(StaleVersionError, match="version 2 is the active one") as error:
        add_version(lineage=first.lineage, new=NewPath(doc=make_doc("y"), origin="hand"), base=first, now=NOW)

    assert error.value.active == second


def test_set_status__restore_after_replace__brings_the_pieces_back(workspace: Workspace) -> None:
    doc = nested_doc()
    first = make_path(workspace, key="task:t", nodes=doc.nodes, parts=doc.parts)
    second = add_version(lineage=first.lineage, new=NewPath(doc=doc, origin="hand"), now=NOW)
    first.refresh_from_db()

    with transaction.atomic():
        lock_lineage(first.lineage)
        set_status(second, "replace", now=NOW)
        set_status(first, "restore", now=NOW)

    assert active_version(first.lineage) == first
    assert set(Path.objects.filter(version=1).values_list("status", flat=True)) == {"active"}
    assert set(Path.objects.filter(version=2).values_list("status", flat=True)) == {"historical"}
    with pytest.raises(TransitionError):
        set_status(first, "restore", now=NOW)


def test_change_reward__more_than_one__is_clamped_and_explained(workspace: Workspace) -> None:
    path = make_path(workspace, reward=0.4)

    change_reward(path, 7.0, cause="person", now=NOW)
    change_reward(path, 1.0, cause="person", now=NOW)

    assert list(RewardChange.objects.values_list("old", "new")) == [(0.4, 1.0)]


def test_read_paths__many__does_not_ask_more(
    workspace: Workspace, django_assert_max_num_queries: Any
) -> None:
    doc = nested_doc()
    few = [make_path(workspace, nodes=doc.nodes, parts=doc.parts)]
    many = [make_path(workspace, nodes=doc.nodes, parts=doc.parts) for _ in range(5)]

    for paths in (few, few + many):
        with django_assert_max_num_queries(5):
            read_paths(paths)

    assert read_path(many[0]).parts == doc.parts


@pytest.mark.django_db(transaction=True)
def test_add_version__many_at_once__one_active_version_and_no_number_twice() -> None:
    workspace = Workspace.objects.create(slug="w", name="W")
    first = make_path(workspace)
    stale: list[Exception] = []

    def change(number: int) -> None:
        try:
            with transaction.atomic():
                add_version(
                    lineage=first.lineage,
                    new=NewPath(doc=make_doc(f"goal {number}"), origin="hand"),
                    base=first,
                    now=NOW,
                )
        except StaleVersionError as error:
            stale.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=change, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(stale) == 3
    assert sorted(Path.objects.values_list("version", "status")) == [(1, "historical"), (2, "active")]
