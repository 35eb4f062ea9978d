"""Sending what waits in batches, and setting aside what the server will never take."""

import json
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from hgmem.api.errors import ApiError, BadAnswer, Conflict, InvalidRequest, TooLarge
from hgmem.recording.lanes import append_refused
from hgmem.recording.merging import merge_documents, split_document

log = logging.getLogger(__name__)
Document = Mapping[str, Any]
Send = Callable[[Sequence[Document]], Sequence[Mapping[str, Any]]]
"""Sends a batch; a result for each item with ``status``. Raises an HGMemError when it did not arrive."""

MAX_BATCH: Final = 100
MAX_BATCH_CALLS: Final = 500
"""What the server takes in one request."""
LOG_EVERY_S: Final = 60.0
TAKEN: Final = frozenset(("created", "updated", "unchanged"))
REFUSALS: Final = (InvalidRequest, Conflict, TooLarge)
DOCUMENT: Final = b"d"
NOTE: Final = b"n"
KINDS: Final = {DOCUMENT: "experience", NOTE: "receipt"}


class Delivery:
    """Sends entries; counts what was ``delivered`` and ``refused``. Raises what says: not now."""

    def __init__(self, home: Path, send_documents: Send, send_notes: Send) -> None:
        self.delivered = 0
        self.refused = 0
        self._home = home
        self._senders: dict[bytes, Send] = {DOCUMENT: send_documents, NOTE: send_notes}
        self._quiet_until = float("-inf")
        self._untold = 0

    def batches(self, entries: Iterable[bytes]) -> Iterator[tuple[bytes, list[dict[str, Any]]]]:
        """Kind and items of each request, the same for the same entries: documents first, then notes."""
        kinds: dict[bytes, list[dict[str, Any]]] = {DOCUMENT: [], NOTE: []}
        for entry in entries:
            if entry[:1] in kinds:
                kinds[entry[:1]].append(json.loads(entry[1:]))
        for kind, items in ((DOCUMENT, list(merge_documents(kinds[DOCUMENT]))), (NOTE, kinds[NOTE])):
            for batch in _batches(items):
                yield kind, batch

    def send(self, kind: bytes, batch: list[dict[str, Any]]) -> None:
        """Send a batch; where the server refuses it whole, its halves, so that no item holds up another.

        Raises:
            HGMemError: the server took none of it, or said nothing that can be understood.
        """
        try:
            results = self._senders[kind](batch)
        except REFUSALS as error:
            if len(batch) > 1:
                middle = len(batch) // 2
                self.send(kind, batch[:middle])
                self.send(kind, batch[middle:])
                return
            results = [_told(error)]
        if len(results) != len(batch) or not all(isinstance(result, Mapping) for result in results):
            raise BadAnswer("The server's answer does not say what became of each item.")
        for item, result in zip(batch, results, strict=True):
            if result.get("status") in TAKEN:
                self.delivered += 1
            else:
                self._refuse(kind, item, result)

    def _refuse(self, kind: bytes, item: dict[str, Any], result: Document) -> None:
        """One wrong call does not take the others of its task with it."""
        parts = split_document(item) if kind == DOCUMENT and _is_about_calls(result) else []
        for batch in _batches(parts):
            self.send(kind, batch)
        if not parts:
            self._set_aside(kind, item, result)

    def _set_aside(self, kind: bytes, item: Document, result: Document) -> None:
        """The server will never take it: kept with the reason in ``home/refused``, for a person."""
        self.refused += 1
        reason = {name: result.get(name) for name in ("status", "detail", "errors") if result.get(name)}
        row = json.dumps({"kind": KINDS[kind], "reason": reason, "item": item}, ensure_ascii=False)
        problem = ""
        try:
            append_refused(self._home / "refused", row.encode("utf-8", "replace"))
        except OSError as error:
            problem = f" It cannot be set aside either: {error}"
        self._tell(f"The server refused what was recorded ({result.get('status')}).{problem}")

    def _tell(self, what: str) -> None:
        self._untold += 1
        if time.monotonic() >= self._quiet_until:
            log.warning("%s In all %s since the last time. See: hgmem spool refused", what, self._untold)
            self._quiet_until = time.monotonic() + LOG_EVERY_S
            self._untold = 0


def _told(error: ApiError) -> dict[str, Any]:
    return {"status": error.status or type(error).__name__, "detail": str(error), "errors": error.fields}


def _is_about_calls(result: Document) -> bool:
    errors = [error for error in result.get("errors") or () if isinstance(error, Mapping)]
    return not errors or any("calls" in str(error.get("field")) for error in errors)


def _count_calls(item: Document) -> int:
    calls = item.get("calls")
    return len(calls) if isinstance(calls, list) else 0


def _batches(items: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    batch: list[dict[str, Any]] = []
    calls = 0
    for item in items:
        more = _count_calls(item)
        if batch and (calls + more > MAX_BATCH_CALLS or len(batch) >= MAX_BATCH):
            yield batch
            batch, calls = [], 0
        batch.append(item)
        calls += more
    if batch:
        yield batch
