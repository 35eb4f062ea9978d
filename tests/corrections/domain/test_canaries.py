"""The life of a canary and a workspace's policy: tables and what refuses."""

from pathlib import Path
from typing import Any

import pytest

from corrections.domain.canaries import (
    CANARY_INITIAL,
    CANARY_STATES,
    CANARY_TRANSITIONS,
    LIVE_STATES,
    SERVED_STATES,
    CanaryPolicy,
    check_canary,
    default_rollout,
    in_buckets,
    read_canary_policy,
    safe_canary_policy,
)
from corrections.domain.changes import InvalidPolicyError
from memory.domain.lifecycle import TransitionError, mermaid

DOCS = Path(__file__).parents[3] / "docs" / "canaries.md"


@pytest.mark.parametrize("step", list(CANARY_TRANSITIONS))
@pytest.mark.parametrize("state", CANARY_STATES)
def test_check_canary__every_pair__follows_the_table(state: str, step: str) -> None:
    transition = CANARY_TRANSITIONS[step]
    if state in transition.sources:
        assert check_canary(state, step) == transition.target
    else:
        with pytest.raises(TransitionError):
            check_canary(state, step)


def test_states__over__lead_nowhere_and_are_not_served() -> None:
    over = set(CANARY_STATES) - set(LIVE_STATES)

    assert over == {"rolled_back", "ended"}
    assert not over & {source for step in CANARY_TRANSITIONS.values() for source in step.sources}
    assert not over & set(SERVED_STATES)


def test_documentation__diagram__is_the_table() -> None:
    assert f"```mermaid\n{mermaid(CANARY_INITIAL, CANARY_TRANSITIONS)}\n```" in DOCS.read_text()


@pytest.mark.parametrize("field", list(CanaryPolicy.__struct_fields__))
def test_documentation__policy__names_every_field(field: str) -> None:
    assert f"`{field}`" in DOCS.read_text()


@pytest.mark.parametrize(
    ("start", "author", "rollout"),
    [
        pytest.param("agents", "agent", "canary", id="agents: an agent's"),
        pytest.param("agents", "human", "all", id="agents: a person's"),
        pytest.param("all", "human", "canary", id="all"),
        pytest.param("never", "agent", "all", id="never"),
    ],
)
def test_default_rollout__policy_and_author__decide(start: Any, author: str, rollout: str) -> None:
    assert default_rollout(CanaryPolicy(start=start), author) == rollout


@pytest.mark.parametrize(
    ("share", "buckets"),
    [(0.1, 1_000), (0.95, 9_500), (0.0, 1), (1.0, 9_999), (0.00001, 1)],
)
def test_in_buckets__any_share__is_never_none_and_never_all(share: float, buckets: int) -> None:
    assert in_buckets(share) == buckets


@pytest.mark.parametrize(
    "stored",
    [
        {"first_share": 0}, {"full_share": 1}, {"alpha": 0.5}, {"start": "some"}, {"max_days": 0},
        {"holdout": 0.6}, [],
    ],
    ids=str,
)  # fmt: skip
def test_policy__senseless__is_refused_when_written_and_harmless_when_stored(stored: Any) -> None:
    with pytest.raises(InvalidPolicyError):
        read_canary_policy({"canaries": stored})
    assert safe_canary_policy({"canaries": stored}) == CanaryPolicy()
