"""The tables, walked whole: every status times every transition."""

from pathlib import Path

import pytest

from memory.domain.lifecycle import (
    LIFECYCLES,
    TransitionError,
    can_transition,
    check_transition,
    mermaid,
    statuses,
)

ALLOWED = {
    ("pattern", "open", "cover"): "covered",
    ("pattern", "covered", "uncover"): "open",
    ("pattern", "open", "ignore"): "ignored",
    ("pattern", "covered", "ignore"): "ignored",
    ("pattern", "ignored", "reopen"): "open",
    ("task", "running", "finish"): "final",
    ("path", "active", "replace"): "historical",
    ("path", "historical", "restore"): "active",
    ("path", "retired", "restore"): "active",
    ("path", "active", "retire"): "retired",
    ("path", "historical", "retire"): "retired",
    ("rewrite", "queued", "hand_over"): "needs_human",
    ("rewrite", "queued", "propose"): "proposed",
    ("rewrite", "needs_human", "propose"): "proposed",
    ("rewrite", "given_up", "propose"): "proposed",
    ("rewrite", "queued", "give_up"): "given_up",
    ("rewrite", "needs_human", "retry"): "queued",
    ("rewrite", "given_up", "retry"): "queued",
    ("rewrite", "proposed", "approve"): "approved",
    ("rewrite", "queued", "reject"): "rejected",
    ("rewrite", "needs_human", "reject"): "rejected",
    ("rewrite", "given_up", "reject"): "rejected",
    ("rewrite", "proposed", "reject"): "rejected",
    ("rewrite", "queued", "supersede"): "superseded",
    ("rewrite", "needs_human", "supersede"): "superseded",
    ("rewrite", "given_up", "supersede"): "superseded",
    ("rewrite", "proposed", "supersede"): "superseded",
}
EVERY = [
    pytest.param(kind, status, name, id=f"{kind}-{status}-{name}")
    for kind, (initial, table) in LIFECYCLES.items()
    for status in statuses(initial, table)
    for name in table
]


@pytest.mark.parametrize(("kind", "status", "name"), EVERY)
def test_check_transition__every_pair__is_as_the_table_says(kind: str, status: str, name: str) -> None:
    _, table = LIFECYCLES[kind]
    target = ALLOWED.get((kind, status, name))

    assert can_transition(table, name, status) == (target is not None)
    if target:
        assert check_transition(table, name, status) == target
    else:
        with pytest.raises(TransitionError, match=f"this is {status}"):
            check_transition(table, name, status)


def test_check_transition__refused__says_what_would_be_right() -> None:
    with pytest.raises(TransitionError) as caught:
        check_transition(LIFECYCLES["pattern"][1], "reopen", "covered")

    assert str(caught.value) == "Only what is ignored can be reopened; this is covered."


def test_mermaid__task__is_the_table() -> None:
    assert mermaid(*LIFECYCLES["task"]) == (
        "stateDiagram-v2\n    [*] --> running\n    running --> final: finish"
    )


@pytest.mark.parametrize("kind", LIFECYCLES)
def test_docs__diagram__is_the_table(kind: str) -> None:
    folder = Path(__file__).parents[3] / "docs"
    docs = "".join((folder / name).read_text(encoding="utf-8") for name in ("experience.md", "paths.md"))

    assert f"```mermaid\n{mermaid(*LIFECYCLES[kind])}\n```" in docs
