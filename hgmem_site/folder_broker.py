"""Kombu's filesystem transport, made safe for a reader and a writer at the same moment.

Kombu creates a message's file first and writes it afterwards: a worker that looks in between reads an empty
file and stops. Here a message appears under its name only when it is whole, and what cannot be read is
passed over: a message is only a bell, the rows are the queue.
"""

# mypy: disable-error-code="no-untyped-call,misc,override"
import logging
from pathlib import Path
from time import monotonic
from typing import Any
from uuid import uuid4

from kombu.exceptions import ChannelError
from kombu.transport import TRANSPORT_ALIASES, filesystem
from kombu.utils.json import dumps

logger = logging.getLogger(__name__)


def use_folder_broker() -> None:
    """Let ``filesystem://`` mean this transport."""
    TRANSPORT_ALIASES["filesystem"] = f"{__name__}:Transport"


class Channel(filesystem.Channel):
    """Messages as files, each put in place by a rename."""

    def _put(self, queue: str, payload: Any, **_: Any) -> None:
        name = f"{round(monotonic() * 1000)}_{uuid4()}.{queue}.msg"
        draft = Path(self.data_folder_out, f"{name}.part")  # a name that no reader looks for
        try:
            draft.write_text(dumps(payload))
            draft.rename(draft.with_name(name))
        except OSError as error:
            raise ChannelError(f"Cannot write the message {name}") from error

    def _get(self, queue: str) -> Any:
        while True:
            try:
                return super()._get(queue)
            except ValueError:  # its file is already taken away
                logger.warning("passed over a message of %s that cannot be read", queue)

    def get_table(self, exchange: str) -> list[Any]:
        """Who listens to an exchange; nobody while that is being written."""
        try:
            return super().get_table(exchange)  # type: ignore[no-any-return]
        except ValueError:
            return []

    def _queue_bind(self, exchange: str, routing_key: str, pattern: str, queue: str) -> None:
        try:
            super()._queue_bind(exchange, routing_key, pattern, queue)
        except ValueError:  # left half-written by a process that was killed
            self._exchange_file(exchange).unlink(missing_ok=True)
            super()._queue_bind(exchange, routing_key, pattern, queue)


class Transport(filesystem.Transport):
    """The transport of the embedded profile."""

    Channel = Channel
