"""Whatever is approved and then rolled back: the same version is active again, and nothing is lost."""

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from memory.actions.paths import retire_lineage, roll_back_path
from memory.actions.rewrites import approve_rewrite
from memory.domain.paths.document import NodeDoc
from memory.domain.rewriting.proposal import Rewrite, write_rewrite
from memory.models import Path
from memory.permissions import SYSTEM
from memory.queries.path_documents import read_path
from tests.builders import make_path
from tests.conftest import Cast
from tests.memory.rewrites import make_proposal

pytestmark = pytest.mark.django_db

TOOLS = st.lists(st.sampled_from(["find", "book", "pay", "mail"]), min_size=1, max_size=5)
REWRITES = st.lists(st.tuples(TOOLS, st.booleans()), min_size=1, max_size=3)


def rewrite_of(path: Path, tools: list[str], keep_old: bool) -> Path:
    """Approve a rewrite that keeps the first old node and does these things after it."""
    first = read_path(path).nodes[0].name
    nodes = (first, *(NodeDoc(name=f"new-{place}", tool=tool) for place, tool in enumerate(tools)))
    document = write_rewrite(Rewrite(new_nodes=nodes, reason="Better.", keep_old=keep_old))
    return approve_rewrite(proposal=make_proposal(path, proposal=document), by=SYSTEM)


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tools=TOOLS, reward=st.floats(0, 1), rewrites=REWRITES, is_retired=st.booleans())
def test_approve__then_rolled_back__the_same_version_is_active_again(
    cast: Cast, tools: list[str], reward: float, rewrites: list[tuple[list[str], bool]], is_retired: bool
) -> None:
    path = make_path(cast.workspace, nodes=tools, result="failure", reward=reward)
    before = read_path(path)
    newest = path
    for steps, keep_old in rewrites:
        newest = rewrite_of(newest, steps, keep_old)
    documents = {row.pk: read_path(row).nodes for row in path.lineage.versions.all()}
    if is_retired:
        retire_lineage(path=newest, reason="No use.", by=SYSTEM)

    roll_back_path(path=path, by=SYSTEM)

    assert path.lineage.versions.get(status="active") == path
    assert read_path(path.lineage.versions.get(status="active")) == before
    assert {row.pk: read_path(row).nodes for row in path.lineage.versions.all()} == documents
    assert len(documents) == 1 + len(rewrites)


def test_roll_back__then_another_rewrite__gets_the_next_number(cast: Cast) -> None:
    path = make_path(cast.workspace, result="failure", reward=0.4)
    rewrite_of(path, ["find"], True)
    path = roll_back_path(path=path, by=SYSTEM)

    new = rewrite_of(path, ["pay"], True)

    assert (new.version, new.parent) == (3, path)
    assert sorted(path.lineage.versions.values_list("version", "status")) == [
        (1, "historical"), (2, "historical"), (3, "active"),
    ]  # fmt: skip
