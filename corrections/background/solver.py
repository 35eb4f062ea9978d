"""A solver in a child process that can be killed: what conflict analysis asks (``questions.Solver``).

The child is a plain subprocess, so it may be started anywhere: in a web process, in a Celery worker of any
pool. It ends with its parent, because its input closes then.
"""

import os
import pickle
import select
import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType

from corrections.domain.conflicts.questions import Answer, Question

_ROOT = Path(__file__).resolve().parents[2]
_START = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); "
    "from corrections.background.solver_child import main; main()"
)
_START_S = 20.0
TIMEOUT_MS = 1_000
MEMORY_MB = 1_024


class SolverProcess:
    """One child; questions are answered one after another. Use as a context, or ``close`` it.

    ``timeout_ms`` is the solver's own limit for one check; a child that needs much longer for a question
    (a few checks) is killed and replaced. ``memory_mb`` is what it may map beyond its start.
    """

    def __init__(self, timeout_ms: int = TIMEOUT_MS, memory_mb: int = MEMORY_MB) -> None:
        self._timeout_ms = timeout_ms
        self._memory_mb = memory_mb
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._owner = 0

    def ask(self, question: Question) -> Answer:
        """Answer within the limits; never raises and never hangs."""
        with self._lock:
            try:
                return self._exchange(pickle.dumps(question))
            except (OSError, EOFError, pickle.UnpicklingError) as fault:
                self._end()
                return Answer("unknown", reason=f"the solver ended ({fault})"[:200])

    def close(self) -> None:
        """End the child."""
        with self._lock:
            self._end()

    def __enter__(self) -> "SolverProcess":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _exchange(self, question: bytes) -> Answer:
        started = self._running()
        child = self._child
        if child is None or child.stdin is None or child.stdout is None:
            raise EOFError("no child")
        child.stdin.write(len(question).to_bytes(4) + question)
        child.stdin.flush()
        limit = 8 * self._timeout_ms / 1_000 + 2 + (_START_S if started else 0)
        if not select.select([child.stdout], [], [], limit)[0]:
            raise EOFError("it does not answer")
        length = int.from_bytes(child.stdout.read(4))
        body = child.stdout.read(length)
        if not body or len(body) < length:
            raise EOFError("it is gone")
        answer = pickle.loads(body)  # noqa: S301 (our own child wrote it)
        return answer if isinstance(answer, Answer) else Answer("unknown", reason="no answer")

    def _running(self) -> bool:
        """Start the child unless it runs; whether it was started now. A fork of us has none of its own."""
        if self._owner != os.getpid():
            self._child = None
        if self._child is not None and self._child.poll() is None:
            return False
        self._end()
        arguments = [str(_ROOT), str(self._timeout_ms), str(self._memory_mb)]
        self._child = subprocess.Popen(  # noqa: S603 (our own interpreter and code)
            [sys.executable, "-c", _START, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._owner = os.getpid()
        return True

    def _end(self) -> None:
        child, self._child = self._child, None
        if child is None:
            return
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:
                    continue
        try:
            child.wait(timeout=2)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
