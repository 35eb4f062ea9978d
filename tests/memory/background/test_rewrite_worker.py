"""Real workers that draft rewrites, really killed: nothing lost, nothing doubled."""

from pathlib import Path as File

import pytest

from hgmem_site.celery import app
from memory.background.bell import DRAFT_TASK, send
from memory.background.rewriting import Wish, want_rewrite
from memory.models import RewriteProposal, Workspace
from memory.schedule import sweep_rewrites
from tests.memory.background.rewriters.chat_turns import by_step, silent
from tests.memory.background.test_worker import ringing
from tests.memory.rewrites import LOCK, make_failed_path, make_success
from tests.scripted import serve_script
from tests.servers import start_worker, wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.worker]


@pytest.fixture
def workspace(db: None) -> Workspace:
    return Workspace.objects.create(slug="acme", name="Acme", settings={"paths": {"rewriters": ["llm"]}})


def ask(workspace: Workspace, count: int) -> None:
    for number in range(count):
        path = make_failed_path(workspace, key=f"path:{number}")
        want_rewrite(path, trigger="reuse", wish=Wish(reason="It failed."))


def count_left() -> int:
    return RewriteProposal.objects.filter(status="queued").count()


def test_worker__killed_while_the_model_thinks__another_one_takes_over(
    workspace: Workspace, tmp_path: File
) -> None:
    ask(workspace, 2)
    nodes = {"new_nodes": ["refuel", {"name": "lock", "tool": LOCK.tool, "params": LOCK.params}, "start"]}
    edges = {"new_edges": [{"from": "refuel", "to": "lock"}, {"from": "lock", "to": "start"}]}
    with serve_script() as server, ringing(tmp_path):
        server.script = [silent]
        environment = {
            "HGMEM_LLM_URL": server.url, "HGMEM_LLM_MODEL": "m", "HGMEM_LLM_TIMEOUT_S": "20",
            "HGMEM_REWRITE_LEASE_S": "0.5",
        }  # fmt: skip
        with start_worker(var=tmp_path, **environment) as first:
            send(DRAFT_TASK)
            wait_until(lambda: len(server.asked) > 0, process=first)
            first.kill()
        assert count_left() == 2
        assert RewriteProposal.objects.filter(claimed_at__isnull=False).exists()

        server.script = [by_step(nodes=nodes, edges=edges, reason={"reason": "Lock first."})]
        with start_worker(var=tmp_path, **environment) as second:
            send(DRAFT_TASK)
            wait_until(lambda: count_left() == 0, process=second)

    rows = RewriteProposal.objects.all()
    assert {(row.status, row.rewriter) for row in rows} == {("proposed", "llm")}, [
        row.last_error for row in rows
    ]
    assert sorted(row.attempt for row in rows) == [1, 2]


def test_sweep__no_bell_was_rung__drafts_what_is_queued(workspace: Workspace) -> None:
    workspace.settings = {}
    workspace.save()
    make_success(workspace)
    ask(workspace, 5)

    sweep_rewrites()

    assert set(RewriteProposal.objects.values_list("status", "revision")) == {("proposed", 2)}
    assert sweep_rewrites.name in {entry["task"] for entry in app.conf.beat_schedule.values()}
