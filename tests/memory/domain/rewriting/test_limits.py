"""A rewrite is no larger than what a path may hold."""

import pytest

from memory.domain.paths.checking import MAX_LABEL, MAX_NAME
from memory.domain.paths.document import EdgeDoc, NodeDoc, PathDoc
from memory.domain.rewriting.proposal import InvalidRewriteError, Rewrite, validate

OLD = PathDoc(goal="g", nodes=(NodeDoc(name="a", tool="a"),))
LONG = NodeDoc(name="n" * (MAX_NAME + 1), tool="t")
EDGE = EdgeDoc(source="a", target="b", label="l" * (MAX_LABEL + 1))


@pytest.mark.parametrize(
    ("rewrite", "field"),
    [
        pytest.param(Rewrite(new_nodes=("a", LONG), reason="r"), "new_nodes.1.name", id="name"),
        pytest.param(
            Rewrite(new_nodes=("a", NodeDoc(name="b", tool="b")), new_edges=(EDGE,), reason="r"),
            "new_edges.0.label",
            id="label",
        ),
    ],
)
def test_validate__longer_than_its_column__is_refused(rewrite: Rewrite, field: str) -> None:
    with pytest.raises(InvalidRewriteError) as error:
        validate(OLD, rewrite)

    assert list(error.value.problems) == [field]
