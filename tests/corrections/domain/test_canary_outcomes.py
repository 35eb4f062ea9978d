"""What became of an exposed task: every case of the decision."""

from typing import Any

import pytest

from corrections.domain.canary_outcomes import MadeCall, TaskFacts, slow_limit, what_became

OK, BAD = MadeCall("book"), MadeCall("book", "error", failed=True)
OTHER, OTHER_BAD = MadeCall("mail"), MadeCall("mail", "error", failed=True)
SILENT = MadeCall("book", "ok", failed=True)
REFUSED = MadeCall("book", "rejected", failed=True)
UNSAID = MadeCall("book", "unknown")


def facts(*calls: MadeCall, **changes: Any) -> TaskFacts:
    given = {"outcome": "unknown", "is_final": True, "tools": frozenset({"book"}), "calls": calls}
    return TaskFacts(**{**given, **changes})


@pytest.mark.parametrize(
    ("task", "failed"),
    [
        pytest.param(facts(OK, outcome="success", is_final=False), False, id="said-success"),
        pytest.param(facts(OK, outcome="failure", is_final=False), True, id="said-failure"),
        pytest.param(facts(BAD, outcome="success"), False, id="a-word-outranks-what-was-found"),
        pytest.param(facts(outcome="failure"), True, id="said-failure-without-calls"),
        pytest.param(facts(BAD, is_final=False), None, id="goes-on"),
        pytest.param(facts(), False, id="over-without-calls"),
        pytest.param(facts(OK), False, id="over-and-it-worked"),
        pytest.param(facts(BAD), True, id="over-and-it-failed"),
        pytest.param(facts(SILENT), True, id="over-and-a-validator-minded"),
        pytest.param(facts(BAD, OK), False, id="it-worked-later"),
        pytest.param(facts(BAD, UNSAID), False, id="nobody-minded-the-later-one"),
        pytest.param(facts(OK, BAD), True, id="it-worked-before-only"),
        pytest.param(facts(BAD, OK, BAD), True, id="it-failed-again"),
        pytest.param(facts(BAD, OTHER), True, id="another-tool-repairs-nothing"),
        pytest.param(facts(OTHER_BAD), False, id="another-tools-failure-is-its-own"),
        pytest.param(facts(REFUSED), True, id="refused-is-not-done"),
        pytest.param(
            facts(OTHER_BAD, tools=frozenset({"book", "mail"})), True, id="the-tool-it-was-switched-to"
        ),
    ],
)
def test_outcome__what_is_recorded__decides(task: TaskFacts, failed: bool | None) -> None:
    became = what_became(task)

    assert (became and became.failed) == failed


@pytest.mark.parametrize(
    ("task", "guards"),
    [
        pytest.param(facts(OK), set(), id="quiet"),
        pytest.param(facts(BAD), {"tool_error"}, id="error"),
        pytest.param(facts(SILENT), {"tool_error"}, id="silent-error"),
        pytest.param(facts(OTHER_BAD), {"tool_error"}, id="error-of-another-tool"),
        pytest.param(facts(BAD, OK), {"tool_error", "retried"}, id="tried-again"),
        pytest.param(facts(BAD, OTHER, OK), {"tool_error", "retried"}, id="tried-again-later"),
        pytest.param(facts(BAD, OTHER), {"tool_error"}, id="another-tool-is-no-retry"),
        pytest.param(facts(OK, OK), set(), id="twice-is-no-retry"),
        pytest.param(facts(REFUSED), {"overridden"}, id="refused"),
        pytest.param(facts(MadeCall("mail", "cancelled", failed=True)), {"overridden"}, id="broken-off"),
        pytest.param(facts(OK, outcome="failure", contradicted=True), {"overridden"}, id="a-person-said-no"),
        pytest.param(facts(MadeCall("book", duration_ms=11.0), slow_ms=10.0), {"slow"}, id="slow"),
        pytest.param(facts(MadeCall("book", duration_ms=10.0), slow_ms=10.0), set(), id="just-in-time"),
        pytest.param(
            facts(MadeCall("mail", duration_ms=99.0), OK, slow_ms=10.0), set(), id="other-tool-slow"
        ),
    ],
)
def test_guardrails__calls_since_the_exposure__are_binary(task: TaskFacts, guards: set[str]) -> None:
    became = what_became(task)

    assert became is not None
    assert {
        name for name in ("tool_error", "slow", "retried", "overridden") if getattr(became, name)
    } == guards


@pytest.mark.parametrize(
    ("task", "slow"),
    [
        pytest.param(facts(MadeCall("book", duration_ms=1.0), slow_ms=10.0), False, id="timed"),
        pytest.param(facts(MadeCall("book", duration_ms=1.0)), None, id="no-limit"),
        pytest.param(facts(OK, slow_ms=10.0), None, id="nothing-was-timed"),
    ],
)
def test_slow__what_nobody_timed__is_not_known(task: TaskFacts, slow: bool | None) -> None:
    became = what_became(task)

    assert became is not None
    assert became.slow is slow


@pytest.mark.parametrize(
    ("durations", "limit"),
    [
        pytest.param([float(n) for n in range(1, 101)], 95.0, id="hundred"),
        pytest.param([float(n) for n in range(1, 21)], 19.0, id="just-enough"),
        pytest.param([1.0] * 19, None, id="too-few"),
    ],
)
def test_slow_limit__durations__is_their_95th_percentile(durations: list[float], limit: float | None) -> None:
    assert slow_limit(durations) == limit
