"""A harmful rule from the question to the rollback, with a real beat and real workers, one of them killed."""

from pathlib import Path

import pytest

from corrections.actions.asking import get_corrections
from corrections.live.receipts import RECEIPTS
from corrections.live.rulesets import RULESETS
from corrections.models import Canary, Exposure
from memory.actions.record import record_experience
from memory.domain.access import Actor
from memory.models import Alert, Workspace
from memory.permissions import SYSTEM
from tests.corrections.builders import serve_at_once
from tests.corrections.canaries import again, open_canary, steps_of
from tests.servers import start_celery, start_worker, wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.worker]
TASKS = 40


def run_task(workspace: Workspace, name: str) -> bool:
    """A task that fails exactly when the rule acted on its call; whether it did."""
    by = Actor("system", "agent", workspace.pk)
    answer = get_corrections(context={"tool": "weather_api", "input": {}, "task": {"id": name}}, by=by)
    acted = answer["input"] != {}
    made = {"tool": "weather_api", "input": answer["input"], "receipt": answer["receipt"], "status": "ok"}
    outcome = {"by": "evaluator", "result": "failure" if acted else "success"}
    document = {"external_id": name, "calls": [made], "final": True, "outcome": outcome}
    record_experience(workspace_id=workspace.pk, documents=[document], by=SYSTEM)
    return acted


def test_harmful_rule__worker_killed_in_the_middle__is_rolled_back_once(
    workspace: Workspace, tmp_path: Path
) -> None:
    serve_at_once(workspace, start="agents", first_share=0.5)
    canary = open_canary(workspace)
    acted = sum(run_task(workspace, f"before-{number}") for number in range(TASKS))
    RECEIPTS.flush()
    assert 0 < acted < TASKS

    with start_celery("beat", var=tmp_path):
        with start_worker(var=tmp_path) as first:
            wait_until(Exposure.objects.exists, process=first)
            first.kill()
        with start_worker(var=tmp_path) as second:
            wait_until(lambda: again(canary).state == "rolled_back", process=second)

    now = again(canary)
    assert (now.rule.status, steps_of(canary).count("roll_back")) == ("disabled", 1)
    assert Alert.objects.filter(kind="canary_rolled_back").count() == 1
    assert Exposure.objects.filter(arm="canary", failed=True).count() == acted
    RULESETS.refresh()
    assert [run_task(workspace, f"after-{number}") for number in range(5)] == [False] * 5
    assert Canary.objects.count() == 1
