"""Rules that propose themselves from failures and leave the good calls alone."""

from typing import Any

import pytest

from corrections.domain.inducing import Inducer, ObservedCall
from hgmem.rules import Rule

from .teaching import Step, flags, good, holds, teach

NO_NORTH = "No shelf 'north' here"
SHELVES = good({"text": "go south"}, {"text": "look west"}, {"text": "open the east gate"})

CASES = [
    pytest.param(
        [[({"text": "go north"}, NO_NORTH)]], SHELVES, [{"text": "Look NORTH please"}],
        [{"text": "go northwards"}, {"text": "go south"}], id="word-of-a-text",
    ),
    pytest.param(
        [[({"text": "请打开北京仓库的大门"}, "找不到「北京仓库」")]], good({"text": "请打开上海仓库的大门"}),
        [{"text": "再看看北京仓库吧"}], [{"text": "请打开上海仓库的大门"}], id="chinese-name-in-a-text",
    ),
    pytest.param(
        [[({"order": "A1", "kind": "gift_card_12"}, "gift card is empty")]],
        good({"order": "B1", "kind": "credit_9"}, {"order": "B2", "kind": "credit_8"}),
        [{"order": "C1", "kind": "gift_card_77"}], [{"order": "A1", "kind": "credit_9"}], id="stem-of-a-code",
    ),
    pytest.param(
        [[({"crates": [{"code": "C7", "day": "2024-05-01"}]}, "crate C7 is locked on 2024-05-01")]],
        good({"crates": [{"code": "C7", "day": "2024-05-02"}]}),
        [{"crates": [{"code": "C1", "day": "2024-06-01"}, {"code": "C7", "day": "2024-05-01"}]}],
        [{"crates": [{"code": "C7", "day": "2024-05-02"}]}, {"crates": []}], id="two-values-of-one-element",
    ),
    pytest.param(
        [[({"pay": [{"sum": 3}, {"sum": 4.5}]}, "price is 9, but paid 7.5")]], good({"pay": [{"sum": 9}]}),
        [{"pay": [{"sum": 7.5}]}, {"pay": [{"sum": 2.5}, {"sum": 2.5}, {"sum": 2.5}]}],
        [{"pay": [{"sum": 9}]}, {"pay": [{"sum": 3}]}], id="total-of-a-list",
    ),
    pytest.param(
        [[({"city": None, "n": 1}, "city is required")]],
        good({"city": "Rome", "n": 1}, {"city": "Bonn", "n": 2}),
        [{"city": None, "n": 5}], [{"city": "Rome", "n": 5}], id="null",
    ),
    pytest.param(
        [[({"city": "  ", "n": 1}, "field 'city' must not be empty")]], good({"city": "Rome", "n": 1}),
        [{"city": "", "n": 5}], [{"city": "Oslo", "n": 5}], id="blank",
    ),
    pytest.param(
        [[({"n": 1}, "missing required argument 'city'")]],
        good({"city": "Rome", "n": 1}, {"city": "Bonn", "n": 2}),
        [{"n": 5}], [{"city": "Oslo", "n": 5}], id="missing",
    ),
    pytest.param(
        [[({"n": 1, "colour": "red"}, "unexpected argument 'colour'")]], good({"n": 1}, {"n": 2}),
        [{"n": 3, "colour": "red"}], [{"n": 3}], id="field-too-many",
    ),
    pytest.param(
        [[({"mode": "turbo", "n": 1}, "it could not be done")]],
        good(*({"mode": mode, "n": n} for n in range(15) for mode in ("slow", "fast"))),
        [{"mode": "turbo", "n": 40}], [{"mode": "fast", "n": 1}], id="value-new-to-a-closed-vocabulary",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("failing", "fine", "caught", "left_alone"), CASES)
def test_inducer__error_that_blames_something__proposes_a_general_rule(
    failing: list[list[Step]], fine: list[list[Step]], caught: list[Any], left_alone: list[Any]
) -> None:
    inducer = teach([*fine, *failing])

    (proposal,) = inducer.proposals()

    assert [holds(proposal.condition, call_input) for call_input in caught] == [True] * len(caught)
    assert [holds(proposal.condition, call_input) for call_input in left_alone] == [False] * len(left_alone)
    assert not holds(proposal.condition, caught[0], site="elsewhere")
    assert proposal.backtest.caught == (f"act-{len(fine)}-0",)
    assert (proposal.backtest.failures, proposal.backtest.hit) == (1, ())
    assert proposal.backtest.good == len(fine)


def test_inducer__good_calls_with_the_blamed_word__are_told_apart() -> None:
    fine = good({"text": "paint the north wall"}, {"text": "clean the north wall"})
    gates = ({"text": "open the north gate"}, {"text": "shut the north gate"})
    inducer = teach([*fine, *([(gate, NO_NORTH)] for gate in gates)])

    assert flags(inducer, {"text": "find the north gate"})
    assert not any(flags(inducer, step[0][0]) for step in fine)


def test_inducer__call_that_cannot_be_told_from_a_good_one__is_refused() -> None:
    same = {"text": "go north"}

    assert teach([*good(same), [(same, NO_NORTH)]]).proposals() == []


def test_inducer__rule_that_hits_a_good_call__is_withdrawn_at_once() -> None:
    inducer = teach([[({"text": "open the north gate"}, NO_NORTH)]])
    (before,) = inducer.changes().proposed

    teach([[({"text": "paint the north wall"}, "")]], tool="act", inducer=inducer)
    changes = inducer.changes()

    assert changes.withdrawn == (before.key,)
    assert not flags(inducer, {"text": "paint the north wall"})
    assert flags(inducer, {"text": "open the north gate"})


def test_inducer__same_mistake_again__gains_evidence_and_stays_one_proposal() -> None:
    inducer = teach([[({"text": "go north"}, NO_NORTH)]])
    (first,) = inducer.changes().proposed

    inducer.learn(
        ObservedCall("b-0", "b", "act", {"text": "run north"}, True, NO_NORTH, env={"site": "depot"})
    )
    changes = inducer.changes()

    assert (changes.proposed, changes.withdrawn) == ((), ())
    assert [(new.key, new.backtest.caught, new.runs) for new in changes.updated] == [
        (first.key, ("act-0-0", "b-0"), 2)
    ]
    assert inducer.changes().updated == ()


def test_inducer__new_mistake__waits_for_the_end_of_its_run() -> None:
    inducer = Inducer()
    inducer.learn(ObservedCall("a-0", "a", "act", {"text": "go north"}, True, NO_NORTH))

    assert inducer.proposals() == []
    inducer.end_run("a")
    assert len(inducer.proposals()) == 1


def test_inducer__same_words_for_several_values__become_one_list() -> None:
    runs: list[list[Step]] = [[({"gate": gate, "n": 1}, "this gate is shut")] for gate in ("g7", "g8")]
    busy = good(*({"gate": gate, "n": 1} for gate in ("a", "b") for _ in range(15)))

    (proposal,) = teach([*busy, *runs]).proposals()

    assert 'input.gate in ["g7", "g8"]' in proposal.condition
    assert proposal.backtest.caught == ("act-30-0", "act-31-0")


def test_inducer__fixed_with_its_own_value__proposes_the_edit_for_every_value() -> None:
    runs: list[list[Step]] = [
        [({"day": day, "n": "5"}, "parameter 'n' must be a number"), ({"day": day, "n": 5}, "")]
        for day in ("mon", "tue")
    ]

    (proposal,) = teach(runs).proposals()

    assert proposal.action_type == "PARAMETER_TRANSFORM"
    assert proposal.action_detail == {"operations": [{"op": "cast", "field": "n", "to": "integer"}]}
    assert holds(proposal.condition, {"day": "sun", "n": "77"})
    assert not holds(proposal.condition, {"day": "sun", "n": 77})


@pytest.mark.parametrize(("runs", "action"), [(1, "PRE_CALL_VALIDATION"), (2, "PARAMETER_TRANSFORM")])
def test_inducer__fixed_with_a_literal__needs_a_second_run(runs: int, action: str) -> None:
    run: list[Step] = [
        ({"unit": "furlong", "x": 1}, "unknown unit 'furlong'"),
        ({"unit": "metre", "x": 1}, ""),
    ]

    (proposal,) = teach([run] * runs).proposals()

    assert proposal.action_type == action


def test_inducer__runs_that_were_fixed_in_other_ways__are_not_edited() -> None:
    cast: list[Step] = [({"n": "5"}, "parameter 'n' is wrong"), ({"n": 5}, "")]
    other: list[Step] = [({"n": "x y z"}, "parameter 'n' is wrong"), ({"n": 7, "m": 1, "k": 2}, "")]

    proposals = teach([cast, other, other]).proposals()

    assert {proposal.action_type for proposal in proposals} == {"PRE_CALL_VALIDATION"}


def test_inducer__unfixed_error__stops_with_the_errors_own_words() -> None:
    (proposal,) = teach([[({"text": "go north"}, "No shelf 'north' {{here}}")]]).proposals()

    assert proposal.action_detail["on_failure"] == "ask"
    assert "No shelf 'north' { {here}}" in proposal.action_detail["message"]
    assert Rule.from_document(proposal.document() | {"uuid": proposal.key}).point == "before"


def test_inducer__same_calls__give_the_same_proposals() -> None:
    runs: list[list[Step]] = [*SHELVES, [({"text": "go north"}, NO_NORTH)], [({"text": "north wall"}, "")]]

    assert teach(runs).proposals() == teach(runs).proposals()
