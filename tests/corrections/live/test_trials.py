"""Which versions a process serves while rules are on trial, and when it learns of it."""

from typing import Any

import pytest

from corrections.actions.publishing import stamp_ruleset
from corrections.actions.rules import disable_rule, edit_rule
from corrections.live.rulesets import LiveRulesets
from corrections.models import Canary, Rule
from hgmem.rules import Rule as EngineRule
from memory.permissions import SYSTEM
from tests.conftest import Cast
from tests.corrections.builders import make_canary, make_rule, weather_document


@pytest.fixture
def live(monkeypatch: pytest.MonkeyPatch) -> LiveRulesets:
    """As in a server: the poller is taken for running, and its turn is ours to call."""
    rulesets = LiveRulesets()
    monkeypatch.setattr(type(rulesets.poller), "running", property(lambda _: True))
    return rulesets


def served(live: LiveRulesets, cast: Cast) -> dict[int, str]:
    """Version to the mode of its trial, empty without one."""
    live.refresh()
    rules = live.get(cast.workspace.pk).ruleset.rules
    return {rule.version: rule.trial.mode if rule.trial else "" for rule in rules}


def edited(cast: Cast) -> Rule:
    """An active rule with a second version that is not served."""
    document = weather_document(description="Another word.")
    return edit_rule(rule=make_rule(cast.workspace), document=document, base_version=1, by=SYSTEM)


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        pytest.param("waiting", {}, id="waiting"),
        pytest.param("running", {1: "canary"}, id="running"),
        pytest.param("held", {1: "canary"}, id="held"),
        pytest.param("paused", {}, id="paused"),
        pytest.param("holdout", {1: "holdout"}, id="promoted"),
        pytest.param("shadow", {1: "shadow"}, id="shadow"),
        pytest.param("ended", {}, id="over"),
    ],
)
def test_new_rule__on_trial__is_served_by_the_state_of_its_canary(
    cast: Cast, live: LiveRulesets, state: str, expected: dict[int, str]
) -> None:
    make_canary(make_rule(cast.workspace, active=False), state=state)
    assert served(live, cast) == expected


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        pytest.param("waiting", {1: ""}, id="waiting"),
        pytest.param("running", {1: "", 2: "canary"}, id="running"),
        pytest.param("paused", {1: ""}, id="paused"),
        pytest.param("shadow", {1: "", 2: "shadow"}, id="shadow"),
        pytest.param("holdout", {1: "", 2: "holdout"}, id="promoted"),
        pytest.param("rolled_back", {1: ""}, id="rolled back"),
    ],
)
def test_edit__on_trial__is_served_beside_what_it_would_replace(
    cast: Cast, live: LiveRulesets, state: str, expected: dict[int, str]
) -> None:
    rule = edited(cast)
    canary = make_canary(rule, state=state)
    assert canary.baseline == rule.versions.get(number=1)
    assert served(live, cast) == expected


def test_disabled_rule__whose_canary_says_running__is_not_served(cast: Cast, live: LiveRulesets) -> None:
    rule = make_rule(cast.workspace)
    make_canary(edited(cast), state="running")
    disable_rule(rule=Rule.objects.exclude(pk=rule.pk).get(), by=SYSTEM)
    assert served(live, cast) == {1: ""}


def test_disabled_rule__in_shadow__is_watched(cast: Cast, live: LiveRulesets) -> None:
    rule = make_rule(cast.workspace)
    disable_rule(rule=rule, by=SYSTEM)
    rule.refresh_from_db()
    make_canary(rule, state="shadow")
    assert served(live, cast) == {1: "shadow"}


def test_trial__of_another_workspace__is_not_served_here(cast: Cast, live: LiveRulesets) -> None:
    make_canary(make_rule(cast.elsewhere, active=False))
    assert served(live, cast) == {}


def engine_rule(live: LiveRulesets, cast: Cast) -> EngineRule:
    live.refresh()
    return live.get(cast.workspace.pk).ruleset.rules[0].rule


def test_canary__changed_and_over__is_told_to_the_engine_with_the_next_stamp(
    cast: Cast, live: LiveRulesets
) -> None:
    canary = make_canary(
        make_rule(cast.workspace, active=False), share=1_000, kept=["00112233445566ff"], stage=2
    )
    first = engine_rule(live, cast)
    assert first.trial is not None
    assert (first.trial.canary, first.trial.salt, first.trial.share) == (canary.uuid, "salt", 1_000)
    assert (first.trial.stage, first.trial.kept) == (2, ("00112233445566ff",))

    stamp_ruleset(cast.workspace.pk)
    assert engine_rule(live, cast) is first, "what did not change must not be compiled again"

    Canary.objects.update(share=5_000)
    stamp_ruleset(cast.workspace.pk)
    assert (trial := engine_rule(live, cast).trial) is not None
    assert trial.share == 5_000

    Canary.objects.update(state="ended")
    Rule.objects.update(status="active")
    stamp_ruleset(cast.workspace.pk)
    assert engine_rule(live, cast).trial is None


@pytest.mark.parametrize("count", [1, 12])
def test_load__many_canaries__costs_the_same_queries(
    cast: Cast, live: LiveRulesets, count: int, django_assert_num_queries: Any
) -> None:
    for number in range(count):
        make_canary(make_rule(cast.workspace, active=False, name=f"Rule {number}"))
    with django_assert_num_queries(7):
        assert len(live.get(cast.workspace.pk).ruleset.rules) == count
