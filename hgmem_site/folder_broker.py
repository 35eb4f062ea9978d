"""Kombu's broker in a folder, with messages that appear whole or not at all.

Kombu creates a message's file first and fills it afterwards: a worker that looks in between reads an empty
message and ends for good, and so does one that finds what a power cut left of one.
"""

import json
import os
import time
import uuid
from pathlib import Path
from queue import Empty
from typing import Any

from kombu.exceptions import ChannelError
from kombu.transport import TRANSPORT_ALIASES, filesystem
from kombu.utils.json import dumps

BIND_TRIES = 4
BIND_PAUSE_S = 0.1


class Channel(filesystem.Channel):
    """Writes beside the queue and renames; takes a message that cannot be read for none."""

    def _put(self, queue: Any, payload: Any, **kwargs: Any) -> None:  # type: ignore[override]
        name = f"{round(time.monotonic() * 1000)}_{uuid.uuid4()}.{queue}.msg"
        draft = Path(self.data_folder_out, f".{name}.part")
        try:
            draft.write_bytes(dumps(payload).encode())  # type: ignore[no-untyped-call]
            os.replace(draft, draft.with_name(name))
        except OSError as error:
            raise ChannelError(f"The message {name} cannot be written: {error}") from error

    def _get(self, queue: Any, timeout: Any = None) -> Any:
        try:
            return super()._get(queue)  # type: ignore[no-untyped-call]
        except (json.JSONDecodeError, UnicodeDecodeError) as error:  # it is out of the queue by now
            raise Empty from error

    def _queue_bind(self, exchange: Any, routing_key: Any, pattern: Any, queue: Any) -> None:
        for attempt in range(BIND_TRIES):
            try:
                super()._queue_bind(exchange, routing_key, pattern, queue)  # type: ignore[no-untyped-call]
                return
            except json.JSONDecodeError:  # another process is writing it, or did not live to
                time.sleep(BIND_PAUSE_S)
                if attempt == BIND_TRIES - 2:
                    Path(self.control_folder, f"{exchange}.exchange").unlink(missing_ok=True)
        raise ChannelError(f"The folder of the broker cannot be used: {self.control_folder}")


class Transport(filesystem.Transport):
    """What ``filesystem://`` means here."""

    Channel = Channel


def use_for_folders() -> None:
    """Let every connection to ``filesystem://`` in this process be one of ours."""
    TRANSPORT_ALIASES["filesystem"] = f"{__name__}:{Transport.__name__}"
