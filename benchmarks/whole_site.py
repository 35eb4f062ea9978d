"""A whole HGMem for a benchmark: web, worker and beat on a free port, with a database of its own."""

import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from benchmarks.serving import ROOT, free_port, granian, prepare_site, stop

SCOPES = ("rules:read", "rules:write", "experience:read", "experience:write", "review")
CELERY = ("-m", "celery", "--quiet", "-A", "hgmem_site.celery")
WORKER = ("worker", "--loglevel", "ERROR", "--pool", "solo", "--without-gossip", "--without-mingle",
          "--without-heartbeat")  # fmt: skip


@contextmanager
def whole_site(var: Path, *workspaces: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Start everything on an empty SQLite database under ``var``; yields its URL and two keys a workspace.

    In these workspaces one person does everything: what is approved is served to all at once, no canary.
    """
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    for name in ("DATABASE_URL", "REDIS_URL"):
        os.environ.pop(name, None)
    settings = "hgmem_site.settings"
    prepare_site(var, HGMEM_URL=url, DJANGO_SETTINGS_MODULE=settings, LOG_LEVEL="ERROR")
    keys = {name: key for slug in workspaces for name, key in _workspace(slug).items()}
    with ExitStack() as running:
        running.enter_context(granian(workers=1, threads=4, port=port))
        for command in (WORKER, ("beat", "--loglevel", "ERROR", "--pidfile=")):
            process = subprocess.Popen([sys.executable, *CELERY, *command], cwd=ROOT)
            running.callback(stop, process)
        yield url, keys


def _workspace(slug: str) -> dict[str, str]:
    """Two keys: one that works there, and one that approves what the first wrote."""
    from corrections.actions.canaries import set_canary_policy
    from corrections.actions.changes import set_change_policy
    from memory.actions.accounts import create_key, create_workspace
    from memory.domain.access import Scope
    from memory.models import User
    from memory.permissions import SYSTEM

    owner = User.objects.create_superuser(username=f"owner-{slug}", password=secrets.token_urlsafe(12))
    workspace = create_workspace(slug=slug, name=slug, owner=owner, by=SYSTEM)
    set_change_policy(
        workspace_id=workspace.pk, changes={"self_approval": True, "key_approval": True}, by=SYSTEM
    )
    set_canary_policy(workspace_id=workspace.pk, changes={"start": "never"}, by=SYSTEM)
    scopes = [Scope(name) for name in SCOPES]
    names = (slug, f"{slug} approver")
    return {name: create_key(workspace=workspace, name=name, scopes=scopes, by=SYSTEM)[1] for name in names}


def worker_is_idle() -> bool:
    """Whether every recorded task was analysed and read by the inducer, by the database of ``whole_site``."""
    from corrections.domain.proposing import cursor_of
    from corrections.models import Induction
    from memory.models import Task
    from memory.queries.finished import newest_by_workspace

    if Task.objects.filter(analysed_at=None).exists():
        return False
    cursors = dict(Induction.objects.values_list("workspace_id", "cursor"))
    return all(cursor_of(newest) <= cursors.get(pk, 0) for pk, newest in newest_by_workspace().items())
