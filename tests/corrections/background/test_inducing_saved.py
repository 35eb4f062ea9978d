"""A failure that a rule prevented is learnt from as well: the receipt says which step it had asked for."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from corrections.background.inducing import induce_backlog
from corrections.live.inducers import READERS
from corrections.live.signing import verified
from corrections.models import RuleProposal
from memory.actions.record import record_experience
from memory.background.analyse import analyse_backlog
from memory.permissions import SYSTEM
from tests.conftest import Cast
from tests.corrections.builders import make_rule

pytestmark = pytest.mark.django_db
INPUT = {"at": "v-1"}
ENV = {"site": "depot"}


@pytest.fixture(autouse=True)
def cold() -> None:
    """No reader of the test before."""
    READERS.forget()


def record(cast: Cast, goal: str, *tools: str, closed: bool = False, receipt: str = "") -> None:
    """A run that reached its goal; ``closed``: its first call failed. The last one carries the receipt."""
    calls: list[dict[str, Any]] = [
        {"seq": at, "tool": tool, "input": INPUT, "status": "ok"} for at, tool in enumerate(tools)
    ]
    if closed:
        calls[0] |= {"status": "error", "error": "the valve is closed"}
    if receipt:
        calls[-1]["receipt"] = receipt
    document = {
        "external_id": goal, "goal": goal, "env": ENV, "final": True, "calls": calls,
        "outcome": {"result": "success", "by": "evaluator"},
    }  # fmt: skip
    record_experience(workspace_id=cast.workspace.pk, documents=[document], by=SYSTEM)
    while analyse_backlog():
        pass


def learn_with(cast: Cast, receipt: str) -> list[str]:
    """General evidence, a run with the receipt, and a call that needs no step: conditions about its goal."""
    for goal in ("fill the tank", "wash the floor"):
        record(cast, goal, "pump", "open", "pump", closed=True)
    record(cast, "water the garden", "open", "pump", receipt=receipt)
    record(cast, "empty the pool", "pump")
    while induce_backlog(5.0):
        pass
    rows = RuleProposal.objects.filter(workspace=cast.workspace, status="proposed", action_type="INSERT_STEP")
    conditions = rows.values_list("document__condition", flat=True)
    return [text for text in conditions if "water the garden" in text]


def ask(api: APIClient) -> str:
    """The receipt for pumping."""
    question = {"tool": "pump", "input": INPUT, "env": ENV, "task": {"id": "t1", "goal": "water the garden"}}
    return str(api.post("/api/v1/corrections/query", question, format="json").json()["receipt"])


@pytest.mark.parametrize(
    "action",
    [
        pytest.param(("INSERT_STEP", {"tool": "open", "arguments": INPUT, "reason": "closed"}), id="step"),
        pytest.param(("PROMPT_ENHANCEMENT", {"text": "Here open was called first."}), id="hint"),
    ],
)
def test_induce__step_that_a_rule_asked_for_saved_the_call__proposes_it_for_the_goal(
    cast: Cast, agent_api: APIClient, action: tuple[str, dict[str, Any]]
) -> None:
    kind, detail = action
    make_rule(
        cast.workspace,
        applies_to={"point": "before", "tool": "pump"},
        condition="true",
        action_type=kind,
        action_detail=detail,
    )

    (condition,) = learn_with(cast, ask(agent_api))

    assert "!history.exists" in condition


@pytest.mark.parametrize("receipt", [pytest.param("", id="none"), pytest.param("e30.e30", id="forged")])
def test_induce__no_rule_asked_for_the_step__proposes_nothing_for_the_goal(cast: Cast, receipt: str) -> None:
    assert learn_with(cast, receipt) == []


def test_verified__receipt_of_another_workspace__is_none(cast: Cast, agent_api: APIClient) -> None:
    make_rule(cast.workspace)
    token = ask(agent_api)
    assert verified(token, cast.workspace.pk) is not None
    assert verified(token, cast.workspace.pk + 1) is None
