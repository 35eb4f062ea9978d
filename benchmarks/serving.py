"""A real server for benchmarks: granian on a free port of this machine, with a database of its own."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
START_S = 60.0


def prepare_site(var: Path, **environment: str) -> None:
    """Point this process at an empty database under ``var`` and set Django up, before any model."""
    os.environ |= {
        "HGMEM_VAR": str(var),
        "HGMEM_URL": "http://127.0.0.1",
        "HGMEM_QUERY_RATE": "100000000/min",
        "HGMEM_API_RATE": "100000000/min",
        "DJANGO_SETTINGS_MODULE": "benchmarks.site_settings",
        "LOG_LEVEL": "WARNING",
        **environment,
    }
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)


@contextmanager
def granian(*, workers: int, threads: int = 1, port: int = 0, kill: bool = False) -> Iterator[str]:
    """Start the site with this process's environment; yields its URL and stops it at the end.

    ``port`` 0: a free one. ``kill``: it ends by SIGKILL, with whatever it is doing.
    """
    port = port or free_port()
    command = [
        sys.executable, "-m", "granian", "--interface", "wsgi", "--host", "127.0.0.1", "--port", str(port),
        "--workers", str(workers), "--blocking-threads", str(threads), "--no-ws", "--log-level", "warning",
        "hgmem_site.wsgi:application",
    ]  # fmt: skip
    server = subprocess.Popen(command, cwd=ROOT, start_new_session=kill)
    try:
        _wait_for(port, server)
        yield f"http://127.0.0.1:{port}"
    finally:
        if kill:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()
        else:
            stop(server)


def stop(process: "subprocess.Popen[bytes]") -> None:
    """End a process, kindly first."""
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def free_port() -> int:
    """A port of this machine that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int, server: "subprocess.Popen[bytes]") -> None:
    end = time.monotonic() + START_S
    while time.monotonic() < end:
        if server.poll() is not None:
            raise RuntimeError(f"the server ended with code {server.returncode}")
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError("the server did not start in time")
