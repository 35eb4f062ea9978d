"""Repairs without a model: which step is added, where, and with which arguments."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.paths.document import EdgeDoc, NodeDoc, PathDoc
from memory.domain.rewriting.align import (
    FailurePoint,
    Repair,
    RewriteMemory,
    align,
    proposals,
    propose,
)
from memory.domain.rewriting.proposal import apply

Step = tuple[str, dict[str, Any]] | tuple[str, dict[str, Any], Any]


def path(goal: str, *steps: Step, result: str = "success") -> PathDoc:
    nodes = tuple(
        NodeDoc(name=f"{at}", tool=step[0], params=step[1], observation=step[2] if len(step) > 2 else None)
        for at, step in enumerate(steps)
    )
    return PathDoc(goal=goal, nodes=nodes, result="success" if result == "success" else "failure")


def repair(goal: str, failed: list[Step], at: int, message: str, fixed: list[Step]) -> Repair:
    return Repair(
        failed=path(goal, *failed, result="failure"),
        failure=FailurePoint(node=str(at), message=message),
        fixed=path(goal, *fixed),
    )


def added(
    old: PathDoc, failure: FailurePoint, memory: RewriteMemory
) -> list[tuple[int, str, dict[str, Any]]]:
    """Place, tool and arguments of every step that the best proposal adds."""
    rewrite = propose(old, failure, memory)
    assert rewrite is not None
    known = {node.name for node in old.nodes}
    nodes = apply(old, rewrite).nodes
    return [(at, node.tool, node.params) for at, node in enumerate(nodes) if node.name not in known]


LID = "The lid must be shut before the kiln is heated."
SHUT: Step = ("shut_lid", {"part": "lid", "force": 2})
HEAT: Step = ("heat", {"degrees": 900})


def test_propose__a_failure_repaired_elsewhere__adds_the_same_step_before_the_failing_call():
    memory = RewriteMemory(
        repairs=(repair("Fire two bowls", [("load", {}), HEAT], 1, LID, [("load", {}), SHUT, HEAT]),)
    )
    old = path("Fire a vase", ("load", {}), ("heat", {"degrees": 700}), ("log", {}), result="failure")

    rewrite = propose(old, FailurePoint(node="1", message=LID), memory)

    assert rewrite is not None
    assert [node if isinstance(node, str) else node.tool for node in rewrite.new_nodes] == [
        "0",
        "shut_lid",
        "1",
        "2",
    ]
    assert [(edge.source, edge.target) for edge in rewrite.new_edges] == [
        ("0", "shut_lid"),
        ("shut_lid", "1"),
        ("1", "2"),
    ]
    assert "Fire two bowls" in rewrite.reason
    assert "shut_lid" in rewrite.reason
    assert "under the observation of 0" in rewrite.reason


def order_of(symbol: str, amount: int, price: float) -> tuple[list[Step], list[Step], str]:
    look: Step = ("quote", {"symbol": symbol}, {"ask": price, "bid": price - 1})
    buy: Step = ("buy", {"side": "long", "symbol": symbol, "limit": price, "count": amount})
    show: Step = ("show_order", {"number": 7})
    goal = f"Look up {symbol} and get me {amount} shares of it, then show order 7."
    return [look, show], [look, buy, show], goal


def test_propose__arguments__come_from_calls_observations_goal_and_habit():
    repairs = []
    for symbol, amount, price in (("AAX", 30, 5.5), ("BBX", 12, 17.0), ("CCX", 55, 3.25)):
        failed, fixed, goal = order_of(symbol, amount, price)
        repairs.append(repair(goal, failed, 1, "Order 7 not found.", fixed))
    failed, _, goal = order_of("DDX", 40, 81.5)

    found = added(
        path(goal, *failed),
        FailurePoint(node="1", message="Order 7 not found."),
        RewriteMemory(repairs=tuple(repairs)),
    )

    assert found == [(1, "buy", {"side": "long", "symbol": "DDX", "limit": 81.5, "count": 40})]


@pytest.mark.parametrize(
    ("taught", "asked", "expected"),
    [
        pytest.param(
            [
                ("Keep the notes in a file.", {"file": "a.txt"}, {"name": "a.txt"}),
                ("Keep the list in a file.", {"file": "b.txt"}, {"name": "b.txt"}),
            ],
            ("Keep the plan.", {"file": "c.txt"}),
            {"name": "c.txt"},
            id="argument_of_the_failing_call",
        ),
        pytest.param(
            [
                ("My user is ann1, my password is pw-1, post it.", {}, {"user": "ann1", "password": "pw-1"}),
                ("My user is bob2, my password is pw-2, post it.", {}, {"user": "bob2", "password": "pw-2"}),
            ],
            ("Post this. My user is eve9, my password is pw-9, post it.", {}),
            {"user": "eve9", "password": "pw-9"},
            id="named_in_the_goal",
        ),
        pytest.param(
            [
                ("Book it from Port Salo please", {}, {"harbour": "PSA"}),
                ("We leave from Port Salo at noon", {}, {"harbour": "PSA"}),
                ("Book it from Old Wick please", {}, {"harbour": "OWK"}),
                ("They sail from Old Wick at night", {}, {"harbour": "OWK"}),
                ("Start at Dun Head please", {}, {"harbour": "DNH"}),
                ("She comes from Dun Head at dawn", {}, {"harbour": "DNH"}),
            ],
            ("Take me home from Old Wick tomorrow", {}),
            {"harbour": "OWK"},
            id="a_name_that_stands_for_a_code",
        ),
        pytest.param(
            [
                ("Send 'ready' with #Red and #Blue", {}, {"text": "ready", "tags": ["#Red", "#Blue"]}),
                ("Send 'done' with #Green", {}, {"text": "done", "tags": ["#Green"]}),
                ("Send 'late' with #Grey and #Pink", {}, {"text": "late", "tags": ["#Grey", "#Pink"]}),
            ],
            ("Send 'early' with #Gold and #Black", {}),
            {"text": "early", "tags": ["#Gold", "#Black"]},
            id="a_list_from_the_goal",
        ),
        pytest.param(
            [
                ("Leave on March 3rd, 2027 then", {}, {"day": "2027-03-03"}),
                ("Leave on 4 April 2027 then", {}, {"day": "2027-04-04"}),
            ],
            ("Leave on May 5, 2027 then", {}),
            {"day": "2027-05-05"},
            id="a_date_in_another_spelling",
        ),
    ],
)  # fmt: skip
def test_propose__arguments_taught_by_other_paths__are_bound_anew(taught, asked, expected):
    message = "Not ready for this."
    repairs = tuple(
        repair(goal, [("act", params)], 0, message, [("prepare", given), ("act", params)])
        for goal, params, given in taught
    )
    goal, params = asked

    found = added(
        path(goal, ("act", params)), FailurePoint(node="0", message=message), RewriteMemory(repairs=repairs)
    )

    assert found == [(0, "prepare", expected)]


def test_propose__a_value_that_only_the_error_says__is_taken_from_it():
    repairs = tuple(
        repair(
            "Go", [("enter", {})], 0, f"Gate '{gate}' is locked.", [("unlock", {"gate": gate}), ("enter", {})]
        )
        for gate in ("north", "south", "upper")
    )

    found = added(
        path("Go", ("enter", {})),
        FailurePoint(node="0", message="Gate 'lower' is locked."),
        RewriteMemory(repairs=repairs),
    )

    assert found == [(0, "unlock", {"gate": "lower"})]


def test_propose__the_step_belongs_further_back__goes_there():
    repairs = tuple(
        repair(
            f"File {name}", [("enter", {"folder": "box"}), ("rename", {"file": name})], 1, "No such file.",
            [("copy", {"file": name}), ("enter", {"folder": "box"}), ("rename", {"file": name})],
        )
        for name in ("a1", "b2")
    )  # fmt: skip
    old = path("File c3", ("enter", {"folder": "box"}), ("rename", {"file": "c3"}))

    found = added(old, FailurePoint(node="1", message="No such file."), RewriteMemory(repairs=repairs))

    assert found == [(0, "copy", {"file": "c3"})]


def test_propose__the_same_goal_succeeded__takes_what_it_did_differently():
    good = path("Fire  A VASE", ("load", {}), ("dry", {"hours": 9}), HEAT)
    old = path("Fire a vase", ("load", {}), HEAT, result="failure")

    found = added(old, FailurePoint(node="1", message="It burst."), RewriteMemory(successes=(good,)))

    assert found == [(1, "dry", {"hours": 9})]


def test_propose__other_arguments_helped__changes_the_failing_call():
    good = path("Fire a vase", ("load", {}), ("heat", {"degrees": 600}))
    old = path("Fire a vase", ("load", {}), ("heat", {"degrees": 9000}), ("log", {}), result="failure")

    rewrite = propose(old, FailurePoint(node="1", message="Too hot."), RewriteMemory(successes=(good,)))

    assert rewrite is not None
    assert [node.params for node in apply(old, rewrite).nodes] == [{}, {"degrees": 600}, {}]


def test_propose__a_good_path_did_without__drops_the_failing_call():
    good = path("Fire a vase", ("load", {}), ("heat", {}))
    old = path("Fire a vase", ("load", {}), ("pray", {}), ("heat", {}), result="failure")

    rewrite = propose(
        old, FailurePoint(node="1", message="Nobody is there."), RewriteMemory(successes=(good,))
    )

    assert rewrite is not None
    assert rewrite.new_nodes[0] == "0"
    assert [node.tool for node in apply(old, rewrite).nodes] == ["load", "heat"]


def test_propose__only_habits_are_known__follows_them():
    good = tuple(path(f"Fire {what}", ("load", {}), SHUT, HEAT) for what in ("a", "b", "c"))
    old = path("Fire d", ("load", {}), HEAT, result="failure")

    found = added(
        old, FailurePoint(node="1", message="Never heard of before."), RewriteMemory(successes=good)
    )

    assert found == [(1, "shut_lid", {"part": "lid", "force": 2})]


@pytest.mark.parametrize(
    "memory",
    [
        pytest.param(RewriteMemory(), id="empty"),
        pytest.param(
            RewriteMemory(
                repairs=(repair("x", [("sail", {})], 0, "Storm ahead", [("wait", {}), ("sail", {})]),)
            ),
            id="only_strangers",
        ),
    ],
)
def test_propose__memory_knows_nothing_of_it__is_none(memory):
    assert propose(path("Fire", HEAT), FailurePoint(node="0", message=LID), memory) is None


def test_propose__a_version_does_that_already__is_none():
    repairs = (repair("Fire two bowls", [HEAT], 0, LID, [SHUT, HEAT]),)
    old, failure = path("Fire a vase", HEAT), FailurePoint(node="0", message=LID)
    first = propose(old, failure, RewriteMemory(repairs=repairs))
    assert first is not None

    again = propose(old, failure, RewriteMemory(repairs=repairs, versions=(apply(old, first),)))

    assert again is None


def test_propose__the_step_is_there_already__comes_last():
    repairs = (
        repair("Fire two bowls", [HEAT], 0, LID, [SHUT, HEAT]),
        repair("Fire ten bowls", [HEAT], 0, LID, [SHUT, HEAT]),
        repair("Fire a cup", [HEAT], 0, LID, [("push", {}), HEAT]),
    )
    old = path("Fire a vase", SHUT, HEAT)

    assert added(old, FailurePoint(node="1", message=LID), RewriteMemory(repairs=repairs)) == [
        (1, "push", {})
    ]


def test_propose__what_came_back_after_the_failure__is_forgotten():
    memory = RewriteMemory(repairs=(repair("Fire two bowls", [HEAT], 0, LID, [SHUT, HEAT]),))
    old = path(
        "Fire a vase", ("load", {}, "loaded"), (*HEAT, {"error": LID}), ("log", {}, "cold"), result="failure"
    )

    new = apply(
        old, propose(old, FailurePoint(node="1", message=LID), memory) or pytest.fail("nothing proposed")
    )

    assert [node.observation for node in new.nodes] == ["loaded", None, None, None]


def test_propose__branches_and_loops__keep_their_conditions():
    old = PathDoc(
        goal="Fire a vase",
        nodes=tuple(NodeDoc(name=name, tool=name) for name in ("load", "check", "heat", "log")),
        edges=(
            EdgeDoc(source="load", target="check"),
            EdgeDoc(source="load", target="heat", condition="dry"),
            EdgeDoc(source="check", target="heat", condition="ok"),
            EdgeDoc(source="heat", target="log"),
            EdgeDoc(source="log", target="heat", condition="again"),
        ),
    )
    memory = RewriteMemory(repairs=(repair("Fire two bowls", [HEAT], 0, LID, [SHUT, HEAT]),))

    rewrite = propose(old, FailurePoint(node="heat", message=LID), memory)

    assert rewrite is not None
    ways = {(edge.source, edge.target, edge.condition) for edge in rewrite.new_edges}
    assert ways == {
        ("load", "check", ""),
        ("load", "shut_lid", "dry"),
        ("check", "shut_lid", "ok"),
        ("shut_lid", "heat", ""),
        ("heat", "log", ""),
        ("log", "heat", "again"),
    }


def test_propose__a_tool_with_an_endless_name__is_cut_in_the_node_s_name():
    tool = "shut_" * 40
    memory = RewriteMemory(repairs=(repair("Fire two bowls", [HEAT], 0, LID, [(tool, {}), HEAT]),))

    rewrite = propose(path("Fire a vase", HEAT), FailurePoint(node="0", message=LID), memory)

    assert rewrite is not None
    assert [node.name for node in rewrite.new_nodes if isinstance(node, NodeDoc)] == [tool[:112]]


def test_propose__a_node_that_is_not_there__is_an_error():
    with pytest.raises(KeyError):
        propose(path("Fire", HEAT), FailurePoint(node="9", message=LID), RewriteMemory())


def test_align__several_successes__takes_the_most_similar():
    near, far = path("a", ("load", {}), SHUT, HEAT), path("b", ("sing", {}), ("dance", {}))

    found = align(path("c", ("load", {}), HEAT), [far, near])

    assert [edit.operation for edit in found.edits] == ["keep", "add", "keep"]
    with pytest.raises(ValueError, match="no successful path"):
        align(path("c", HEAT), [])


TOOLS = st.lists(st.sampled_from(["load", "dry", "heat", "log"]), min_size=1, max_size=6)


@given(failed=TOOLS, fixed=TOOLS, old=TOOLS, place=st.integers(0, 5))
def test_proposals__any_memory__keep_every_other_step_in_order(failed, fixed, old, place):
    taught = repair(
        "Fire two bowls",
        [(t, {}) for t in failed],
        min(place, len(failed) - 1),
        LID,
        [(t, {}) for t in fixed],
    )
    asked = path("Fire a vase", *[(tool, {}) for tool in old])
    failing = str(min(place, len(old) - 1))

    for proposed in proposals(
        asked, FailurePoint(node=failing, message=LID), RewriteMemory(repairs=(taught,))
    ):
        new = apply(asked, proposed.rewrite)
        kept = [node.name for node in new.nodes if node.name in {known.name for known in asked.nodes}]
        assert kept in (
            [node.name for node in asked.nodes],
            [n.name for n in asked.nodes if n.name != failing],
        )
