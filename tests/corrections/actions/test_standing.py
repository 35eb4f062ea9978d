"""Approvals of those who may not approve any more count no more."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import OperationalError
from django.utils import timezone

from corrections.actions import scheduling
from corrections.actions.arbitration import Said, rule_conflict
from corrections.actions.changes import approve_change, publish_due_changes, schedule_change
from corrections.actions.deciding import put_in_force
from corrections.models import ChangeRequest, Rule
from corrections.queries.changes import lacks
from memory.actions.accounts import set_member
from memory.domain.access import Role
from memory.models import User, Workspace
from memory.permissions import SYSTEM
from tests.conftest import Cast
from tests.corrections.builders import make_change
from tests.corrections.conflicts import found, make_pair

pytestmark = pytest.mark.django_db
LATER = timedelta(hours=2)
Loss = Callable[[Cast], object]


def two_needed(workspace: Workspace) -> None:
    Workspace.objects.filter(pk=workspace.pk).update(settings={"changes": {"required_approvals": 2}})


LOSSES = [
    pytest.param(
        lambda cast: set_member(workspace=cast.workspace, user=cast.reviewer, role=None, by=SYSTEM),
        id="removed",
    ),
    pytest.param(
        lambda cast: set_member(workspace=cast.workspace, user=cast.reviewer, role=Role.VIEWER, by=SYSTEM),
        id="viewer now",
    ),
    pytest.param(
        lambda cast: User.objects.filter(pk=cast.reviewer.pk).update(is_active=False), id="locked out"
    ),
    pytest.param(lambda cast: User.objects.filter(pk=cast.reviewer.pk).delete(), id="deleted"),
]


@pytest.mark.parametrize("lose", LOSSES)
def test_approve__first_approver_gone__needs_another(cast: Cast, lose: Loss) -> None:
    change = make_change(cast.workspace)
    two_needed(cast.workspace)
    approve_change(change=change, revision=1, by=cast.actor("reviewer"))
    lose(cast)

    change = approve_change(change=change, revision=1, by=cast.actor("maintainer"))

    assert (change.status, lacks(change)) == ("open", 1)
    assert approve_change(change=change, revision=1, by=cast.actor("owner")).status == "published"


@pytest.mark.parametrize("lose", LOSSES)
def test_schedule__approver_gone_before_the_time__fails_and_serves_nothing(cast: Cast, lose: Loss) -> None:
    change = make_change(cast.workspace)
    change = schedule_change(change=change, publish_at=timezone.now() + timedelta(hours=1), by=SYSTEM)
    approve_change(change=change, revision=change.revision, by=cast.actor("reviewer"))
    lose(cast)

    assert publish_due_changes(now=timezone.now() + LATER, by=SYSTEM) == 0

    change.refresh_from_db()
    assert (change.status, change.failure) == ("failed", "This lacks 1 more approval.")
    assert Rule.objects.get(pk=change.rule_id).live_version.number == 1


def test_schedule__ruling_and_a_stricter_policy__fails(cast: Cast) -> None:
    make_pair(cast.workspace)
    said = Said(verdict="b_wins", reason="people decided")
    change = rule_conflict(conflict=found(cast.workspace), said=said, by=cast.actor("reviewer"))
    moment = timezone.now() + timedelta(hours=1)
    change = schedule_change(change=change, publish_at=moment, by=cast.actor("reviewer"))
    approve_change(change=change, revision=change.revision, by=cast.actor("maintainer"))
    two_needed(cast.workspace)

    assert publish_due_changes(now=timezone.now() + LATER, by=SYSTEM) == 0

    assert ChangeRequest.objects.get(pk=change.pk).status == "failed"
    assert change.rulings.get().status == "proposed"


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        pytest.param(RuntimeError("nobody foresaw this"), "failed", id="a fault of ours"),
        pytest.param(OperationalError("the database is away"), "approved", id="the database is away"),
    ],
)
def test_schedule__one_cannot_be_published__holds_up_no_other(
    cast: Cast, monkeypatch: pytest.MonkeyPatch, fault: Exception, status: str
) -> None:
    moment = timezone.now() + timedelta(hours=1)
    first, second = (
        schedule_change(change=make_change(cast.workspace), publish_at=moment, by=SYSTEM) for _ in range(2)
    )
    for change in (first, second):
        approve_change(change=change, revision=change.revision, by=cast.actor("reviewer"))

    def faulty(changes: list[ChangeRequest], **given: object) -> None:
        if changes[0].pk == first.pk:
            raise fault
        put_in_force(changes, **given)

    monkeypatch.setattr(scheduling, "put_in_force", faulty)

    assert publish_due_changes(now=timezone.now() + LATER, by=SYSTEM) == 1

    found = [ChangeRequest.objects.get(pk=change.pk).status for change in (first, second)]
    assert found == [status, "published"]
