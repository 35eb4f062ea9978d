"""A real worker, really killed while paths learn: each use counts once."""

from pathlib import Path as Folder

import pytest

from hgmem_site.celery import app
from memory.models import Path, PathUse, RewardChange, Workspace
from tests.builders import NOW, make_path
from tests.memory.background.test_worker import ringing
from tests.servers import start_worker, wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.worker]
USES = 2_000


def make_uses(workspace: Workspace) -> list[Path]:
    """Uses that their agents said were successes, spread over some paths."""
    paths = [make_path(workspace, f"Goal {number}", reward=0.5) for number in range(10)]
    PathUse.objects.bulk_create(
        PathUse(
            workspace=workspace, path=paths[number % 10], task_name=f"t{number}", said_result="success",
            is_due=True, used_at=NOW,
        )
        for number in range(USES)
    )  # fmt: skip
    return paths


def count_due() -> int:
    return PathUse.objects.filter(is_due=True).count()


def sweep() -> None:
    """What the clock sends."""
    with app.connection_for_write() as broker:
        app.send_task("memory.sweep", connection=broker, ignore_result=True)


def test_worker__killed_while_paths_learn__each_use_counts_once(db: None, tmp_path: Folder) -> None:
    paths = make_uses(Workspace.objects.create(slug="acme", name="Acme"))
    with ringing(tmp_path):
        with start_worker(var=tmp_path) as first:
            sweep()
            wait_until(lambda: count_due() < USES, process=first)
            first.kill()
            assert 0 < count_due() < USES, "the worker was too fast to be killed in the middle"
        with start_worker(var=tmp_path) as second:
            sweep()
            wait_until(lambda: count_due() == 0, process=second)

    for path in paths:
        path.refresh_from_db()
        assert (path.use_count, path.success_count) == (USES // 10, USES // 10)
        changes = list(path.reward_changes.order_by("pk").values_list("old", "new"))
        assert [new for _, new in changes[:-1]] == [old for old, _ in changes[1:]]
        assert changes[-1][1] == path.reward
    assert not RewardChange.objects.exclude(cause="use").exists()
