"""Composed arguments: mended word by word, as fixes of such failures did it; never taken from the goal."""

import pytest

from memory.domain.paths.document import PathDoc
from memory.domain.rewriting.align import FailurePoint, RewriteMemory, proposals, propose
from memory.domain.rewriting.align_edits import Repair
from memory.domain.rewriting.align_wording import rewordings
from memory.domain.rewriting.proposal import apply
from tests.memory.domain.rewriting.test_align import path, repair


def no_table(name: str) -> str:
    return f"Table 'arena.{name}' doesn't exist"


def fixed(before: str, after: str, message: str = no_table("stadiums"), goal: str = "Count them") -> Repair:
    """A repair in which one query became another after a look at the tables."""
    look = ("ask", {"cmd": "SHOW TABLES"})
    return repair(goal, [("ask", {"cmd": before})], 0, message, [look, ("ask", {"cmd": after})])


PLURALS = (
    fixed("SELECT count(*) FROM stadiums", "SELECT count(*) FROM stadium"),
    fixed("SELECT city FROM stadiums WHERE id = 3", "SELECT city FROM stadium WHERE id = 3"),
)
QUERY = "SELECT name FROM stadiums WHERE land = 'Korea'"


def failed(query: str = QUERY, goal: str = "Which stadiums are in Korea?") -> PathDoc:
    return path(goal, ("ask", {"cmd": query}), result="failure")


def test_propose__the_blamed_word_was_mended_elsewhere__is_mended_here() -> None:
    old, failure = failed(), FailurePoint(node="0", message=no_table("stadiums"))

    rewrite = propose(old, failure, RewriteMemory(repairs=PLURALS))

    assert rewrite is not None
    assert [node.params for node in apply(old, rewrite).nodes] == [
        {"cmd": "SELECT name FROM stadium WHERE land = 'Korea'"}
    ]
    assert "“stadium” instead of “stadiums”" in rewrite.reason
    assert "In 2 other paths" in rewrite.reason


@pytest.mark.parametrize(
    "message",
    [
        pytest.param(no_table("players"), id="another word is to blame"),
        pytest.param("Deadlock found", id="another kind of failure"),
    ],
)
def test_proposals__nothing_is_known_of_the_word__no_composed_argument_is_replaced(message: str) -> None:
    old = failed()
    good = tuple(
        path(f"Say {word}", ("ask", {"cmd": word})) for word in ("Peru", "Chad")
    )  # what the goal says is what the tool was asked

    found = proposals(
        old, FailurePoint(node="0", message=message), RewriteMemory(successes=good, repairs=PLURALS)
    )

    changed = [apply(old, one.rewrite).nodes[-1].params["cmd"] for one in found]
    assert changed == [QUERY] * len(changed)


def test_proposals__the_same_goal_only_looked_around__is_not_put_in_the_query_s_place() -> None:
    old = failed()
    good = path(old.goal, ("ask", {"cmd": "SHOW TABLES"}))

    found = proposals(
        old, FailurePoint(node="0", message=no_table("stadiums")), RewriteMemory(successes=(good,))
    )

    assert found == []


def test_proposals__the_same_goal_went_well__its_query_comes_first() -> None:
    old = failed()
    query = "SELECT s.name FROM stadium AS s WHERE s.land = 'Korea'"
    good = path(old.goal, ("ask", {"cmd": "SHOW TABLES"}), ("ask", {"cmd": query}))
    memory = RewriteMemory(successes=(good,), repairs=PLURALS)

    best = proposals(old, FailurePoint(node="0", message=no_table("stadiums")), memory)[0]

    assert [node.params["cmd"] for node in apply(old, best.rewrite).nodes] == ["SHOW TABLES", query]


def test_rewordings__more_fixes__are_surer() -> None:
    node, failure = failed().nodes[0], FailurePoint(node="0", message=no_table("stadiums"))

    one, two = (rewordings(node, failure, PLURALS[:count])[0].confidence for count in (1, 2))

    assert 0.0 < one < two < 1.0


@pytest.mark.parametrize(
    "repairs",
    [
        pytest.param([fixed("SELECT a FROM stadiums", "SELECT a FROM stadiums LIMIT 1")], id="word kept"),
        pytest.param([fixed("SELECT a FROM stadiums", "SELECT b FROM x JOIN y ON x.a = y.b")], id="rebuilt"),
        pytest.param(
            [fixed("SELECT a FROM stadiums", "SELECT a FROM gyms"), *[fixed(QUERY, QUERY + " LIMIT 1")] * 2],
            id="mostly kept",
        ),
        pytest.param([], id="no fixes"),
    ],
)
def test_rewordings__no_fix_shows_another_word__none(repairs: list[Repair]) -> None:
    failure = FailurePoint(node="0", message=no_table("stadiums"))

    assert rewordings(failed().nodes[0], failure, repairs) == []
