"""``manage.py up`` as a newcomer meets it: real processes, a real port, Ctrl-C."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.architecture.tree import ROOT

WITHIN_S = 180


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def environment(var: Path, port: int, data: str = "") -> dict[str, str]:
    """A new installation in ``var``."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return kept | {"HGMEM_VAR": str(var), "HGMEM_PORT": str(port), "HGMEM_DATA": data or str(var)}


@contextmanager
def up(var: Path, port: int, *options: str) -> Iterator[subprocess.Popen[str]]:
    """HGMem, ready; killed for good at the end whatever the test did."""
    process = subprocess.Popen(
        [sys.executable, "manage.py", "up", *options],
        cwd=ROOT, env=environment(var, port), text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    try:
        wait_until_ready(process, port)
        yield process
    finally:
        for pid in processes_of(var):
            os.kill(pid, signal.SIGKILL)
        process.wait()


def wait_until_ready(process: subprocess.Popen[str], port: int) -> None:
    """Returns when ``/healthz`` answers; fails with the output when the process ends before."""
    until = time.monotonic() + WITHIN_S
    while time.monotonic() < until:
        assert process.poll() is None, process.stdout.read()
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=1):
                return
        except OSError:
            time.sleep(0.1)
    pytest.fail("not ready in time")


def processes_of(var: Path) -> list[int]:
    """Every process of that installation: they all carry its folder in their environment."""
    needle = f"HGMEM_VAR={var}".encode()
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if needle in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


@pytest.mark.worker
@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks for orphans in /proc")
def test_up__interrupted_and_started_again__leaves_no_process_and_keeps_everything(tmp_path: Path) -> None:
    port = free_port()

    with up(tmp_path, port) as first:
        running = len(processes_of(tmp_path))
        first.send_signal(signal.SIGINT)
        said, _ = first.communicate(timeout=90)
        left = processes_of(tmp_path)
    with up(tmp_path, port) as second:
        second.send_signal(signal.SIGTERM)
        said_again, _ = second.communicate(timeout=90)

    assert running >= 4  # this one, web, worker, beat
    assert left == []
    assert (first.returncode, second.returncode) == (0, 0)
    assert "Password" in said
    assert "Password" not in said_again
    key = re.search(r"hgm_\S+", said).group()
    assert key in said_again
    assert (tmp_path / "demo_key").stat().st_mode & 0o777 == 0o600
    assert "Traceback" not in said + said_again


def test_up__port_taken__says_so_and_what_to_do(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        result = subprocess.run(
            [sys.executable, "manage.py", "up"], cwd=ROOT, env=environment(tmp_path, port),
            capture_output=True, text=True, timeout=180, check=False,
        )  # fmt: skip

    assert result.returncode == 1
    assert f"Cannot listen on 127.0.0.1:{port}" in result.stderr
    assert "HGMEM_PORT=" in result.stderr
    assert "Traceback" not in result.stderr
