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
    docs = (Path(__file__).parents[3] / "docs" / "experience.md").read_text(encoding="utf-8")

    assert f"```mermaid\n{mermaid(*LIFECYCLES[kind])}\n```" in docs
