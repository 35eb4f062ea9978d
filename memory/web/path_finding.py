"""The path that a URL names."""

from uuid import UUID

from django.http import Http404
from django.utils.translation import gettext as _

from memory.models import Path
from memory.web.access import PageRequest


def find_path(request: PageRequest, uuid: UUID) -> Path:
    """The version with its lineage; 404 for an unknown or foreign one."""
    rows = Path.objects.filter(workspace=request.workspace, uuid=uuid)
    row = rows.select_related("lineage", "workspace", "source", "container", "parent").first()
    if row is None:
        raise Http404(_("There is no such path."))
    return row
