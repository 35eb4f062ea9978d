"""What a rule would have hit of what was recorded."""

from typing import Any

import pytest

from corrections.actions.coverage import Coverage, cover
from hgmem.rules import RuleError
from memory.domain.access import NotPermitted
from memory.models import ErrorPattern
from memory.permissions import Actor
from tests.builders import NOW, make_call, make_failure, make_pattern, make_task
from tests.conftest import Cast
from tests.corrections.web.scenes import city_calls, city_pattern


def covered(cast: Cast, pattern: ErrorPattern | None, **changes: Any) -> Coverage:
    """The coverage of a rule on the cast's calls."""
    document = {
        "applies_to": {"tool": "weather_api"}, "condition": "input.city == ''",
        "action_type": "PRE_CALL_VALIDATION", "action_detail": {}, **changes,
    }  # fmt: skip
    uuids = [pattern.uuid] if pattern else []
    return cover(document=document, patterns=uuids, now=NOW, by=cast.actor("viewer"))


def counts(result: Coverage) -> dict[str, tuple[int, int]]:
    """Hit and n of each group."""
    groups = {"pattern": result.pattern, "good": result.good, "failed": result.failed}
    return {name: (tally.hit, tally.n) for name, tally in groups.items()}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({}, (3, 0, 0), id="exact"),
        pytest.param({"condition": ""}, (3, 5, 1), id="always"),
        pytest.param({"condition": "false"}, (0, 0, 0), id="never"),
        pytest.param(
            {"condition": "input.city == 'Town 1'"}, (0, 1, 0), id="good"
        ),
        pytest.param(
            {"applies_to": {"tool": "weather_*"}}, (3, 0, 0), id="glob"
        ),
        pytest.param(
            {"applies_to": {"tool": "weather_api", "tags": ["other"]}},
            (0, 0, 0),
            id="tag-nobody-has",
        ),
        pytest.param(
            {"valid_until": "2020-01-01T00:00:00Z"}, (3, 0, 0), id="over"
        ),
        pytest.param(
            {"condition": "output.ok == true", "action_type": "PROMPT_ENHANCEMENT",
             "action_detail": {"text": "t"}, "applies_to": {"tool": "weather_api", "point": "after"}},
            (0, 5, 0),
            id="after-the-call",
        ),
        pytest.param(
            {"condition": "history.exists(h, h.input.city == 'Town 0')"},
            (0, 4, 1),
            id="history",
        ),
    ],
)  # fmt: skip
def test_cover__any_rule__counts_failing_good_and_other_calls(
    cast: Cast, changes: dict[str, Any], expected: tuple[int, int, int]
) -> None:
    pattern = city_pattern(cast.workspace)
    task = city_calls(cast.workspace, pattern)
    other = make_call(task, "weather_api", input={"city": "Atlantis"}, status="error")
    make_failure(other, make_pattern(cast.workspace))
    make_call(task, "book", input={"city": ""})
    city_calls(cast.elsewhere, city_pattern(cast.elsewhere))

    result = counts(covered(cast, pattern, **changes))

    assert result == {"pattern": (expected[0], 3), "good": (expected[1], 5), "failed": (expected[2], 1)}


def test_cover__condition_that_cannot_be_evaluated__is_counted_and_said(cast: Cast) -> None:
    task = make_task(cast.workspace)
    make_call(task, "weather_api", input={"city": 5})

    result = covered(cast, None, condition="input.city.trim() == ''")

    assert result.error_count == 1
    assert "trim" in result.errors[0]
    assert counts(result)["good"] == (0, 1)


def test_cover__call_with_two_failures_of_the_pattern__counts_once(cast: Cast) -> None:
    pattern = city_pattern(cast.workspace)
    call = make_call(make_task(cast.workspace), "weather_api", input={"city": ""})
    make_failure(call, pattern)
    make_failure(call, pattern, detector="call:0:validator:x")

    assert counts(covered(cast, pattern))["pattern"] == (1, 1)


def test_cover__pattern_of_another_workspace__finds_nothing(cast: Cast) -> None:
    pattern = city_pattern(cast.elsewhere)
    city_calls(cast.elsewhere, pattern)

    assert counts(covered(cast, pattern)) == {"pattern": (0, 0), "good": (0, 0), "failed": (0, 0)}


def test_cover__bad_rule_or_outsider__is_refused(cast: Cast) -> None:
    with pytest.raises(RuleError):
        covered(cast, None, condition="input.city ==")
    nobody = Actor(kind="user", name="x", workspace_id=cast.workspace.pk)
    with pytest.raises(NotPermitted):
        cover(document={}, patterns=[], now=NOW, by=nobody)
