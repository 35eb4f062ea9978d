"""Agents and a server that are killed at any moment: what was acknowledged must be on the server, once.

An agent is a process that records calls and prints each that ``record`` said true to. It ends by SIGKILL, and
so does the server, while both are busy. At the end a last process delivers what is left.
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

import hgmem

ROOT = Path(__file__).resolve().parent.parent
CALLS_A_TASK = 20
PAUSE_S = 0.001
START_S = 30.0
Call = tuple[str, int]
"""The task's external id, and the place in it."""


def kill_again_and_again(
    serve: Callable[[], AbstractContextManager[str]], key: str, home: Path, *, lives: int, seed: int = 0
) -> set[Call]:
    """Lives of a server, killed at the end of each; an agent starts in each and is killed then or later.

    ``serve``: starts it, always at the same URL, and kills it. Returns the acknowledged calls; by then all is
    delivered. Raises RuntimeError when it is not.
    """
    chance = random.Random(seed)
    acknowledged: set[Call] = set()
    with ExitStack() as agents:
        for life in range(lives):
            with serve() as url:
                log = agents.enter_context(_agent(f"agent-{life}", url, key, home))
                _wait_for_more(log, 0)
                _wait_for_more(log, log.stat().st_size)
                time.sleep(chance.random() * 0.5)
            if chance.random() < 0.7:  # else it lives to meet the next one
                time.sleep(chance.random() * 0.1)
                agents.close()
    with serve() as url, hgmem.Client(url, key, home=home) as client:
        client.recorder.adopt()
        if not client.flush(60.0) or client.stats().refused:
            raise RuntimeError(f"not all is delivered: {client.stats()}")
    for life in range(lives):
        acknowledged |= set(_read(home / f"agent-{life}.txt"))
    return acknowledged


@contextmanager
def _agent(name: str, url: str, key: str, home: Path) -> Iterator[Path]:
    log = home / f"{name}.txt"
    environment = {**os.environ, "HGMEM_URL": url, "HGMEM_KEY": key, "HGMEM_HOME": str(home)}
    with log.open("wb") as out:
        code = f"from benchmarks.spool_kills import record_until_killed; record_until_killed({name!r})"
        command = [sys.executable, "-c", code]
        child = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=out, start_new_session=True)
    try:
        yield log
    finally:
        os.kill(child.pid, signal.SIGKILL)
        child.wait()


def _wait_for_more(log: Path, size: int) -> None:
    until = time.monotonic() + START_S
    while log.stat().st_size <= size + 200:
        if time.monotonic() > until:
            raise RuntimeError("the agent records nothing")
        time.sleep(0.01)


def _read(log: Path) -> Iterator[Call]:
    for line in log.read_text().splitlines(keepends=True):
        if line.endswith("\n"):  # the kill may cut the last one
            task, seq = line.split()
            yield task, int(seq)


def record_until_killed(name: str) -> None:
    """What an agent's process does."""
    client = hgmem.Client()
    number = 0
    while True:
        task, seq = f"{name}-{number // CALLS_A_TASK}", number % CALLS_A_TASK
        call = {"seq": seq, "tool": "search", "input": {"n": number}, "output": "found " * 20, "status": "ok"}
        if client.record({"external_id": task, "calls": [call], "final": seq == CALLS_A_TASK - 1}):
            os.write(1, f"{task} {seq}\n".encode())
        number += 1
        time.sleep(PAUSE_S)
