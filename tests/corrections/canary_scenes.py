"""Canaries with everything their pages show: stages, looks, events, exposed tasks."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

from corrections.domain.effect.counts import ArmCounts, StageCounts
from corrections.domain.effect.evidence import Evidence
from corrections.domain.effect.judging import judge
from corrections.models import Canary, CanaryEvent, CanaryLook, Exposure, Receipt
from corrections.queries.canary_counts import stage_counts
from memory.models import Workspace
from tests.builders import NOW, make_call, make_task
from tests.corrections.builders import make_canary, make_rule


def make_exposure(canary: Canary, arm: str, *, name: str = "", **fields: Any) -> Exposure:
    """A task with a call of ``weather_api`` without a city, the receipt of its question, and the exposure."""
    task = make_task(canary.workspace, name or f"task-{uuid4()}", goal=name or "Weather")
    call = make_call(task, "weather_api", input={"city": ""})
    receipt = Receipt.objects.create(
        uuid=uuid4(), workspace=canary.workspace, issued_at=NOW, tool="weather_api", ruleset_version="1",
        task_external_id=task.external_id, body={}, call_task=task, call_seq=call.seq,
    )  # fmt: skip
    given = {
        "stage": canary.stage, "unit": task.external_id, "unit_digest": "0" * 16, "share": canary.share,
        "tool": "weather_api", "exposed_at": NOW, "task": task, "receipt": receipt, "is_due": False, **fields,
    }  # fmt: skip
    return Exposure.objects.create(workspace=canary.workspace, canary=canary, arm=arm, **given)


def seen_numbers(canary: tuple[int, int], control: tuple[int, int], *, share: float = 0.5) -> dict[str, Any]:
    """What a look saw of one stage: (decided, failed) of both arms, and a guardrail that saw the same."""
    stage = StageCounts(share, ArmCounts(*canary), ArmCounts(*control))
    exposed = [(share, canary[0], control[0])]
    guards = {"tool_error": [stage]}
    evidence = Evidence(state="running", share=share, trial=[stage], exposed=exposed, guardrails=guards)
    return judge(evidence).numbers


def make_tried(workspace: Workspace, name: str = "Default city", *, tasks: int = 2, **fields: Any) -> Canary:
    """A running canary with ``tasks`` decided tasks an arm (half failed in control), looks and events."""
    given = {"ends_at": NOW + timedelta(days=3650), "state_reason": name, **fields}
    canary = make_canary(make_rule(workspace, active=False, name=name), **given)
    for number in range(tasks):
        make_exposure(canary, "canary", name=f"{name} a{number}", failed=False, slow=True)
        make_exposure(canary, "control", name=f"{name} b{number}", failed=number % 2 == 0, is_crossed=True)
    make_exposure(canary, "canary", name=f"{name} open")
    for day in range(3):
        numbers = seen_numbers((tasks, 0), (tasks, tasks // 2))
        CanaryLook.objects.create(canary=canary, at=NOW + timedelta(days=day), numbers=numbers)
        CanaryEvent.objects.create(
            canary=canary, kind="ramp", numbers=numbers, by=name, by_kind="user", reason=name,
            at=NOW + timedelta(days=day),
        )  # fmt: skip
    canary.evidence = seen_numbers((tasks, 0), (tasks, tasks // 2))
    canary.save()
    for stage in stage_counts(canary):
        canary.stages.filter(number=stage.number).update(counts=stage.to_dict())
    return canary
