"""Evidence is read by path memory, never written: every row of it is the same after a path's whole life."""

from typing import Any

import pytest
from django.apps import apps
from django.db.models import Model

from memory.actions.localizations import report_reuse
from memory.actions.locating import locate_paths
from memory.actions.nodes import merge_nodes
from memory.actions.paths import correct_path, retire_lineage, roll_back_path
from memory.actions.rewrites import approve_rewrite, request_rewrite
from memory.background.analyse import analyse_backlog
from memory.background.drafting import draft_backlog
from memory.background.paths import build_backlog
from memory.background.uses import settle_backlog
from memory.domain.paths.checking import write_path_document
from memory.models import Failure, Localization, Node, Path, PathUse
from memory.permissions import SYSTEM
from memory.queries.path_documents import read_path
from tests.conftest import Cast
from tests.memory.background.test_rewrite_of_runs import run
from tests.memory.builders import record

pytestmark = pytest.mark.django_db
EVIDENCE = ("Task", "Step", "ToolCall", "Failure", "Outcome", "ErrorPattern", "PatternLink", "Payload")


def evidence() -> dict[str, list[Any]]:
    """Every stored value of every row of evidence."""
    found = {}
    for name in EVIDENCE:
        model: type[Model] = apps.get_model("memory", name)
        rows = model._default_manager.order_by("pk").values()
        found[name] = [{key: _plain(value) for key, value in row.items()} for row in rows]
    return found


def _plain(value: Any) -> Any:
    return bytes(value) if isinstance(value, memoryview) else value


def test_evidence__built_located_rewritten_approved_and_undone__is_as_it_was(cast: Cast) -> None:
    runs = [
        run(f"good-{car}", "refuel", "start!", "lock", "start", "drive", result="success", car=car)
        for car in range(1, 5)
    ]
    record(cast.workspace, *runs, run("bad", "refuel", "start!", result="failure", car=9))
    analyse_backlog()
    before = evidence()

    build_backlog()
    path = Path.objects.get(lineage__key="task:bad")
    question = {"goal": path.goal, "task": "bad"}
    answer = locate_paths(workspace_id=cast.workspace.pk, query=question, by=SYSTEM)
    report_reuse(localization=Localization.objects.get(uuid=answer.localization), taken=path.uuid, by=SYSTEM)
    settle_backlog()
    failure = Failure.objects.filter(task__external_id="bad", call__isnull=False).get()
    proposal = request_rewrite(path=path, reason="It failed.", failure=failure, by=SYSTEM)
    draft_backlog()
    proposal.refresh_from_db()
    rewritten = approve_rewrite(proposal=proposal, by=SYSTEM)
    document = write_path_document(read_path(rewritten)) | {"goal": "Another"}
    corrected = correct_path(path=rewritten, document=document, base_version=2, by=SYSTEM)
    keep, *others = Node.objects.filter(workspace=cast.workspace, kind="action")
    merge_nodes(keep=keep, others=others, by=SYSTEM)
    roll_back_path(path=path, by=SYSTEM)
    retire_lineage(path=path, reason="Enough.", by=SYSTEM)
    build_backlog()

    assert (rewritten.version, corrected.version) == (2, 3)
    assert PathUse.objects.get().result == "failure"
    assert all(before[name] for name in ("Task", "ToolCall", "Failure", "ErrorPattern"))
    assert evidence() == before
