"""Reading the indexes that are in use before anybody asks, so that a restart is not felt."""

import logging
import threading
from datetime import timedelta

from django.db import DatabaseError, connection, connections
from django.utils import timezone

from hgmem.periodic import Periodic
from memory.live.index.searching import EXACT
from memory.queries.entries import list_recently_asked

log = logging.getLogger(__name__)

RECENTLY = timedelta(days=7)


def start_warming() -> None:
    """Read the workspaces that were asked about lately, in the background (SQLite only)."""
    if Periodic.enabled and connection.vendor != "postgresql":
        threading.Thread(target=_warm, name="index-warming", daemon=True).start()


def _warm() -> None:
    try:
        warm_index()
    except DatabaseError as error:  # not migrated yet, for one: the first question reads what it needs
        log.info("The index of paths is not read ahead: %s", error)
    finally:
        connections.close_all()


def warm_index() -> int:
    """The same in this thread; how many workspaces."""
    workspaces = list_recently_asked(timezone.now() - RECENTLY)
    for workspace_id in workspaces:
        EXACT.embedders(workspace_id)
    return len(workspaces)
