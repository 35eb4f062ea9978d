"""Assignment: the published vectors, and the shape of the whole: even, independent, monotone."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hgmem.rules.assignment import BUCKETS, assign, bucket_of, unit_digest, unit_of

CASES = json.loads((Path(__file__).parents[2] / "cases" / "assignment" / "vectors.json").read_text())
RULE = "5b0f6f0e-4c9e-4f8e-9a57-0f6a6f0c2d11"
OTHER = "00000000-0000-4000-8000-000000000001"
UNITS = [f"task-{at}" for at in range(20_000)]
CELLS = 20


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES])
def test_assign__published_vector__gives_its_bucket_digest_and_arms(case: dict[str, Any]) -> None:
    names = (case["rule"], case["salt"], case["unit"])
    arms = {
        share: assign(*names, share=int(share), kept=frozenset(case.get("kept", ())))
        for share in case["arms"]
    }
    assert (bucket_of(*names), unit_digest(case["unit"]), arms) == (
        case["bucket"],
        case["digest"],
        case["arms"],
    )


def chi_square(counts: list[int]) -> float:
    expected = sum(counts) / len(counts)
    return sum((count - expected) ** 2 / expected for count in counts)


@pytest.mark.parametrize("salt", ["", "salt", "盐"])
def test_bucket__many_tasks__are_spread_evenly(salt: str) -> None:
    counts = [0] * CELLS
    for unit in UNITS:
        counts[bucket_of(RULE, salt, unit) * CELLS // BUCKETS] += 1
    assert chi_square(counts) < 43.8  # 19 degrees of freedom, p = .001


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param((RULE, "salt"), (OTHER, "salt"), id="two rules"),
        pytest.param((RULE, "salt"), (RULE, "pepper"), id="two salts"),
    ],
)
def test_assign__two_trials__are_independent(one: tuple[str, str], other: tuple[str, str]) -> None:
    table = [0, 0, 0, 0]
    for unit in UNITS:
        arms = [assign(*trial, unit, share=5_000) == "canary" for trial in (one, other)]
        table[2 * arms[0] + arms[1]] += 1
    assert chi_square(table) < 16.3  # 3 degrees of freedom, p = .001


@given(st.text(), st.integers(0, BUCKETS), st.integers(0, BUCKETS), st.booleans())
def test_assign__share_raised__takes_no_task_out_of_the_canary(
    unit: str, share: int, more: int, is_kept: bool
) -> None:
    low, high = sorted((share, more))
    kept = {unit_digest(unit)} if is_kept else set()
    before, after = (assign(RULE, "salt", unit, share=part, kept=kept) for part in (low, high))
    assert (before, after) != ("canary", "control")
    assert (after == "control") or not is_kept


@pytest.mark.parametrize(
    ("variables", "unit"),
    [
        pytest.param({}, "", id="no task"),
        pytest.param({"task": {}}, "", id="empty task"),
        pytest.param({"task": {"id": None, "root": None}}, "", id="nulls"),
        pytest.param({"task": {"id": "sub"}}, "sub", id="its own root"),
        pytest.param({"task": {"id": "sub", "root": ""}}, "sub", id="empty root"),
        pytest.param({"task": {"id": "sub", "root": "top"}}, "top", id="sub-task"),
        pytest.param({"task": {"root": "top"}}, "top", id="root alone"),
        pytest.param({"task": {"id": "t" * 200}}, "t" * 200, id="as long as a name can be"),
        pytest.param({"task": {"id": "t" * 201}}, "", id="too long to be recorded"),
    ],
)
def test_unit__of_a_question__is_the_root_task(variables: dict[str, Any], unit: str) -> None:
    assert unit_of(variables) == unit
