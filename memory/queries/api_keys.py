"""API keys by what is public of them."""

from memory.models import ApiKey


def key_digest(workspace_id: int, prefix: str) -> str:
    """The digest of the workspace's key that begins like this, revoked or not; empty without one."""
    rows = ApiKey.objects.filter(workspace=workspace_id, prefix=prefix)
    return rows.values_list("digest", flat=True).first() or ""
