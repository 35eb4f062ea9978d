"""Words inside a text: which were replaced, which repair is trusted, what is refused."""

from datetime import UTC, datetime
from typing import Any

import pytest

from corrections.domain.inducing import Proposal
from corrections.domain.inducing.repairs import Swap, best_fix, swaps_between
from hgmem.rules import Rule, Ruleset
from tests.corrections.domain.inducing.teaching import Step, teach

SWAPS = [
    pytest.param("list all cities now", "list all City now", [("cities", "City")], id="one-word"),
    pytest.param("id of o.id", "key of o.key", [("id", "key"), ("o.id", "o.key")], id="word-and-dotted-name"),
    pytest.param("from a.x b", "from c.y b", [("a.x", "c.y"), ("a", "c"), ("x", "y")], id="both-parts"),
    pytest.param("say 'old thing' now", "say 'new thing' now", [], id="quoted-text-is-no-word"),
    pytest.param("take Size of it", "take size of it", [], id="only-the-case"),
    pytest.param("take the 5 of it", "take the 6 of it", [], id="number"),
    pytest.param("take name of t", "take z.name of t", [], id="owner-that-is-not-in-the-text"),
    pytest.param("take name of t now", "take t.name of t now", [("name", "t.name")], id="owner-in-the-text"),
    pytest.param("打开 shelfs 的门", "打开 shelf 的门", [("shelfs", "shelf")], id="chinese-around-it"),
    pytest.param("take the red one", "take it", [], id="another-length"),
]


@pytest.mark.parametrize(("failed", "fixed", "swaps"), SWAPS)
def test_swaps_between__texts__are_the_words_in_the_same_place(
    failed: str, fixed: str, swaps: list[tuple[str, str]]
) -> None:
    found = swaps_between({"text": failed, "n": 1}, {"text": fixed, "n": 1})

    assert set(found) == {Swap(("text",), old, new) for old, new in swaps}


def test_best_fix__several_later_calls__is_the_one_most_like_it() -> None:
    look, fixed = {"text": "show all shelves"}, {"text": "take box from shelf north"}

    assert best_fix({"text": "take box from shelfs north"}, [look, fixed]) == fixed
    assert best_fix({"n": "5"}, [{"n": 5}, {"n": 6}]) == {"n": 5}
    assert best_fix({"n": "5"}, []) is None


def repaired(failed: str, fixed: str, error: str) -> list[Step]:
    """A run that looks around between its mistake and the repair."""
    return [({"text": failed}, error), ({"text": "show me all shelves"}, ""), ({"text": fixed}, "")]


def decide(proposals: list[Proposal], text: str, site: str = "depot") -> Any:
    rules = [Rule.from_document(proposal.document() | {"uuid": proposal.key}) for proposal in proposals]
    context = {"tool": "act", "input": {"text": text}, "env": {"site": site}}
    return Ruleset.compile(rules, version="1").decide(context, now=datetime(2026, 1, 1, tzinfo=UTC))


NORTHS = repaired("take box from norths", "take box from north", "no shelf 'norths'")
EASTS = repaired("put lamp into easts", "put lamp into east", "no shelf 'easts'")


def test_repair__nearly_the_same_name__is_trusted_after_one_run_and_used_elsewhere() -> None:
    decision = decide(teach([NORTHS]).proposals(), "count pens of Norths please")

    assert decision.input == {"text": "count pens of north please"}
    assert not decision.ask


def test_repair__two_words_of_two_rules__are_both_replaced() -> None:
    decision = decide(teach([NORTHS, EASTS]).proposals(), "move all from norths to easts")

    assert decision.input == {"text": "move all from north to east"}


def test_repair__another_wrong_word_is_left__asks_about_it() -> None:
    unfixed: list[Step] = [({"text": "go to the westish wall"}, "no shelf 'westish'")]

    decision = decide(teach([NORTHS, unfixed]).proposals(), "move from norths to westish")

    assert decision.input == {"text": "move from north to westish"}
    assert "westish" in decision.ask[0]["message"]


@pytest.mark.parametrize(("runs", "text"), [(1, "see the attic now"), (2, "see the upper floor now")])
def test_repair__quite_another_name__needs_a_second_run(runs: int, text: str) -> None:
    run = repaired("go up to the attic", "go up to the upper", "no shelf 'attic'")
    other = repaired("go down from the attic", "go down from the upper", "no shelf 'attic'")

    decision = decide(teach([run, other][:runs]).proposals(), "see the attic floor now")

    assert decision.input["text"] == ("see the attic floor now" if runs == 1 else text)


def test_repair__runs_that_replaced_otherwise__are_told_apart_or_asked_about() -> None:
    lamps = [
        repaired(f"take lamp {n} from norths", f"take lamp {n} from north", "no shelf 'norths'") for n in "ab"
    ]
    pens = [
        repaired(f"take pen {n} from norths", f"take pen {n} from northern", "no shelf 'norths'")
        for n in "cd"
    ]
    proposals = teach([*lamps, *pens]).proposals()

    assert decide(proposals, "hold lamp x of norths").input["text"] == "hold lamp x of north"
    assert decide(proposals, "hold pen x of norths").input["text"] == "hold pen x of northern"
    assert decide(proposals, "hold it at norths now").ask


def test_repair__another_place__is_left_alone() -> None:
    decision = decide(teach([NORTHS]).proposals(), "count pens of norths please", site="harbour")

    assert decision.input == {"text": "count pens of norths please"}


def test_repair__very_same_text_again__is_replaced_as_a_whole() -> None:
    run = repaired("take box from the far end", "take box from the south end", "there is nothing")

    decision = decide(teach([run]).proposals(), "take box from the far end")

    assert decision.input == {"text": "take box from the south end"}


@pytest.mark.parametrize(
    "later",
    [
        pytest.param([({"text": "take box from the far end"}, "")], id="it-works-now"),
        pytest.param([({"text": "take box from the south end"}, "there is nothing")], id="the-repair-failed"),
    ],
)
def test_repair__contradicted_later__is_dropped(later: list[Step]) -> None:
    run = repaired("take box from the far end", "take box from the south end", "there is nothing")

    decision = decide(teach([run, later]).proposals(), "take box from the far end")

    assert decision.input == {"text": "take box from the far end"}


def test_repair__word_that_good_calls_use__is_not_replaced_there() -> None:
    used: list[list[Step]] = [[({"text": f"count pens of norths aisle {n}"}, "")] for n in range(3)]

    decision = decide(teach([NORTHS, *used]).proposals(), "count pens of norths aisle 9")

    assert decision.input == {"text": "count pens of norths aisle 9"}
