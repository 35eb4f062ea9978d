"""Steps that rules asked for, found again before the call."""

from typing import Any

import pytest

from corrections.domain.prompting import Advice, advice_of, count_prompted

OPEN = {"action_type": "INSERT_STEP", "action_detail": {"tool": "open", "arguments": {}}}
HINT = {"action_type": "PROMPT_ENHANCEMENT", "action_detail": {"text": "Here open was called first."}}


@pytest.mark.parametrize(
    ("body", "tools", "count"),
    [
        pytest.param(OPEN, ["look", "open"], 1, id="directly before"),
        pytest.param(OPEN, ["open", "look"], 0, id="another call between"),
        pytest.param(OPEN, ["open", "open"], 2, id="twice"),
        pytest.param(OPEN, [], 0, id="first call of the run"),
        pytest.param(OPEN, ["open"] * 30, 10, id="no farther than its bound"),
        pytest.param(HINT, ["open"], 1, id="a hint names it"),
        pytest.param(HINT, ["ope"], 0, id="a part of a word names nothing"),
    ],
)
def test_count_prompted__calls_before__are_counted_while_they_were_asked_for(
    body: dict[str, Any], tools: list[str], count: int
) -> None:
    advice = advice_of(body)
    assert advice is not None
    assert count_prompted([advice], tools) == count


def test_advice_of__rule_that_asks_for_no_step__is_none() -> None:
    assert advice_of({"action_type": "PRE_CALL_VALIDATION", "action_detail": {"message": "open"}}) is None


def test_advice__name_with_signs_of_a_pattern__is_a_name() -> None:
    assert Advice(texts=("call a.b first",)).names("a.b")
    assert not Advice(texts=("call axb first",)).names("a.b")
