"""What an event says, in the words that were seen.

The content of an event is masked so that paths share it (``Unknown column <q>``); what really came back is
its observation, and that is what somebody who walks the path needs.
"""

from typing import Any

import msgspec

from memory.domain.paths.document import NodeDoc

FAILED = " failed: "
"""Between the tool and the masked message in the content of an event."""

_encode = msgspec.json.Encoder(enc_hook=str).encode


def event_text(node: NodeDoc) -> str:
    """The real text on one line, uncut: ``TOOL failed: MESSAGE``, else the content, else what came back."""
    content = _flat(node.content)
    seen = _flat(node.observation) if node.observation is not None else ""
    tool, between, _masked = content.partition(FAILED)
    if seen and between:
        return f"{tool}{between}{seen}"
    return content or seen


def _flat(value: Any) -> str:
    text = value if isinstance(value, str) else _encode(value).decode()
    return " ".join(text.split())
