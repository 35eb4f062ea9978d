"""The table of a rule's life, in full."""

from pathlib import Path

import pytest

from corrections.domain.lifecycle import (
    TRANSITIONS,
    Refused,
    Status,
    can_step,
    check_publishes,
    check_step,
    mermaid,
)
from corrections.domain.proposing import PROPOSAL_INITIAL, PROPOSAL_TRANSITIONS
from memory.domain.lifecycle import mermaid as draw_table

POSSIBLE = {
    ("draft", "edit"): "draft",
    ("draft", "activate"): "active",
    ("draft", "retire"): "retired",
    ("active", "edit"): "active",
    ("active", "activate"): "active",
    ("active", "disable"): "disabled",
    ("active", "expire"): "expired",
    ("active", "retire"): "retired",
    ("disabled", "edit"): "disabled",
    ("disabled", "activate"): "active",
    ("disabled", "retire"): "retired",
    ("expired", "edit"): "expired",
    ("expired", "activate"): "active",
    ("expired", "retire"): "retired",
    ("draft", "delete"): "deleted",
    ("disabled", "delete"): "deleted",
    ("expired", "delete"): "deleted",
    ("retired", "delete"): "deleted",
    ("draft", "try"): "canary",
    ("disabled", "try"): "canary",
    ("expired", "try"): "canary",
    ("canary", "try"): "canary",
    ("canary", "edit"): "canary",
    ("canary", "activate"): "active",
    ("canary", "disable"): "disabled",
    ("canary", "expire"): "expired",
    ("canary", "retire"): "retired",
    ("canary", "delete"): "deleted",
}
EVERY = [(status.value, step) for status in Status for step in TRANSITIONS]


@pytest.mark.parametrize(("status", "step"), EVERY, ids=[f"{step} {status}" for status, step in EVERY])
def test_check_step__every_pair__follows_the_table(status: str, step: str) -> None:
    expected = POSSIBLE.get((status, step))
    assert can_step(status, step) == (expected is not None)
    if expected is None:
        with pytest.raises(Refused, match=f"A rule that is {status} cannot"):
            check_step(status, step)
    else:
        assert check_step(status, step) == expected


def test_check_publishes__latest_is_live__is_refused_in_words() -> None:
    with pytest.raises(Refused, match="Version 3 is live already"):
        check_publishes("active", live=3, latest=3)


@pytest.mark.parametrize(
    ("status", "live", "latest"),
    [
        pytest.param("active", 2, 3, id="newer version"),
        pytest.param("disabled", None, 3, id="not served"),
        pytest.param("draft", None, 1, id="draft"),
    ],
)
def test_check_publishes__something_new__passes(status: str, live: int | None, latest: int) -> None:
    check_publishes(status, live=live, latest=latest)


def test_mermaid__whole_table__has_a_line_for_every_step() -> None:
    drawn = mermaid()
    for (status, step), target in POSSIBLE.items():
        assert f"    {status} --> {target}: {step}\n" in drawn
    assert drawn.count("-->") == len(POSSIBLE) + 2


def test_documentation__diagram__is_the_table() -> None:
    text = (Path(__file__).parents[3] / "docs" / "corrections.md").read_text()
    assert f"```mermaid\n{mermaid()}```" in text


def test_documentation__life_of_a_proposal__is_the_table() -> None:
    drawn = draw_table(PROPOSAL_INITIAL, PROPOSAL_TRANSITIONS)
    assert f"```mermaid\n{drawn}\n```" in Path("docs/corrections.md").read_text()
