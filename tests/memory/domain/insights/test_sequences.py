"""Tool sequences: what a task holds, and counts that a task can be taken out of again."""

from datetime import UTC, date, datetime
from typing import Any

import pytest

from memory.domain.insights.runs import InsightCall, InsightRun
from memory.domain.insights.sequences import (
    MOST_BYTES,
    Change,
    Count,
    changes_of,
    contribute,
    counted,
    kept_examples,
    kinds_of,
    sequence_digest,
    sequences_of,
    steps_of,
)

AT = datetime(2026, 3, 1, tzinfo=UTC)


def make_run(tools: str = "abc", **fields: Any) -> InsightRun:
    """A successful task with one call of each letter's tool."""
    calls = tuple(InsightCall(seq, tool, {}, "ok", 1.0, AT) for seq, tool in enumerate(tools))
    given: dict[str, Any] = {
        "task_id": 1, "task_uuid": "t1", "workspace_id": 1, "external_id": "t1", "root_task": "t1",
        "goal": "g", "tags": (), "agent": "", "domain": "", "outcome": "success", "reward": None,
        "day": date(2026, 3, 1), "ended_at": AT, "failures": (), **fields,
    }  # fmt: skip
    return InsightRun(calls=calls, **given)


@pytest.mark.parametrize(
    ("tools", "steps"),
    [
        pytest.param("", "", id="nothing"),
        pytest.param("aab", "ab", id="repeat is one step"),
        pytest.param("abab", "abab", id="coming back is not"),
        pytest.param("aaaa", "a", id="only one tool"),
    ],
)
def test_steps_of__tools_in_a_row__one_step(tools: str, steps: str) -> None:
    assert steps_of(tools) == tuple(steps)


def test_steps_of__names_too_long_together__beginning_of_the_task() -> None:
    tools = [f"{number}" * 200 for number in "123456789"] * 20

    steps = steps_of(tools)

    assert 0 < len(steps) < len(tools)
    assert sum(len(step) for step in steps) <= MOST_BYTES


@pytest.mark.parametrize(
    ("steps", "found"),
    [
        pytest.param("a", [], id="one step is no sequence"),
        pytest.param("ab", ["ab"], id="two"),
        pytest.param("abc", ["ab", "bc", "abc"], id="three"),
        pytest.param("abab", ["ab", "ba", "aba", "bab", "abab"], id="each once"),
        pytest.param("abcdef", [
            "ab", "bc", "cd", "de", "ef", "abc", "bcd", "cde", "def", "abcd", "bcde", "cdef", "abcde",
            "bcdef",
        ], id="none longer than five"),
    ],
)  # fmt: skip
def test_sequences_of__steps__every_run_of_two_to_five(steps: str, found: list[str]) -> None:
    assert sequences_of(tuple(steps)) == [tuple(one) for one in found]


def test_kinds_of__domain_and_tags__all_domain_first_tags() -> None:
    assert kinds_of(["a", "a", "b", "c", "d"], "shop") == ("", "domain:shop", "tag:a", "tag:b", "tag:c")


@pytest.mark.parametrize("outcome", ["unknown", ""])
def test_contribute__end_not_known__nothing(outcome: str) -> None:
    assert contribute(make_run(outcome=outcome)) is None


def test_changes_of__added_and_removed__cancel_out() -> None:
    won, lost = contribute(make_run("abc")), contribute(make_run("abd", outcome="failure", task_uuid="t2"))

    kinds, sequences = changes_of([won], [won, lost])

    assert counted(Count(1, 0), kinds[""]) == Count(1, 1)
    assert counted(Count(1, 0), sequences["", ("a", "b")]) == Count(1, 1)
    assert counted(Count(1, 0), sequences["", ("b", "c")]) == Count(1, 0)
    assert counted(Count(), sequences["", ("b", "d")]) == Count(0, 1)


@pytest.mark.parametrize(
    ("before", "removed", "after"),
    [
        pytest.param(Count(2, 1), [1, 0], Count(1, 1), id="exact"),
        pytest.param(Count(2, 1, missed=3), [1, 0], Count(1, 1, missed=3), id="nobody knows: both ends"),
        pytest.param(Count(0, 1, missed=3), [2, 0], Count(0, 1, missed=1), id="it was among the missed"),
        pytest.param(Count(0, 0), [1, 1], Count(0, 0), id="never below zero"),
    ],
)  # fmt: skip
def test_counted__task_taken_away__range_still_holds(before: Count, removed: list[int], after: Count) -> None:
    assert counted(before, Change(won_gone=removed[0], lost_gone=removed[1])) == after


def test_counted__rows_dropped_and_readmitted__truth_stays_within_the_range() -> None:
    truth, row, floor = 0, Count(), 0
    for step in range(60):
        change = Change(won_gone=1) if step % 4 == 3 and truth else Change(won=1)
        truth += change.won - change.won_gone
        row = counted(row, change)
        assert row.won <= truth <= row.won + row.missed
        if step % 17 == 0:  # dropped: it comes back with what it may have had
            floor = max(floor, row.tasks + row.missed)
            row = Count(missed=floor)


def test_kept_examples__many_tasks__some_won_some_lost_none_that_left() -> None:
    before = [("a", True), ("gone", True)]
    new = [(f"w{number}", True) for number in range(9)] + [(f"l{number}", False) for number in range(9)]

    kept = kept_examples(before, Change(examples=tuple(new), gone=(("gone", True),)))

    assert [task for task, won in kept if won] == ["a", "w0", "w1", "w2", "w3", "w4"]
    assert [task for task, won in kept if not won] == ["l0", "l1", "l2", "l3"]


def test_sequence_digest__names_that_join_alike__differ() -> None:
    assert sequence_digest(("a", "bc")) != sequence_digest(("ab", "c"))
