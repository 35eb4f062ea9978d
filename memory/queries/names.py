"""How names that are sent become names that are kept."""

from memory.domain.records import recorded_name
from memory.writer.redactors import scrub_for


def task_name(workspace_id: int, sent: str) -> str:
    """The external id that a task has in this workspace when it is sent as ``sent``: a secret is masked."""
    scrub = scrub_for(workspace_id)
    return recorded_name(sent, redactor=scrub.redactor, key=scrub.key)
