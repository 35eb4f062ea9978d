"""Asking people to look: one open alert for one reason, and the webhooks that want to hear of it."""

from memory.background.messages import tell
from memory.models import Alert


def put_alert(alert: Alert, *, is_told: bool = True) -> bool:
    """Store a new alert in the caller's transaction; False when one with its ``dedupe`` is open already.

    ``is_told``: webhooks hear of it.
    """
    home = alert.workspace_id
    if Alert.objects.filter(workspace_id=home, dedupe=alert.dedupe, closed_at=None).exists():
        return False
    Alert.objects.bulk_create([alert], ignore_conflicts=True)
    if is_told:
        told = {"kind": alert.kind, "title": alert.title, "detail": alert.detail}
        tell(workspace_id=home, event="alert.raised", subject=alert, body=told)
    return True
