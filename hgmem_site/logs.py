"""Log lines for people or for machines, never with a secret in them."""

import json
import logging
import re
import time
from typing import Any

SECRETS = re.compile(r"hgm_[\w-]{6,}|(?i:(?<=bearer )[\w.~+/=-]{8,})|(?<=://)[^\s:/@]*:[^\s/@]+(?=@)")
"""API keys, bearer tokens, and the user and password of a URL."""
OWN = frozenset(logging.LogRecord("", 0, "", 0, "", None, None).__dict__) | {"message", "asctime", "taskName"}


def masked(text: str) -> str:
    """The text with every secret replaced by ``***``."""
    return SECRETS.sub("***", text)


class LineFormatter(logging.Formatter):
    """One line a record, UTC."""

    converter = staticmethod(time.gmtime)

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s", "%Y-%m-%dT%H:%M:%SZ")

    def format(self, record: logging.LogRecord) -> str:
        """The line, without secrets; also none in the trace below it."""
        return masked(super().format(record))


class JSONFormatter(logging.Formatter):
    """One JSON object a line: ``at`` (Unix seconds), level, logger, message, extras and ``trace``."""

    def format(self, record: logging.LogRecord) -> str:
        """The object, without secrets."""
        entry: dict[str, Any] = {
            "at": round(record.created, 3),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        entry |= {name: str(value) for name, value in record.__dict__.items() if name not in OWN}
        if record.exc_info:
            entry["trace"] = self.formatException(record.exc_info)
        return masked(json.dumps(entry, ensure_ascii=False))
