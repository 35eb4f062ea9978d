"""Steps that were missing and tools that take over: from runs that helped themselves, and from alignments."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from corrections.domain.inducing import Inducer
from hgmem.rules import Rule
from memory.domain.paths.document import NodeDoc, PathDoc
from memory.domain.rewriting.align_edits import FailurePoint, Repair

from .teaching import Made, holds, teach_calls

CLOSED = "the valve is closed"


def helped_itself(first: str, arguments: Mapping[str, Any], call_input: Mapping[str, Any]) -> list[Made]:
    """A run in which the call failed, the step was made, and the same call went well."""
    return [("pump", call_input, CLOSED), (first, arguments, ""), ("pump", call_input, "")]


def repair(call_input: Mapping[str, Any], *added: tuple[str, Mapping[str, Any]]) -> Repair:
    """A failed path of one call, and the same goal's successful one with steps before it."""
    failing = NodeDoc(name="pump", tool="pump", params=dict(call_input))
    steps = [
        NodeDoc(name=f"s{at}", tool=tool, params=dict(params)) for at, (tool, params) in enumerate(added)
    ]
    return Repair(
        failed=PathDoc(goal="fill the tank", nodes=(failing,), env={"site": "depot"}),
        failure=FailurePoint(node="pump", message=CLOSED),
        fixed=PathDoc(goal="fill the tank", nodes=(*steps, failing)),
    )


STEPS = [
    pytest.param({"open": True}, {"open": True}, {"open": True}, id="the-same-value"),
    pytest.param({"valve": "v-1"}, {"valve": "v-2"}, {"valve": "{{ input.at }}"}, id="the-calls-own-value"),
]


@pytest.mark.parametrize(("one", "other", "template"), STEPS)
def test_inducer__runs_that_made_a_step_and_tried_again__propose_the_step(
    one: dict[str, Any], other: dict[str, Any], template: dict[str, Any]
) -> None:
    runs = [helped_itself("unlock", one, {"at": "v-1"}), helped_itself("unlock", other, {"at": "v-2"})]

    (proposal,) = teach_calls(runs).proposals()

    assert proposal.action_type == "INSERT_STEP"
    assert (proposal.action_detail["tool"], proposal.action_detail["arguments"]) == ("unlock", template)
    assert CLOSED in proposal.action_detail["reason"]
    assert holds(proposal.condition, {"at": "v-9"}, env={})
    assert not holds(proposal.condition, {"at": "v-9"}, env={}, history=[("unlock", template, "")])
    assert holds(proposal.condition, {"at": "v-9"}, env={}, history=[("unlock", template, "no key")])
    assert Rule.from_document(proposal.document() | {"uuid": proposal.key}).point == "before"


def test_inducer__step_with_arguments_that_nobody_knows__is_a_hint() -> None:
    runs = [helped_itself("login", {"code": f"c{at}x"}, {"at": "v-1"}) for at in range(3)]

    (proposal,) = teach_calls(runs).proposals()

    assert proposal.action_type == "PROMPT_ENHANCEMENT"
    assert "login was called first" in proposal.action_detail["text"]
    assert CLOSED in proposal.action_detail["text"]


def test_inducer__one_run_that_made_a_step__is_no_proof() -> None:
    proposals = teach_calls([helped_itself("unlock", {"open": True}, {"at": "v-1"})]).proposals()

    assert "INSERT_STEP" not in {proposal.action_type for proposal in proposals}


def test_inducer__good_calls_without_the_step__are_not_disturbed() -> None:
    fine: list[Sequence[Made]] = [[("pump", {"at": "v-1"}, "")] for _ in range(3)]
    runs = [helped_itself("unlock", {"open": True}, {"at": f"v-{at}"}) for at in range(1, 3)]

    inducer = teach_calls([*fine, *runs])

    assert not any(holds(proposal.condition, {"at": "v-1"}, env={}) for proposal in inducer.proposals())


def test_inducer__values_that_need_no_step__are_named_as_exceptions() -> None:
    names = ("north", "south", "east", "west", "roof", "cellar", "yard", "gate")
    runs = [helped_itself("unlock", {"valve": name}, {"at": name}) for name in names]
    fine: list[Sequence[Made]] = [[("pump", {"at": "main"}, "")]]

    (proposal,) = [one for one in teach_calls([*runs, *fine]).proposals() if one.action_type == "INSERT_STEP"]

    assert holds(proposal.condition, {"at": "attic"}, env={})
    assert not holds(proposal.condition, {"at": "main"}, env={})
    assert not holds(proposal.condition, {"at": "roof"}, env={}, history=[("unlock", {"valve": "roof"}, "")])
    assert holds(proposal.condition, {"at": "roof"}, env={}, history=[("unlock", {"valve": "yard"}, "")])


def test_inducer__runs_that_went_on_with_another_tool__propose_the_switch() -> None:
    runs: list[list[Made]] = [
        [("search", {"q": text}, "查询接口已停用"), ("find", {"text": text, "lang": "zh"}, "")]
        for text in ("北京", "上海")
    ]

    (proposal,) = teach_calls(runs).proposals()

    assert proposal.action_type == "TOOL_SWITCH"
    assert proposal.action_detail == {
        "tool": "find", "parameters": {"text": "q"}, "constants": {"lang": "zh"}, "keep_unmapped": False,
    }  # fmt: skip


def test_learn_alignment__paths_that_have_a_step_more__propose_the_step() -> None:
    inducer = Inducer()
    for at in range(3):
        inducer.learn_alignment(repair({"at": f"v-{at}"}, ("unlock", {"valve": f"v-{at}"})), run=f"r{at}")

    (proposal,) = inducer.proposals()

    assert (proposal.action_type, proposal.runs) == ("INSERT_STEP", 3)
    assert proposal.action_detail["arguments"] == {"valve": "{{ input.at }}"}
    assert holds(proposal.condition, {"at": "v-9"}, site="depot")
    assert not holds(proposal.condition, {"at": "v-9"}, site="elsewhere")


def test_learn_alignment__call_that_was_learnt_already__is_counted_once() -> None:
    runs: list[list[Made]] = [[("pump", {"at": f"v-{at}"}, CLOSED)] for at in range(2)]
    inducer = teach_calls(runs, env={"site": "depot"})
    for at in range(2):
        inducer.learn_alignment(
            repair({"at": f"v-{at}"}, ("unlock", {"open": True})), run=f"r-{at}", call_id=f"r-{at}-0"
        )

    (proposal,) = [one for one in inducer.proposals() if one.action_type == "INSERT_STEP"]

    assert proposal.backtest.caught == ("r-0-0", "r-1-0")


def test_learn_alignment__same_tool_with_another_input__proposes_the_edit() -> None:
    inducer = Inducer()
    for at in range(2):
        one = repair({"n": str(at + 70)})
        fixed = NodeDoc(name="pump", tool="pump", params={"n": at + 70})
        inducer.learn_alignment(
            Repair(
                failed=one.failed,
                failure=FailurePoint(node="pump", message="'n' must be a number"),
                fixed=PathDoc(goal="fill the tank", nodes=(fixed,)),
            ),
            run=f"r{at}",
        )

    (proposal,) = inducer.proposals()

    assert proposal.action_detail == {"operations": [{"op": "cast", "field": "n", "to": "integer"}]}


def test_learn_alignment__node_that_is_not_there__is_refused() -> None:
    one = repair({"at": "v-1"})
    broken = Repair(failed=one.failed, failure=FailurePoint(node="other", message=CLOSED), fixed=one.fixed)

    with pytest.raises(KeyError):
        Inducer().learn_alignment(broken, run="r")


@pytest.mark.parametrize(
    ("call_input", "verdict"),
    [
        pytest.param({"city": None}, "block", id="null"),
        pytest.param({"city": "Xanadu"}, "ask", id="a-value"),
    ],
)
def test_inducer__call_without_what_it_needs__is_refused_and_others_are_asked_about(
    call_input: dict[str, Any], verdict: str
) -> None:
    fine: list[list[Made]] = [[("act", {"city": city}, "")] for city in ("Rome", "Bonn")]

    (proposal,) = teach_calls([*fine, [("act", call_input, "field 'city' is not valid")]]).proposals()

    assert proposal.action_detail["on_failure"] == verdict
