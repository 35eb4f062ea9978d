"""What people say about a tool. Its schema is what its calls say."""

from django.db import transaction

from memory.domain.access import Actor, check_may
from memory.events import record_event
from memory.models import Tool


@transaction.atomic
def describe_tool(*, tool: Tool, description: str, by: Actor) -> Tool:
    """Change the description. The same words again change nothing. Raises :class:`NotPermitted`."""
    check_may(by, "edit_tool", within=tool.workspace_id)
    locked = Tool.objects.select_for_update().get(pk=tool.pk)
    old = locked.description
    if description != old:
        locked.description = description
        locked.save(update_fields=["description"])
        record_event(
            by=by, workspace=locked.workspace, verb="describe_tool", subject=locked,
            old={"description": old}, new={"description": description},
        )  # fmt: skip
    return locked
