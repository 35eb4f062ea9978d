"""Two agents or people at one path, node or answer at the same moment."""

from typing import Any

import pytest

from memory.actions.localizations import report_reuse
from memory.actions.nodes import merge_nodes
from memory.actions.path_imports import import_paths, plan_path_import
from memory.actions.paths import StaleVersionError, correct_path, retire_lineage, roll_back_path
from memory.actions.rewrites import approve_rewrite
from memory.background.uses import settle_backlog
from memory.domain.paths.checking import write_path_document
from memory.models import Node, Path, PathUse
from memory.permissions import SYSTEM
from memory.queries.path_documents import read_path
from tests.builders import make_localization, make_path
from tests.conftest import Cast
from tests.memory.builders import make_node
from tests.memory.rewrites import make_failed_path, make_proposal
from tests.racing import at_once

pytestmark = pytest.mark.django_db(transaction=True)
DOCUMENT: dict[str, Any] = {"goal": "Pay", "nodes": [{"name": "find", "tool": "find"}]}


def mine(cast: Cast) -> list[tuple[str, int]]:
    rows = Path.objects.filter(workspace=cast.workspace, origin="import").order_by("lineage", "version")
    return list(rows.values_list("goal", "version"))


@pytest.mark.parametrize("key", ["", "pay"])
def test_import__the_same_document_many_times_at_once__is_one_path(cast: Cast, key: str) -> None:
    document = {**DOCUMENT, "key": key}

    results = at_once(*[lambda: import_paths(workspace=cast.workspace, documents=[document], by=SYSTEM)] * 4)

    assert sorted(item.status for items in results for item in items) == ["new", "same", "same", "same"]
    assert len({item.uuid for items in results for item in items}) == 1
    assert mine(cast) == [("Pay", 1)]


def test_import__the_same_change_at_once__is_one_version(cast: Cast) -> None:
    import_paths(workspace=cast.workspace, documents=[{**DOCUMENT, "key": "pay"}], by=SYSTEM)
    changed = {**DOCUMENT, "key": "pay", "goal": "Pay now"}

    at_once(*[lambda: import_paths(workspace=cast.workspace, documents=[changed], by=SYSTEM)] * 3)

    assert mine(cast) == [("Pay", 1), ("Pay now", 2)]


def test_import__a_document_twice_in_one_request__is_one_path(cast: Cast) -> None:
    planned = plan_path_import(workspace=cast.workspace, documents=[DOCUMENT] * 2, by=SYSTEM)
    stored = import_paths(workspace=cast.workspace, documents=[DOCUMENT] * 2, by=SYSTEM)

    assert [item.status for item in planned] == [item.status for item in stored] == ["new", "same"]
    assert mine(cast) == [("Pay", 1)]


def test_import__a_retired_path__stays_retired_and_says_so(cast: Cast) -> None:
    document = {**DOCUMENT, "key": "pay"}
    import_paths(workspace=cast.workspace, documents=[document], by=SYSTEM)
    retire_lineage(path=Path.objects.get(origin="import"), reason="Wrong.", by=SYSTEM)

    (item,) = import_paths(workspace=cast.workspace, documents=[{**document, "goal": "Pay now"}], by=SYSTEM)

    assert (item.status, item.errors[0].field) == ("invalid", "key")
    assert "retired" in item.errors[0].detail
    assert mine(cast) == [("Pay", 1)]


def test_correct__many_from_one_base__make_one_version(cast: Cast) -> None:
    path = make_path(cast.workspace)
    document = write_path_document(read_path(path))

    results = at_once(
        *(
            lambda goal=goal: correct_path(  # type: ignore[misc]
                path=path, document={**document, "goal": goal}, base_version=1, by=SYSTEM
            )
            for goal in ("one", "two", "three")
        )
    )

    assert sum(isinstance(result, StaleVersionError) for result in results) == 2, results
    assert path.lineage.versions.count() == 2


def test_roll_back__while_a_rewrite_is_approved__leaves_one_active_version(cast: Cast) -> None:
    path = make_failed_path(cast.workspace, reward=0.4)
    approve_rewrite(proposal=make_proposal(path), by=SYSTEM)
    second = path.lineage.versions.get(version=2)
    proposal = make_proposal(second, proposal={"new_nodes": ["lock"], "reason": "x"})

    at_once(
        lambda: approve_rewrite(proposal=proposal, by=SYSTEM),
        lambda: roll_back_path(path=path, by=SYSTEM),
        lambda: roll_back_path(path=path, by=SYSTEM),
    )

    assert path.lineage.versions.filter(status="active").count() == 1


def test_merge__into_each_other_at_once__makes_no_circle(cast: Cast) -> None:
    one, other = make_node(cast.workspace, "one"), make_node(cast.workspace, "other")

    results = at_once(
        lambda: merge_nodes(keep=one, others=[other], by=SYSTEM),
        lambda: merge_nodes(keep=other, others=[one], by=SYSTEM),
    )

    assert len({result.keep for result in results}) == 1, results
    assert Node.objects.exclude(merged_into=None).count() == 1


def test_report_and_settle__at_once__wait_for_each_other_and_count_once(cast: Cast) -> None:
    path = make_path(cast.workspace)
    answers = [make_localization(cast.workspace, path, task_name=f"task-{n}") for n in range(12)]

    def report(result: str) -> None:
        for answer in answers:
            report_reuse(localization=answer, taken=path.uuid, result=result, by=SYSTEM)

    def settle() -> None:
        for _ in range(10):
            settle_backlog(2)

    report("failure")
    results = at_once(lambda: report("failure"), lambda: report("success"), settle, settle)
    settle_backlog()

    assert results == [None] * 4
    path.refresh_from_db()
    assert (path.use_count, PathUse.objects.count()) == (12, 12)
    assert path.success_count == PathUse.objects.filter(result="success").count()
