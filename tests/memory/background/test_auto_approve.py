"""What a workspace's policy approves without a person."""

from typing import Any

import pytest

from memory.background.rewriters.port import Drafted
from memory.models import AuditEvent, Workspace
from tests.memory.background.drafts import LOCKED, Scripted, drafted, wanted
from tests.memory.rewrites import make_failed_path, make_success

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("policy", "approved"),
    [
        pytest.param({"auto_approve": True}, True, id="the workspace said so"),
        pytest.param({}, False, id="the default"),
        pytest.param(
            {"auto_approve": True, "max_versions": "many"}, False, id="settings that cannot be read"
        ),
    ],
)
def test_policy__auto_approve__only_where_the_workspace_said_so(
    workspace: Workspace, policy: dict[str, Any], approved: bool
) -> None:
    workspace.settings = {"paths": policy}
    workspace.save()
    make_success(workspace)
    path = make_failed_path(workspace)

    proposal = drafted(wanted(path))

    path.refresh_from_db()
    assert (proposal.status == "approved", path.status == "historical") == (approved, approved)
    if approved:
        event = AuditEvent.objects.get(verb="approve_rewrite")
        assert (event.actor_kind, event.actor_name) == ("system", "auto-approve policy")
        assert "policy approves what align proposes" in event.reason


@pytest.mark.parametrize(
    ("name", "trigger", "overruled_by"),
    [
        pytest.param("llm", "reuse", "", id="a model wrote it"),
        pytest.param("align", "person", "rosa", id="a person asked"),
        pytest.param("align", "api", "rosa", id="a person overruled the guard"),
    ],
)
def test_policy__auto_approve__never_what_a_person_should_read(
    workspace: Workspace, rewriters: list[tuple[str, Any]], name: str, trigger: str, overruled_by: str
) -> None:
    workspace.settings = {"paths": {"auto_approve": True}}
    workspace.save()
    rewriters.append((name, Scripted(LOCKED)))

    path = make_failed_path(workspace, reward=0.9 if overruled_by else 0.0)

    assert drafted(wanted(path, trigger, overruled_by=overruled_by)).status == "proposed"


@pytest.mark.parametrize(
    ("confidence", "status"),
    [pytest.param(0.49, "proposed", id="a guess"), pytest.param(0.5, "approved", id="sure")],
)
def test_policy__auto_approve__only_what_the_rewriter_is_sure_of(
    workspace: Workspace, rewriters: list[tuple[str, Any]], confidence: float, status: str
) -> None:
    workspace.settings = {"paths": {"auto_approve": True}}
    workspace.save()
    rewriters.append(("align", Scripted(Drafted(LOCKED.rewrite, confidence=confidence))))

    proposal = drafted(wanted(make_failed_path(workspace)))

    assert (proposal.status, proposal.guard["confidence"]) == (status, confidence)
