"""Storm alerts: closed with or without going on, and by resuming."""

import pytest
from django.utils import timezone

from memory.actions.alerts import AlreadyClosedError, close_alert, resume_rewriting
from memory.actions.webhooks import create_webhook
from memory.background.storms import watch_lineage
from memory.models import Alert, AuditEvent, Path, WebhookDelivery
from tests.conftest import Cast
from tests.memory.rewrites import make_failed_path, make_proposal

pytestmark = pytest.mark.django_db


def stormy(cast: Cast) -> tuple[Path, Alert]:
    path = make_failed_path(cast.workspace)
    for _ in range(3):
        make_proposal(path, "rejected")
    watch_lineage(path.lineage, now=timezone.now())
    return path, Alert.objects.get()


def test_storm__webhook_wants_alerts__is_told(cast: Cast) -> None:
    url = "https://example.org/hook"
    create_webhook(workspace=cast.workspace, url=url, events=["alert.raised"], by=cast.actor("owner"))

    _path, alert = stormy(cast)

    body = WebhookDelivery.objects.get().body
    assert (body["subject"]["uuid"], body["data"]["title"]) == (str(alert.uuid), alert.title)


def test_close__storm_with_resume__goes_on_and_what_was_before_does_not_count_any_more(cast: Cast) -> None:
    path, alert = stormy(cast)

    closed = close_alert(alert=alert, note="Seen.", resume=True, by=cast.actor("reviewer"))

    path.lineage.refresh_from_db()
    assert (path.lineage.automatic_paused_at, closed.closed_by, closed.note) == (None, "reviewer", "Seen.")
    assert not watch_lineage(path.lineage, now=timezone.now()).is_storm
    assert {"close_alert", "resume_rewriting"} <= set(AuditEvent.objects.values_list("verb", flat=True))
    with pytest.raises(AlreadyClosedError, match="closed by reviewer"):
        close_alert(alert=alert, by=cast.actor("owner"))


def test_close__storm_without_resume__stays_paused(cast: Cast) -> None:
    path, alert = stormy(cast)

    close_alert(alert=alert, by=cast.actor("reviewer"))

    path.lineage.refresh_from_db()
    assert path.lineage.automatic_paused_at is not None


def test_resume__storm__closes_its_alert(cast: Cast) -> None:
    path, alert = stormy(cast)

    resume_rewriting(lineage=path.lineage, reason="Fixed.", by=cast.actor("reviewer"))

    alert.refresh_from_db()
    assert (alert.closed_by, alert.note) == ("reviewer", "Fixed.")
