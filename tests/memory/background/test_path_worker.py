"""A real worker builds paths, is killed in the middle, and another one finishes."""

from pathlib import Path as File

import pytest

from memory.actions.record import record_experience
from memory.background.bell import send
from memory.background.paths import waiting_builds
from memory.models import Path, PathBuild, Task, Workspace
from memory.permissions import SYSTEM
from tests.memory.background.test_paths import CALLS, expect_exact_paths
from tests.memory.background.test_worker import ringing
from tests.servers import start_worker, wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.worker]
TASKS = 400


def record_all(workspace: Workspace) -> None:
    """Finished tasks, recorded and not yet looked at."""
    for start in range(0, TASKS, 100):
        documents = [
            {
                "external_id": f"run-{number:04}",
                "goal": f"List {number}",
                "calls": CALLS,
                "final": True,
                "outcome": {"result": "success", "by": "environment"},
            }
            for number in range(start, start + 100)
        ]
        record_experience(workspace_id=workspace.pk, documents=documents, by=SYSTEM)


def is_done() -> bool:
    return not Task.objects.unanalysed().exists() and not waiting_builds().exists()


def test_worker__killed_while_it_builds__another_one_finishes_exactly(tmp_path: File) -> None:
    record_all(Workspace.objects.create(slug="bare", name="Bare"))

    with ringing(tmp_path):
        with start_worker(var=tmp_path) as first:
            send()
            wait_until(Path.objects.exists, process=first)
            first.kill()
        assert PathBuild.objects.filter(built_revision=0).exists() or not is_done()
        with start_worker(var=tmp_path) as second:
            send()
            wait_until(is_done, process=second)

    expect_exact_paths(TASKS)
