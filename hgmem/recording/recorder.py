"""The recorder: what a caller hands over is on disk when it returns, and on the server a little later.

One thread delivers. What the server has taken is deleted; what it could not take for now is sent again for
ever, slower and slower up to a minute; what it refuses is set aside in ``home/refused`` with the reason. The
server merges by task and place of the call, so sending something twice changes nothing: at least once
delivery, exactly once effect.
"""

import json
import logging
import os
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from hgmem.api.errors import ApiError, AuthError, HGMemError, PermissionDenied, RateLimited, ServerError
from hgmem.periodic import Periodic
from hgmem.recording.lanes import Lane, append_refused, read_frames, sync_file
from hgmem.recording.merging import merge_documents

log = logging.getLogger(__name__)
Document = Mapping[str, Any]
Send = Callable[[Sequence[Document]], Sequence[Mapping[str, Any]]]
"""Sends a batch; a result for each item with ``status``. Raises an HGMemError when it did not arrive."""

TURN_S: Final = 0.25
SLOWEST_S: Final = 60.0
ADOPT_EVERY_S: Final = 30.0
MAX_MEMORY_BYTES: Final = 16 * 1024 * 1024
MAX_BATCH_BYTES: Final = 2 * 1024 * 1024
MAX_BATCH: Final = 100
WARN_EVERY_S: Final = 60.0
TAKEN: Final = frozenset(("created", "updated", "unchanged"))
DOCUMENT: Final = b"d"
NOTE: Final = b"n"
KINDS: Final = {DOCUMENT: "experience", NOTE: "receipt"}


@dataclass(frozen=True, slots=True)
class Stats:
    """How recording goes. ``waiting_bytes`` are on disk, ``in_memory`` entries only in this process."""

    waiting_bytes: int
    in_memory: int
    recorded: int
    delivered: int
    refused: int
    dropped: int
    last_error: str


class Recorder:
    """Takes documents and notes from any thread; delivers them in one of its own."""

    _lane: Lane | None
    _memory: deque[bytes]
    _memory_bytes: int
    _dropped: int
    _lane_not_before: float
    _adopted_at: float
    _warned_at: float
    _not_before: float
    _making: threading.Lock

    def __init__(
        self,
        home: Path,
        limit_bytes: int,
        send_documents: Send,
        send_notes: Send,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._home = home
        self._limit = limit_bytes
        self._senders: dict[bytes, Send] = {DOCUMENT: send_documents, NOTE: send_notes}
        self._clock = clock
        self._thread = Periodic("hgmem-recorder", TURN_S, self.turn)
        self._start_over()
        os.register_at_fork(after_in_child=self._after_fork)

    def record(self, document: Document) -> bool:
        """Keep an experience document. True: it is on disk and will be delivered. Never raises.

        False: the disk would not take it; it waits in memory, where up to 16 MiB have room.
        """
        return self._keep(DOCUMENT, document)

    def note(self, decision: Document) -> bool:
        """Keep a decision that was made here, as ``POST receipts`` takes it."""
        return self._keep(NOTE, decision)

    def flush(self, timeout_s: float = 5.0) -> bool:
        """Deliver all that was recorded before; whether the server has it, in at most so many seconds."""
        until = self._clock() + timeout_s
        goal = self._recorded
        self._not_before = 0.0
        while self._handled < goal and self._clock() < until:
            if self._thread.running:
                self._thread.wake()
                time.sleep(0.005)
            else:
                self.turn()
                if self._handled < goal:
                    time.sleep(0.05)
        return self._handled >= goal

    def close(self, timeout_s: float = 2.0) -> bool:
        """Deliver what is possible in the time; the rest stays on disk for the next process."""
        done = self.flush(timeout_s) if self._recorded > self._handled else True
        self._thread.stop(timeout_s=1.0)
        if self._lane is not None:
            self._spill()
            self._lane.release()
            self._lane = None
        return done

    def adopt(self) -> int:
        """Take over at once what dead processes left; how many segments."""
        try:
            lane = self._own_lane()
        except OSError:
            return 0
        taken = lane.adopt() if lane is not None else 0
        self._recorded += taken  # so that a flush waits for them
        return taken

    def stats(self) -> Stats:
        """Counts since this process began."""
        return Stats(
            waiting_bytes=self._lane.bytes if self._lane else 0,
            in_memory=len(self._memory),
            recorded=self._recorded,
            delivered=self._delivered,
            refused=self._refused,
            dropped=self._dropped,
            last_error=self._last_error,
        )

    def turn(self) -> None:
        """Deliver what waits, unless it is too early to try again."""
        with self._delivering:
            now = self._clock()
            try:
                lane = self._own_lane()
            except OSError:
                lane = None
            if lane is not None and now - self._adopted_at >= ADOPT_EVERY_S:
                self._adopted_at = now
                lane.adopt()
            if now < self._not_before:
                return
            try:
                self._deliver(lane)
            except HGMemError as error:
                self._put_off(error)

    def _deliver(self, lane: Lane | None) -> None:
        """Segments oldest first, then what is in memory. Raises the error that says: not now."""
        goal = self._recorded
        if lane is not None:
            for segment in lane.seal():
                self._deliver_segment(lane, segment)
        while self._memory:
            waiting = list(self._memory)
            self._send_all(waiting)
            for _ in waiting:
                self._memory_bytes -= len(self._memory.popleft())
        self._handled = goal
        self._failures = 0
        self._last_error = ""

    def _deliver_segment(self, lane: Lane, segment: Path) -> None:
        try:
            self._send_all(read_frames(segment))
        except HGMemError:
            if segment.name not in self._synced:
                sync_file(segment)
                self._synced.add(segment.name)
            raise
        lane.discard(segment)
        self._synced.discard(segment.name)

    def _send_all(self, frames: Iterable[bytes]) -> None:
        kinds: dict[bytes, list[dict[str, Any]]] = {DOCUMENT: [], NOTE: []}
        for frame in frames:
            if frame[:1] in kinds:
                kinds[frame[:1]].append(json.loads(frame[1:]))
        for kind, items in ((DOCUMENT, list(merge_documents(kinds[DOCUMENT]))), (NOTE, kinds[NOTE])):
            for batch in _batches(items):
                self._send(kind, batch)

    def _send(self, kind: bytes, batch: list[dict[str, Any]]) -> None:
        """Send a batch; where the server refuses it whole, each item alone, so that one holds up no other."""
        try:
            results = self._senders[kind](batch)
        except (AuthError, PermissionDenied, RateLimited, ServerError):
            raise
        except ApiError as error:
            if len(batch) == 1:
                self._set_aside(kind, batch[0], {"status": error.status, "detail": str(error)})
                return
            for item in batch:
                self._send(kind, [item])
            return
        for item, result in zip(batch, results, strict=True):
            if result.get("status") in TAKEN:
                self._delivered += 1
            else:
                self._set_aside(kind, item, result)

    def _put_off(self, error: HGMemError) -> None:
        """Not now: the next try is later each time; wrong keys are tried once a minute."""
        self._failures += 1
        pause_s = min(0.5 * float(2 ** min(self._failures, 10)), SLOWEST_S)
        if isinstance(error, AuthError | PermissionDenied):
            pause_s = SLOWEST_S
        elif isinstance(error, RateLimited | ServerError):
            pause_s = max(pause_s, error.retry_after_s)
        self._not_before = self._clock() + pause_s * (1 + random.random() * 0.1)  # noqa: S311 - spreads load
        if str(error) != self._last_error:
            log.warning("What was recorded cannot be delivered now; it is kept: %s", error)
        self._last_error = str(error)

    def _keep(self, kind: bytes, document: Document) -> bool:
        try:
            text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
            payload = kind + text.encode("utf-8", "surrogatepass")
        except (TypeError, ValueError, RecursionError) as error:
            log.warning("A document is no JSON and is not recorded: %s", error)
            self._dropped += 1
            return False
        is_safe = self._write(payload)
        self._recorded += 1
        self._thread.start()
        return is_safe

    def _write(self, payload: bytes) -> bool:
        try:
            lane = self._own_lane()
            if lane is None:
                raise OSError("there is no spool")
            lane.append(payload)
        except OSError as error:
            self._keep_in_memory(payload, error)
            return False
        return True

    def _keep_in_memory(self, payload: bytes, error: OSError) -> None:
        now = self._clock()
        if now - self._warned_at > WARN_EVERY_S:
            self._warned_at = now
            log.warning("The spool in %s takes nothing (%s); recording goes on in memory.", self._home, error)
        self._memory.append(payload)
        self._memory_bytes += len(payload)
        while self._memory_bytes > MAX_MEMORY_BYTES and len(self._memory) > 1:
            self._memory_bytes -= len(self._memory.popleft())
            self._dropped += 1

    def _own_lane(self) -> Lane | None:
        """The lane of this process. After the disk refused one, it is asked again once a minute."""
        if self._lane is None and self._clock() >= self._lane_not_before:
            with self._making:
                if self._lane is None:
                    try:
                        self._lane = Lane(self._home / "spool", self._limit)
                    except OSError:
                        self._lane_not_before = self._clock() + SLOWEST_S
                        raise
        return self._lane

    def _spill(self) -> None:
        """At the end: what is still in memory goes to the disk if there is room by now."""
        while self._memory and self._lane is not None:
            try:
                self._lane.append(self._memory[0])
            except OSError:
                self._dropped += len(self._memory)
                return
            self._memory.popleft()

    def _set_aside(self, kind: bytes, item: Document, result: Document) -> None:
        """The server will never take it: kept with the reason in ``home/refused``, for a person."""
        self._refused += 1
        reason = {name: result.get(name) for name in ("status", "detail", "errors") if result.get(name)}
        log.warning(
            "The server refused what was recorded of %s: %s", item.get("external_id", "a decision"), reason
        )
        row = json.dumps({"kind": KINDS[kind], "reason": reason, "item": item}, ensure_ascii=False)
        try:
            append_refused(self._home / "refused", row.encode("utf-8", "surrogatepass"))
        except OSError as error:
            log.warning("It cannot be set aside either: %s", error)

    def _start_over(self) -> None:
        self._lane = None
        self._lane_not_before = float("-inf")
        self._making = threading.Lock()
        self._delivering = threading.Lock()
        self._memory = deque()
        self._memory_bytes = 0
        self._synced: set[str] = set()
        self._recorded = self._handled = self._delivered = self._refused = self._dropped = 0
        self._failures = 0
        self._not_before = self._adopted_at = float("-inf")
        self._warned_at = float("-inf")
        self._last_error = ""

    def _after_fork(self) -> None:
        """The parent delivers what the parent recorded."""
        if self._lane is not None:
            self._lane.forget()
        self._start_over()


def _batches(items: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    batch: list[dict[str, Any]] = []
    size = 0
    for item in items:
        length = len(json.dumps(item))
        if batch and (size + length > MAX_BATCH_BYTES or len(batch) >= MAX_BATCH):
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += length
    if batch:
        yield batch
