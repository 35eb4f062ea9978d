"""The path that a URL names."""

from uuid import UUID

from django.http import Http404
from django.utils.translation import gettext as _

from memory.models import Path
from memory.queries import paths as queries
from memory.web.access import PageRequest


def find_path(request: PageRequest, uuid: UUID) -> Path:
    """The version with what it belongs to; 404 for an unknown or foreign one."""
    row = queries.find_path(request.workspace.pk, uuid)
    if row is None:
        raise Http404(_("There is no such path."))
    return row


def other_path(request: PageRequest, text: str) -> Path | None:
    """The path that a parameter names, or None for an unknown, foreign or malformed one."""
    try:
        return queries.find_path(request.workspace.pk, UUID(text))
    except ValueError:
        return None
