"""What went wrong on a path that failed, in words for the next agent. Pure."""

from typing import Any

import msgspec

from memory.domain.paths.document import PathDoc
from memory.domain.paths.event_texts import event_text

MAX_WARNINGS = 3
MAX_WORDS = 400
SILENT = "The task failed although no single call of it did."

_encode = msgspec.json.Encoder(enc_hook=str).encode


def went_wrong(doc: PathDoc) -> list[str]:
    """The last things that went wrong on it, oldest first, each on one line of at most ``MAX_WORDS``.

    They are what its events say, in the words that came back, and what was said about its end. Never empty.
    """
    said = [text for node in doc.nodes if node.kind == "event" and (text := _line(event_text(node)))]
    note = next((node.details["end"] for node in reversed(doc.nodes) if "end" in node.details), None)
    if isinstance(note, dict) and note.get("note"):
        said.append(_line(note["note"]))
    found = list(dict.fromkeys(said))[-MAX_WARNINGS:]
    return found or [SILENT]


def _line(value: Any) -> str:
    text = value if isinstance(value, str) else _encode(value).decode()
    text = " ".join(text.split())
    return text if len(text) <= MAX_WORDS else text[: MAX_WORDS - 1] + "…"
