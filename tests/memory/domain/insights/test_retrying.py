"""What retries cost, from counted cells."""

import pytest

from memory.domain.insights.retries import Cost
from memory.domain.insights.retrying import cost_of

WHOLE = Cost(calls=100, ms=2_000.0, retries=10, retry_ms=400.0)


@pytest.mark.parametrize(
    ("cost", "share"),
    [
        pytest.param(Cost(retries=5, retry_ms=200.0), 0.1, id="timed"),
        pytest.param(Cost(retries=5), None, id="no-retry-was-timed"),
        pytest.param(Cost(), 0.0, id="no-retry"),
        pytest.param(Cost(retries=900, retry_ms=9_000.0), 1.0, id="more-than-all"),
    ],
)
def test_cost_of__retries_after_a_pattern__have_a_share_of_the_whole(cost: Cost, share: float | None) -> None:
    found = cost_of("pattern", [cost], WHOLE)

    assert found.time_share == share
    assert found.call_share.n == 100


def test_cost_of__nothing_was_timed__has_no_share_of_time() -> None:
    found = cost_of("tool", [Cost(calls=3, retries=1, recovered=1), Cost(calls=4, given_up=1)])

    assert (found.time_share, found.cost.calls, found.success.value) == (None, 7, 0.5)
