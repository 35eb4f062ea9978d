"""Rules in memory: loaded once, swapped whole, kept when the database is away."""

from typing import Any

import pytest
from django.db import OperationalError

from corrections.actions.rules import activate_rule, disable_rule, edit_rule
from corrections.live import rulesets
from corrections.live.rulesets import LiveRulesets
from corrections.models import RuleVersion
from memory.permissions import SYSTEM
from tests.conftest import Cast
from tests.corrections.builders import make_rule, weather_document


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> LiveRulesets:
    """As in a server: the poller is taken for running, and its turn is ours to call."""
    live = LiveRulesets()
    monkeypatch.setattr(type(live.poller), "running", property(lambda _: True))
    return live


def names(live: LiveRulesets, cast: Cast) -> list[str]:
    return [rule.name for rule in live.get(cast.workspace.pk).ruleset.rules]


def test_get__asked_again__asks_no_database(
    cast: Cast, served: LiveRulesets, django_assert_num_queries: Any
) -> None:
    make_rule(cast.workspace)
    served.get(cast.workspace.pk)
    with django_assert_num_queries(0):
        assert names(served, cast) == ["Default city"]


def test_refresh__nothing_changed__costs_one_query_for_all(
    cast: Cast, served: LiveRulesets, django_assert_num_queries: Any
) -> None:
    make_rule(cast.workspace)
    make_rule(cast.elsewhere)
    before = [served.get(workspace.pk) for workspace in (cast.workspace, cast.elsewhere)]
    with django_assert_num_queries(1):
        served.refresh()
    assert [served.get(workspace.pk) for workspace in (cast.workspace, cast.elsewhere)] == before


def test_refresh__rules_changed__swaps_the_set_of_that_workspace(cast: Cast, served: LiveRulesets) -> None:
    rule = make_rule(cast.workspace)
    make_rule(cast.elsewhere)
    theirs, old = served.get(cast.elsewhere.pk), served.get(cast.workspace.pk)
    make_rule(cast.workspace, name="Second")
    served.refresh()
    assert names(served, cast) == ["Default city", "Second"]
    disable_rule(rule=rule, by=SYSTEM)
    served.refresh()
    assert names(served, cast) == ["Second"]
    assert [rule.name for rule in old.ruleset.rules] == ["Default city"]
    assert served.get(cast.elsewhere.pk) is theirs


def test_refresh__one_of_many_changed__reads_only_its_body(cast: Cast, served: LiveRulesets) -> None:
    rules = [make_rule(cast.workspace, name=f"r{number}") for number in range(5)]
    before = served.get(cast.workspace.pk)
    rule = edit_rule(rule=rules[2], document=weather_document(name="new"), base_version=1, by=SYSTEM)
    activate_rule(rule=rule, by=SYSTEM)
    served.refresh()
    after = served.get(cast.workspace.pk)
    assert sorted(after.parsed.keys() - before.parsed.keys()) == [rule.latest_version_id]
    kept = after.parsed.keys() & before.parsed.keys()
    assert all(after.parsed[key] is before.parsed[key] for key in kept)
    assert sorted(names(served, cast)) == ["new", "r0", "r1", "r3", "r4"]


def test_refresh__database_away__goes_on_with_the_last_good_set(
    cast: Cast, served: LiveRulesets, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_rule(cast.workspace)
    served.get(cast.workspace.pk)

    def away() -> dict[int, int]:
        raise OperationalError("the database is away")

    with monkeypatch.context() as patch:
        patch.setattr(rulesets, "close_old_connections", lambda: None)  # it is the test's own
        patch.setattr(rulesets, "read_stamps", away)
        served.poller._turn()
        assert served.poller.failing
        assert names(served, cast) == ["Default city"]
    make_rule(cast.workspace, name="Second")
    served.refresh()
    assert names(served, cast) == ["Default city", "Second"]


def test_load__stored_body_no_longer_valid__leaves_that_rule_out(
    cast: Cast, served: LiveRulesets, caplog: pytest.LogCaptureFixture
) -> None:
    rule = make_rule(cast.workspace, name="old")
    make_rule(cast.workspace, name="good")
    RuleVersion.objects.filter(rule=rule).update(body={"condition": "from another age"})
    assert names(served, cast) == ["good"]
    assert str(rule.uuid) in caplog.text


def test_load__stamp_moves_while_reading__reads_again(
    cast: Cast, served: LiveRulesets, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_rule(cast.workspace)
    real, calls = rulesets.list_served, []

    def and_then_somebody_publishes(workspace_id: int) -> Any:
        rows = real(workspace_id)
        if not calls:
            make_rule(cast.workspace, name="Second")
        calls.append(workspace_id)
        return rows

    monkeypatch.setattr(rulesets, "list_served", and_then_somebody_publishes)
    entry = served.get(cast.workspace.pk)
    assert (entry.version, len(entry.ruleset.rules)) == ("2", 2)


def test_load__changes_never_end__the_next_turn_reads_again(
    cast: Cast, served: LiveRulesets, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_rule(cast.workspace)
    real = rulesets.list_served

    def and_then_somebody_publishes(workspace_id: int) -> Any:
        rows = real(workspace_id)
        make_rule(cast.workspace, name="One more")
        return rows

    with monkeypatch.context() as patch:
        patch.setattr(rulesets, "list_served", and_then_somebody_publishes)
        served.get(cast.workspace.pk)
    served.refresh()

    assert len(names(served, cast)) == 1 + rulesets.READ_TRIES
