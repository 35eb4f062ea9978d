"""The solver's side of the pipe: a keeper that never solves, and a worker it may kill.

The keeper has z3 loaded and forks the worker from itself, so a new one is there at once. It hands on each
question and waits for the answer; when the time is over, or the worker is gone, it says so and forks
another. It ends, and its worker with it, when the parent's end of the pipe is closed.
"""

import os
import pickle
import resource
import select
import signal
import struct
import sys
import time
from typing import Any, BinaryIO

from corrections.domain.conflicts.answering import Solving
from corrections.domain.conflicts.questions import Answer

_LENGTH = struct.Struct("!I")
_ANSWERS_KEPT = 2_000
"""A worker is replaced after so many questions: z3 never gives all its memory back."""


def main() -> None:
    """Serve until the pipe closes. Arguments: milliseconds a question, megabytes of memory."""
    timeout_ms, memory_mb = int(sys.argv[1]), int(sys.argv[2])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    questions, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing a library prints may end up among the answers
    keeper = _Keeper(timeout_ms, memory_mb)
    try:
        while (question := read_frame(questions)) is not None:
            write_frame(answers, keeper.ask(question))
    except BrokenPipeError:
        pass
    finally:
        keeper.end()


def read_frame(stream: BinaryIO) -> bytes | None:
    """One message, or None when the other side is gone."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    body = stream.read(length)
    return body if len(body) == length else None


def write_frame(stream: BinaryIO, body: bytes) -> None:
    """Send one message."""
    stream.write(_LENGTH.pack(len(body)) + body)
    stream.flush()


class _Keeper:
    def __init__(self, timeout_ms: int, memory_mb: int) -> None:
        self._timeout_ms = timeout_ms
        self._memory_mb = memory_mb
        self._limit_s = 6 * timeout_ms / 1_000 + 0.5
        self._pid = 0
        self._asked = 0

    def ask(self, question: bytes) -> bytes:
        """The worker's answer, or why there is none."""
        if not self._pid:
            self._fork()
        try:
            write_frame(self._to, question)
            ready = select.select([self._from], [], [], self._limit_s)[0]
            answer = read_frame(self._from) if ready else None
            reason = "the memory was used up" if ready else "the time was over"
        except BrokenPipeError:
            answer, reason = None, "the solver ended"
        self._asked += 1
        if answer is None or self._asked >= _ANSWERS_KEPT:
            self.end()
        return answer if answer is not None else pickle.dumps(Answer("unknown", reason=reason))

    def end(self) -> None:
        """Kill the worker."""
        if not self._pid:
            return
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        self._pid = 0
        self._to.close()
        self._from.close()

    def _fork(self) -> None:
        inner_from, outer_to = os.pipe()
        outer_from, inner_to = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(outer_to)
            os.close(outer_from)
            _work(inner_from, inner_to, self._timeout_ms, self._memory_mb)
        os.close(inner_from)
        os.close(inner_to)
        self._pid, self._asked = pid, 0
        self._to, self._from = os.fdopen(outer_to, "wb"), os.fdopen(outer_from, "rb", buffering=0)


def _work(questions: int, answers: int, timeout_ms: int, memory_mb: int) -> None:
    """The worker: solves until its pipe closes. Never returns."""
    try:
        os.close(0)
        _limit_memory(memory_mb)
        solving = Solving(timeout_ms)
        source, target = os.fdopen(questions, "rb"), os.fdopen(answers, "wb")
        while (frame := read_frame(source)) is not None:
            write_frame(target, pickle.dumps(_answered(solving, pickle.loads(frame))))  # noqa: S301 (our own)
    finally:
        os._exit(0)


def _answered(solving: Solving, question: Any) -> Answer:
    started = time.monotonic()
    try:
        return solving.ask(question)
    except MemoryError:
        raise
    except Exception as fault:  # whatever goes wrong in the solver, the answer is "not proven"
        took = time.monotonic() - started
        return Answer("unknown", reason=f"the solver failed after {took:.1f} s: {fault!r}"[:300])


def _limit_memory(memory_mb: int) -> None:
    """Cap what this process may map beyond what it has now."""
    with open("/proc/self/statm", encoding="ascii") as sizes:
        mapped = int(sizes.read().split()[0]) * resource.getpagesize()
    limit = mapped + memory_mb * 1_048_576
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


if __name__ == "__main__":
    main()
