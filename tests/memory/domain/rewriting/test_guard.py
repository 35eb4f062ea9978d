"""The guard: who decides on a rewrite, and the sentence that says why."""

from typing import Any

import pytest

from memory.domain.rewriting.guard import GuardFacts, guard
from memory.domain.rewriting.policy import (
    InvalidPolicyError,
    RewritePolicy,
    read_policy,
    safe_policy,
)

POLICY = RewritePolicy()


def facts(**given: Any) -> GuardFacts:
    return GuardFacts(**{"version": 1, "reward": 0.0, "fruitless": 0, **given})


@pytest.mark.parametrize(
    ("given", "failed"),
    [
        pytest.param({}, [], id="a failed first version"),
        pytest.param({"version": 2}, [], id="the last version that is made by itself"),
        pytest.param({"version": 3}, ["versions"], id="one version too many"),
        pytest.param({"version": 9}, ["versions"], id="far too many versions"),
        pytest.param({"reward": 0.5}, [], id="a reward at the limit"),
        pytest.param({"reward": 0.51}, ["reward"], id="a reward above it"),
        pytest.param({"fruitless": 2}, [], id="two rewrites that helped nobody"),
        pytest.param({"fruitless": 3}, ["fruitless"], id="three of them"),
        pytest.param({"paused": "a storm"}, ["paused"], id="a storm"),
        pytest.param(
            {"version": 4, "reward": 1.0, "fruitless": 5, "paused": "x"},
            ["versions", "reward", "fruitless", "paused"],
            id="everything at once",
        ),
    ],
)
def test_guard__each_limit__hands_over_to_a_person(given: dict[str, Any], failed: list[str]) -> None:
    verdict = guard(facts(**given), POLICY)

    assert [check.name for check in verdict.checks if not check.ok] == failed
    assert verdict.passed == verdict.automatic == (not failed)
    assert all(check.said in verdict.said for check in verdict.checks if not check.ok)


def test_guard__person_asked_for_it__passes_and_is_still_not_automatic() -> None:
    verdict = guard(facts(version=3, overruled_by="rosa"), POLICY)

    assert (verdict.passed, verdict.automatic) == (True, False)
    assert verdict.said.startswith("rosa asked for it although: This would be version 4")


def test_guard__other_limits__are_the_policys() -> None:
    policy = RewritePolicy(max_versions=5, good_reward=0.9, max_fruitless=1)

    assert guard(facts(version=4, reward=0.8), policy).passed
    assert not guard(facts(fruitless=1), policy).passed


@pytest.mark.parametrize(
    "stored",
    [
        pytest.param({"paths": {"rewriters": []}}, id="no rewriter"),
        pytest.param({"paths": {"rewriters": ["gpt"]}}, id="an unknown rewriter"),
        pytest.param({"paths": {"rewriters": ["align", "align"]}}, id="one twice"),
        pytest.param({"paths": {"max_versions": 0}}, id="no version at all"),
        pytest.param({"paths": {"good_reward": 1.5}}, id="a reward beyond 1"),
        pytest.param({"paths": {"auto_approve": "yes"}}, id="not a flag"),
        pytest.param({"paths": [1]}, id="no object"),
    ],
)
def test_policy__settings_that_make_no_sense__are_refused_and_nothing_is_automatic(
    stored: dict[str, Any],
) -> None:
    with pytest.raises(InvalidPolicyError):
        read_policy(stored)
    assert safe_policy(stored) == POLICY


def test_policy__settings_of_others__are_left_alone() -> None:
    policy = read_policy({"paths": {"weights": {"tag": 1}, "auto_approve": True, "rewriters": ["llm"]}})

    assert policy == RewritePolicy(auto_approve=True, rewriters=("llm",))


def test_policy__one_part_unreadable__keeps_the_rest_and_nothing_is_automatic() -> None:
    stored = {"paths": {"auto_approve": True, "good_reward": 0.2, "max_versions": "many"}}

    assert safe_policy(stored) == RewritePolicy(good_reward=0.2)
