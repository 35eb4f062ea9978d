"""The rewriter without a model, on whole paths with their failed tries."""

import pytest

from memory.background.rewriters.align import AlignRewriter
from memory.background.rewriters.port import DraftRequest
from memory.domain.paths.building import build_paths
from memory.domain.paths.document import PathDoc
from memory.domain.paths.runs import Run, RunCall, RunFailure
from memory.domain.rewriting.align import RewriteMemory
from memory.domain.rewriting.failing import find_failure
from memory.domain.rewriting.proposal import apply
from tests.memory.domain.rewriting.test_align_wording import PLURALS, no_table

QUERY = "SELECT name FROM stadiums WHERE land = 'Korea'"
MENDED = "SELECT name FROM stadium WHERE land = 'Korea'"
OTHER = "DELETE everything; COMMIT; now = then"


def failed_path(*queries: str) -> PathDoc:
    """The path of a run in which each query failed."""
    words = RunFailure(message=no_table("stadiums"), template="Table <q> doesn't exist", error_type="E")
    calls = [
        RunCall(seq=seq, tool="ask", input={"cmd": query}, failure=words, output=None, step=seq)
        for seq, query in enumerate(queries)
    ]
    return build_paths(Run(external_id="r", calls=calls, goal="Which stadiums?", outcome="failure"))[0].doc


def request(old: PathDoc, memory: RewriteMemory) -> DraftRequest:
    return DraftRequest(
        workspace_id=1, old=old, reason="It failed.", failure=find_failure(old), memory=memory
    )


@pytest.mark.parametrize(
    ("queries", "expected"),
    [
        pytest.param([QUERY], MENDED, id="new"),
        pytest.param([OTHER, QUERY], MENDED, id="something else was tried before"),
        pytest.param([MENDED, OTHER, QUERY], None, id="tried before"),
        pytest.param([MENDED, QUERY], None, id="tried right before"),
    ],
)
def test_draft__what_the_path_tried_in_vain__is_not_proposed(
    queries: list[str], expected: str | None
) -> None:
    old = failed_path(*queries)

    drafted = AlignRewriter().draft(request(old, RewriteMemory(repairs=PLURALS)))

    proposed = apply(old, drafted.rewrite).nodes[-1].params["cmd"] if drafted else None
    assert proposed == expected


def test_draft__a_composed_argument_that_nobody_mended__proposes_nothing() -> None:
    old = failed_path(OTHER)

    assert AlignRewriter().draft(request(old, RewriteMemory(repairs=PLURALS))) is None
