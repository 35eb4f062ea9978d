"""Rulings: asked for, in force, kept by every later change, ended."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from corrections.actions.arbitration import Said, end_ruling, rule_conflict
from corrections.actions.changes import approve_change, rebase_change
from corrections.actions.regressions import BrokenRuling
from corrections.actions.rules import activate_rule, disable_rule, edit_rule, retire_rule
from corrections.actions.rulings import end_expired_rulings
from corrections.background.scanning import scan_backlog
from corrections.domain.lifecycle import Refused
from corrections.live.rulesets import ruleset_for
from corrections.models import ChangeRequest, Conflict, Rule, RulesetStamp, Ruling
from memory.domain.access import NotPermitted
from memory.permissions import SYSTEM
from tests.conftest import Cast
from tests.corrections.builders import make_rule, weather_document
from tests.corrections.conflicts import found, make_pair

pytestmark = pytest.mark.django_db
CALL: dict[str, Any] = {"tool": "weather_api", "input": {"country": "CN"}}


def decided(cast: Cast) -> dict[str, Any]:
    live = ruleset_for(cast.workspace.pk)
    return live.ruleset.decide(CALL, now=timezone.now()).to_dict()


def ruled(cast: Cast, verdict: str, conflict: Conflict | None = None, **said: Any) -> Ruling:
    change = rule_conflict(
        conflict=conflict or found(cast.workspace), by=SYSTEM,
        said=Said(verdict=verdict, reason="people decided", **said),
    )  # fmt: skip
    assert change.status == "published"
    return Ruling.objects.get(change=change)


@pytest.mark.parametrize(
    ("verdict", "said", "city", "conflicts"),
    [
        pytest.param("a_wins", {}, "Shanghai", 0, id="a wins"),
        pytest.param("b_wins", {}, "Beijing", 0, id="b wins over the priority"),
        pytest.param("order", {"target": "a"}, "Shanghai", 0, id="both in order"),
        pytest.param("retire", {"target": "a"}, "Beijing", 0, id="a is retired"),
        pytest.param("narrow", {"target": "a", "condition": "input.country != 'CN'"}, "Beijing", 0,
                     id="a is narrowed"),
    ],
)  # fmt: skip
def test_ruling__in_force__agents_are_served_it(
    cast: Cast, verdict: str, said: dict[str, Any], city: str, conflicts: int
) -> None:
    make_pair(cast.workspace)
    assert len(decided(cast)["conflicts"]) == 1

    ruling = ruled(cast, verdict, **said)

    answer = decided(cast)
    assert (answer["input"]["city"], len(answer["conflicts"])) == (city, conflicts)
    assert ruling.status == "active"
    assert Conflict.objects.get(kind="contradictory").status in ("ruled", "gone")


def test_ruling__accepted_with_an_end__is_a_conflict_again_after_it(cast: Cast) -> None:
    make_pair(cast.workspace)
    now = timezone.now()
    ruled(cast, "accept", expires_at=now + timedelta(hours=1))
    assert decided(cast)["conflicts"] == []
    stamp = RulesetStamp.objects.get(workspace=cast.workspace).version

    assert end_expired_rulings(now=now + timedelta(hours=2), by=SYSTEM) == 1

    assert RulesetStamp.objects.get(workspace=cast.workspace).version == stamp + 1
    assert len(decided(cast)["conflicts"]) == 1
    assert Conflict.objects.get(kind="contradictory").status == "open"


def test_ruling__rebase__is_refused(cast: Cast) -> None:
    make_pair(cast.workspace)
    said = Said(verdict="b_wins", reason="x")
    change = rule_conflict(conflict=found(cast.workspace), said=said, by=cast.actor("reviewer"))

    with pytest.raises(Refused, match="no base"):
        rebase_change(change=change, revision=1, by=cast.actor("reviewer"))


@pytest.mark.parametrize("verdict", ["narrow", "merge"])
def test_ruling__an_edit_waits__is_not_carried_along_unseen(cast: Cast, verdict: str) -> None:
    a, _b = make_pair(cast.workspace)
    conflict = found(cast.workspace)
    edit_rule(
        rule=a,
        document=a.latest_version.body | {"priority": 900},
        base_version=1,
        by=cast.actor("maintainer"),
    )
    target = "a" if verdict == "narrow" else "b"
    said = Said(verdict=verdict, reason="x", target=target, condition="input.country != 'CN'")

    with pytest.raises(Refused, match="version 2 waits to be served"):
        rule_conflict(conflict=conflict, said=said, by=SYSTEM)

    a.refresh_from_db()
    assert (a.live_version.number, a.latest_version.number) == (1, 2)
    assert not Ruling.objects.exists()


def test_ruling__a_reviewer_asks__waits_for_another_persons_approval(cast: Cast) -> None:
    make_pair(cast.workspace)
    said = Said(verdict="b_wins", reason="the customers are there")

    change = rule_conflict(conflict=found(cast.workspace), said=said, by=cast.actor("reviewer"))

    assert change.status == "open"
    assert decided(cast)["input"]["city"] == "Shanghai"
    approve_change(change=change, revision=1, by=cast.actor("maintainer"))
    assert decided(cast)["input"]["city"] == "Beijing"


def test_ruling__merged__the_rule_that_stays_gets_the_condition_and_the_other_is_retired(cast: Cast) -> None:
    a, b = make_pair(cast.workspace)

    ruled(cast, "merge", target="b", condition="input.city == null || input.country == 'CN'")

    a.refresh_from_db()
    b.refresh_from_db()
    assert (a.live_version.number, b.status) == (2, "retired")  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        pytest.param({"verdict": "c_wins"}, "A ruling is one of", id="unknown verdict"),
        pytest.param({"verdict": "a_wins", "reason": " "}, "Say why", id="no reason"),
        pytest.param({"verdict": "a_wins", "reason": "x" * 3_000}, "at most", id="long reason"),
        pytest.param({"verdict": "accept"}, "say until when", id="accepted for ever"),
        pytest.param({"verdict": "narrow"}, "what the condition becomes", id="narrowed to nothing"),
        pytest.param({"verdict": "narrow", "condition": "input.country != null"}, "still matches the witness",
                     id="narrowed, but not enough"),
    ],
)  # fmt: skip
def test_ruling__one_that_cannot_be__is_refused_and_nothing_is_kept(
    cast: Cast, said: dict[str, Any], sentence: str
) -> None:
    make_pair(cast.workspace)
    conflict, asked = found(cast.workspace), {"reason": "because", **said}

    with pytest.raises(Refused, match=sentence):
        rule_conflict(conflict=conflict, said=Said(**asked), by=SYSTEM)

    assert not Ruling.objects.exists()
    assert not ChangeRequest.objects.filter(kind="ruling").exists()


def test_ruling__a_third_rule_stands_above_both__is_refused(cast: Cast) -> None:
    make_pair(cast.workspace)
    conflict = found(cast.workspace)
    make_rule(cast.workspace, name="Xi'an", priority=9, condition="input.country == 'CN'")

    with pytest.raises(Refused, match="another rule stands above it"):
        rule_conflict(conflict=conflict, said=Said("b_wins", "because"), by=SYSTEM)


def test_ruling__by_somebody_who_may_not__is_refused(cast: Cast) -> None:
    make_pair(cast.workspace)
    conflict = found(cast.workspace)

    for who in (cast.actor("viewer"),):
        with pytest.raises(NotPermitted):
            rule_conflict(conflict=conflict, said=Said("a_wins", "because"), by=who)


def _edit_away(rule: Rule) -> None:
    edit_rule(
        rule=rule, base_version=1, by=SYSTEM,
        document=weather_document(name=rule.name, condition="input.country == 'FR'"),
    )  # fmt: skip
    rule.refresh_from_db()
    activate_rule(rule=rule, by=SYSTEM)


def test_change__undoes_a_ruling__is_refused_with_that_ruling(cast: Cast) -> None:
    _, b = make_pair(cast.workspace)
    ruling = ruled(cast, "b_wins")

    with pytest.raises(BrokenRuling) as refusal:
        _edit_away(b)

    assert refusal.value.ruling == ruling
    assert "Beijing did not match where it was applied." in refusal.value.lines
    assert decided(cast)["input"]["city"] == "Beijing"


def test_change__a_new_rule_would_take_the_field__is_refused(cast: Cast) -> None:
    make_pair(cast.workspace)
    ruled(cast, "b_wins")
    draft = make_rule(
        cast.workspace, active=False, name="Xi'an", priority=9, condition="input.country == 'CN'"
    )

    with pytest.raises(BrokenRuling):
        activate_rule(rule=draft, by=SYSTEM)


def test_change__of_another_tool_or_that_keeps_the_ruling__is_let_through(cast: Cast) -> None:
    a, _ = make_pair(cast.workspace)
    ruled(cast, "b_wins")

    make_rule(cast.workspace, applies_to="TOOL_CALL:other", condition="input.country == 'CN'")
    edit_rule(rule=a, base_version=1, by=SYSTEM, document=weather_document(name="Shanghai", priority=3))
    a.refresh_from_db()
    activate_rule(rule=a, by=SYSTEM)

    assert decided(cast)["input"]["city"] == "Beijing"


def test_change__a_rule_of_the_ruling_is_disabled_and_comes_back__the_ruling_waits_and_holds_again(
    cast: Cast,
) -> None:
    a, b = make_pair(cast.workspace)
    ruled(cast, "b_wins")

    disable_rule(rule=b, by=SYSTEM)
    assert decided(cast)["input"]["city"] == "Shanghai"
    b.refresh_from_db()
    activate_rule(rule=b, by=SYSTEM)
    assert decided(cast)["input"]["city"] == "Beijing"

    retire_rule(rule=a, by=SYSTEM)
    b.refresh_from_db()
    _edit_away(b)  # nothing is left to decide between


def test_ruling__ended__lets_the_change_through_and_opens_the_conflict_again(cast: Cast) -> None:
    _, b = make_pair(cast.workspace)
    ruling = ruled(cast, "b_wins")

    change = end_ruling(ruling=ruling, reason="the office moved", by=SYSTEM)

    assert change.status == "published"
    assert Conflict.objects.get(kind="contradictory").status == "open"
    assert decided(cast)["input"]["city"] == "Shanghai"
    _edit_away(b)
    with pytest.raises(Refused, match="nothing to end"):
        end_ruling(ruling=ruling, reason="again", by=SYSTEM)


def test_ruling__the_opposite_is_decided__replaces_the_first(cast: Cast) -> None:
    make_pair(cast.workspace)
    conflict, by = found(cast.workspace), cast.actor("reviewer")
    first, second = (
        rule_conflict(conflict=conflict, said=Said(verdict, "because"), by=by)
        for verdict in ("a_wins", "b_wins")
    )

    for change in (first, second):
        approve_change(change=change, revision=1, by=cast.actor("maintainer"))

    assert decided(cast)["input"]["city"] == "Beijing"
    assert list(Ruling.objects.order_by("pk").values_list("status", flat=True)) == ["ended", "active"]


def test_ruling__found_again_after_an_edit__the_conflict_is_ruled_already(cast: Cast) -> None:
    a, _ = make_pair(cast.workspace)
    ruled(cast, "a_wins")
    document = weather_document(name="Shanghai", priority=3, description="why not")

    edit_rule(rule=a, base_version=1, by=SYSTEM, document=document)
    a.refresh_from_db()
    activate_rule(rule=a, by=SYSTEM)
    scan_backlog(60.0)

    rows = Conflict.objects.filter(kind="contradictory").order_by("pk")
    assert [row.status for row in rows] == ["gone", "ruled"]


def test_ruling__a_huge_witness__is_kept_and_checked(cast: Cast) -> None:
    make_pair(cast.workspace)
    conflict = found(cast.workspace)
    conflict.witness["input"]["notes"] = ["x" * 1_000] * 300  # type: ignore[index]
    conflict.save()

    ruling = ruled(cast, "b_wins", conflict)

    assert set(ruling.expectation["roles"].values()) == {"applied", "gave_way"}
