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
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hgmem.api.errors import ApiError, BadAnswer, RateLimited, ServerError
from hgmem.periodic import Periodic
from hgmem.recording.buffer import Buffer
from hgmem.recording.delivery import DOCUMENT, NOTE, Delivery, Document, Send
from hgmem.recording.lanes import SEGMENT_BYTES, Lane, read_frames

log = logging.getLogger(__name__)

TURN_S: Final = 0.25
SLOWEST_S: Final = 60.0
SYNC_EVERY_S: Final = 1.0
ADOPT_EVERY_S: Final = 30.0
MAX_MEMORY_BYTES: Final = 16 * 1024 * 1024
WARN_EVERY_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class Stats:
    """How recording goes, since this process began.

    ``waiting_bytes`` are on disk, the oldest of them for about ``oldest_s`` seconds; ``in_memory`` entries
    are only in this process; ``dropped`` ones are lost. ``delivered`` and ``refused`` count documents as sent
    (those of one task joined) and decisions.
    """

    waiting_bytes: int
    oldest_s: float
    in_memory: int
    recorded: int
    delivered: int
    refused: int
    dropped: int
    last_error: str


class Recorder:
    """Takes documents and notes from any thread; delivers them in one of its own."""

    _lane: Lane | None
    _making: threading.Lock
    _handled: int
    _lane_not_before: float
    _not_before: float
    _adopted_at: float
    _synced_at: float
    _warned_at: float

    def __init__(
        self,
        home: Path,
        limit_bytes: int,
        send_documents: Send,
        send_notes: Send,
        *,
        sync_each: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``home`` is for one server and key alone: what waits there is sent to it, whoever recorded it.

        ``sync_each``: :meth:`record` waits for the disk itself, and the death of the machine loses nothing.
        """
        self.home = home
        self._limit = limit_bytes
        self._sync_each = sync_each
        self._send = (send_documents, send_notes)
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
        self._not_before = float("-inf")
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
        self._spill()
        lane, self._lane = self._lane, None
        if lane is not None:
            lane.release()
        return done

    def adopt(self, home: Path | None = None) -> int:
        """Take over at once what dead processes left, here or in another ``home``; how many segments."""
        try:
            lane = self._own_lane()
            taken = lane.adopt(home / "spool" if home else None) if lane is not None else 0
        except OSError as error:
            log.warning("What others left in %s cannot be taken over: %s", home or self.home, error)
            return 0
        self._count(taken)  # so that a flush waits for them
        return taken

    def stats(self) -> Stats:
        """Counts since this process began."""
        lane = self._lane
        return Stats(
            waiting_bytes=lane.bytes if lane else 0,
            oldest_s=lane.oldest_s() if lane else 0.0,
            in_memory=len(self._memory),
            recorded=self._recorded,
            delivered=self._delivery.delivered,
            refused=self._delivery.refused,
            dropped=self._unreadable + self._memory.dropped,
            last_error=self._last_error,
        )

    def turn(self) -> None:
        """Deliver what waits, unless it is too early to try again. Whatever goes wrong, it is kept."""
        with self._delivering:
            try:
                lane = self._own_lane()
            except OSError:
                lane = None
            try:
                self._adopt_now_and_then(lane)
                if self._clock() >= self._not_before:
                    self._deliver(lane)
            except Exception as error:  # a broken disk, a broken sender: later it may be well again
                self._put_off(error)
            self._sync_now_and_then(lane)

    def _deliver(self, lane: Lane | None) -> None:
        """Segments oldest first, then what is in memory. Raises the error that says: not now."""
        goal = self._recorded
        for segment in lane.seal() if lane is not None else ():
            self._send_entries(read_frames(segment), str(segment))
            if lane is not None:
                lane.discard(segment)
            self._sent.pop(str(segment), None)
            self._sync_now_and_then(lane)
        while entries := self._memory.take(SEGMENT_BYTES):
            try:
                self._send_entries(entries, "")
            except BaseException:
                self._memory.put_back(entries)
                raise
        self._handled = max(self._handled, goal)
        self._failures = 0
        self._last_error = ""

    def _send_entries(self, entries: Iterable[bytes], segment: str) -> None:
        """Batch after batch; those of a segment that arrived at an earlier try are left out."""
        for number, (kind, batch) in enumerate(self._delivery.batches(entries)):
            if number >= self._sent.get(segment, 0):
                self._delivery.send(kind, batch)
                if segment:
                    self._sent[segment] = number + 1

    def _adopt_now_and_then(self, lane: Lane | None) -> None:
        now = self._clock()
        if lane is not None and now - self._adopted_at >= ADOPT_EVERY_S:
            self._adopted_at = now
            lane.adopt()

    def _sync_now_and_then(self, lane: Lane | None) -> None:
        now = self._clock()
        if lane is not None and now - self._synced_at >= SYNC_EVERY_S:
            self._synced_at = now
            try:
                lane.sync()
            except OSError as error:
                self._warn("The spool in %s cannot be synced: %s", error)

    def _put_off(self, error: Exception) -> None:
        """Not now: the next try is later each time; what does not mend itself is tried once a minute."""
        self._failures += 1
        pause_s = min(0.5 * float(2 ** min(self._failures, 10)), SLOWEST_S)
        least_s = 0.0
        if isinstance(error, RateLimited | ServerError):
            least_s = error.retry_after_s
        elif isinstance(error, ApiError | BadAnswer):
            pause_s = SLOWEST_S
        spread = random.random()  # noqa: S311 - many clients do not come back at once
        self._not_before = self._clock() + max(pause_s * (0.5 + 0.5 * spread), least_s * (1 + 0.1 * spread))
        said = str(error) or type(error).__name__
        if said != self._last_error:
            log.warning("What was recorded cannot be delivered now; it is kept: %s", said)
        self._last_error = said

    def _keep(self, kind: bytes, document: Document) -> bool:
        try:
            text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
        except (TypeError, ValueError, RecursionError) as error:
            log.warning("A document is no JSON and is not recorded: %s", error)
            self._unreadable += 1
            return False
        is_safe = self._write(kind + text.encode("utf-8", "replace"))
        self._count(1)
        try:
            self._thread.start()
        except RuntimeError as error:  # no more threads, or the interpreter ends: the next one delivers
            self._warn("Nothing of %s is delivered now: %s", error)
        return is_safe

    def _write(self, payload: bytes) -> bool:
        try:
            self._append(payload)
        except OSError as error:
            self._warn("The spool in %s takes nothing (%s); recording goes on in memory.", error)
            self._memory.add(payload)
            return False
        return True

    def _append(self, payload: bytes) -> None:
        lane = self._own_lane()
        if lane is None:
            raise OSError("there is no spool")
        try:
            lane.append(payload)
        except FileNotFoundError:  # somebody deleted the folder: another one
            with self._making:
                if self._lane is lane:
                    lane.forget()
                    self._lane = None
            raise

    def _own_lane(self) -> Lane | None:
        """The lane of this process. After the disk refused one, it is asked again once a minute."""
        if self._lane is None and self._clock() >= self._lane_not_before:
            with self._making:
                if self._lane is None:
                    try:
                        self._lane = Lane(self.home / "spool", self._limit, sync_each=self._sync_each)
                    except OSError:
                        self._lane_not_before = self._clock() + SLOWEST_S
                        raise
        return self._lane

    def _spill(self) -> None:
        """At the end: what is still in memory goes to the disk if there is room by now."""
        while self._lane is not None and (entries := self._memory.take(1)):
            try:
                self._lane.append(entries[0])
            except OSError:
                self._memory.put_back(entries)
                break
        if lost := len(self._memory):
            self._memory.drop_all()
            log.warning("%s entries that only were in memory are lost.", lost)

    def _count(self, entries: int) -> None:
        with self._counting:
            self._recorded += entries

    def _warn(self, text: str, error: Exception) -> None:
        """At most once a minute: a full disk is met by every call."""
        now = self._clock()
        if now - self._warned_at > WARN_EVERY_S:
            self._warned_at = now
            log.warning(text, self.home, error)

    def _start_over(self) -> None:
        self._lane = None
        self._lane_not_before = float("-inf")
        self._making = threading.Lock()
        self._delivering = threading.Lock()
        self._counting = threading.Lock()
        self._memory = Buffer(MAX_MEMORY_BYTES)
        self._delivery = Delivery(self.home, *self._send)
        self._sent: dict[str, int] = {}
        self._recorded = self._handled = self._unreadable = 0
        self._failures = 0
        self._not_before = self._adopted_at = self._warned_at = float("-inf")
        self._synced_at = self._clock()
        self._last_error = ""

    def _after_fork(self) -> None:
        """The parent delivers what the parent recorded."""
        if self._lane is not None:
            self._lane.forget()
        self._start_over()
