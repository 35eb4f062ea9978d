"""The child process: it answers, it is killed when it hangs, it ends with its parent."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from corrections.background.solver import SolverProcess
from corrections.domain.conflicts import Part, Question, Setting

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ROOT = Path(__file__).parents[3]


def _question(*conditions: str) -> Question:
    return Question(tuple(map(Part, conditions)), Setting("before", NOW))


EASY = _question("input.c == 'a'", "input.c == 'b'")
HARD = _question(
    "size(input.a) > 70 && input.a.matches('(ab|ba|aab)+c') && input.a.contains(input.b)",
    "input.b.matches('(b|ab)+') && input.a.endsWith(input.d) && input.d.contains('bbc')",
    "size(input.b) > 40 && size(input.d) > 30",
)


@pytest.fixture(scope="module")
def solver() -> Iterator[SolverProcess]:
    with SolverProcess() as one:
        yield one


def _children(pid: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(fields[1]) == pid and fields[0] != "Z":
                found.append(int(entry.name))
    return found


def _family(pid: int) -> list[int]:
    return [one for child in _children(pid) for one in (child, *_family(child))]


def _gone(pids: list[int], within_s: float = 5.0) -> bool:
    deadline = time.monotonic() + within_s
    while any(_runs(pid) for pid in pids):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_solver__easy_questions__are_answered(solver: SolverProcess) -> None:
    assert solver.ask(EASY).outcome == "no"
    answer = solver.ask(_question("input.c.startsWith('a')"))
    assert answer.outcome == "yes"
    assert answer.witness is not None


def test_solver__a_question_beyond_its_time__is_unknown_and_the_next_is_answered() -> None:
    with SolverProcess(timeout_ms=40) as solver:
        started = time.monotonic()
        answer = solver.ask(HARD)

        assert answer.outcome == "unknown"
        assert time.monotonic() - started < 20
        assert solver.ask(EASY).outcome == "no"


def test_solver__no_memory__is_unknown_and_the_next_is_tried() -> None:
    with SolverProcess(memory_mb=1) as solver:
        answer = solver.ask(_question("input.q.matches('^[a-z]+ [0-9]+$')", "input.q.contains('foo')"))

        assert answer.outcome == "unknown"
        assert "memory" in answer.reason or "failed" in answer.reason or "gave up" in answer.reason


def test_solver__its_child_killed__starts_another(solver: SolverProcess) -> None:
    assert solver.ask(EASY).outcome == "no"
    keepers = _children(os.getpid())
    workers = [worker for keeper in keepers for worker in _children(keeper)]
    for worker in workers:
        os.kill(worker, 9)
    first = solver.ask(EASY)

    assert workers
    assert first.outcome in ("no", "unknown")
    assert solver.ask(EASY).outcome == "no"


def test_solver__closed__leaves_nobody_behind() -> None:
    before = set(_family(os.getpid()))
    solver = SolverProcess()
    solver.ask(EASY)
    family = [pid for pid in _family(os.getpid()) if pid not in before]

    solver.close()

    assert len(family) == 2
    assert _gone(family)


_DEMON = """
import multiprocessing, os, sys
from datetime import UTC, datetime
from corrections.background.solver import SolverProcess
from corrections.domain.conflicts import Part, Question, Setting

def work(outcomes):
    solver = SolverProcess()
    parts = (Part("input.c == 'a'"), Part("input.c == 'b'"))
    answer = solver.ask(Question(parts, Setting("before", datetime.now(UTC))))
    outcomes.put(answer.outcome)
    outcomes.close()
    outcomes.join_thread()
    os.kill(os.getpid(), 9)

if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    outcomes = context.Queue()
    worker = context.Process(target=work, args=(outcomes,), daemon=True)
    worker.start()
    print(outcomes.get(timeout=60))
    worker.join()
"""


def test_solver__in_a_daemonic_process_that_is_killed__answers_and_ends_with_it() -> None:
    before = {pid for pid in map(_pid, Path("/proc").iterdir()) if pid}

    done = subprocess.run(
        [sys.executable, "-c", _DEMON], cwd=ROOT, capture_output=True, text=True, timeout=120, check=True
    )

    assert done.stdout.strip() == "no"
    left = [pid for pid in map(_pid, Path("/proc").iterdir()) if pid not in before and _is_solver(pid)]
    assert _gone(left)


def _pid(entry: Path) -> int:
    return int(entry.name) if entry.name.isdigit() else 0


def _is_solver(pid: int) -> bool:
    try:
        return b"solver_child" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
