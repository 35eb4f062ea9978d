"""Which format a file is in, from its first bytes."""

import re
import zlib

FORMATS = ("runs", "chat", "claude_code", "langfuse", "otlp")
HEAD_BYTES = 64 * 1024
# Names that give a format away, the most telling format first.
SIGNS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("otlp", (r'"resource_?[sS]pans"\s*:',)),
    ("runs", (r'"path_id"\s*:', r'"steps"\s*:')),
    ("claude_code", (r'"sessionId"\s*:', r'"(parentUuid|leafUuid|isSidechain)"\s*:')),
    ("claude_code", (r'\A\s*\{"type"\s*:\s*"(summary|file-history-snapshot)"',)),
    ("langfuse", (r'"(traceId|trace_id)"\s*:', r'"type"\s*:\s*"(SPAN|GENERATION|TOOL|EVENT|AGENT|CHAIN)"')),
    ("langfuse", (r'"(observations)"\s*:', r'"(parentObservationId|statusMessage|traceId)"\s*:')),
    ("chat", (r'"(traj|messages)"\s*:',)),
    ("chat", (r'"role"\s*:\s*"(system|user|assistant|developer)"',)),
    ("chat", (r'"type"\s*:\s*"function_call(_output)?"',)),
)
CSV_NAMES = (("traceId", "trace_id"), ("type",))


def detect_format(head: bytes) -> str | None:
    """The format of a file that begins with `head` (64 KiB are enough, gzip or not); None when unknown."""
    text = _unpacked(head[:HEAD_BYTES]).removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    if text.lstrip()[:1] not in ("{", "["):
        return "langfuse" if _is_langfuse_csv(text) else None
    return next((name for name, signs in SIGNS if all(re.search(sign, text) for sign in signs)), None)


def _unpacked(head: bytes) -> bytes:
    if not head.startswith(b"\x1f\x8b"):
        return head
    try:
        return zlib.decompressobj(wbits=31).decompress(head, HEAD_BYTES)
    except zlib.error:
        return b""


def _is_langfuse_csv(text: str) -> bool:
    header = text.lstrip().split("\n", 1)[0]
    columns = {column.strip().strip('"') for column in header.split(",")}
    return all(any(name in columns for name in names) for names in CSV_NAMES)
