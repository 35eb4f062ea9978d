"""Taking an error message apart: what is said (the template), and about what (the identifier).

Literals that change from call to call (amounts, times, ids, hashes, redaction markers) are masked and
never become an identifier. Of the rest, the word that the message blames is found by how it is
written (quoted, named as a field, spelt like a name) and by whether the call itself contains it.
"""

import re
from typing import NamedTuple

MAX_MESSAGE = 1_000
MAX_NAME = 80
_ROOM_FOR_WORDS = 3

_STRAIGHT = "'\"`"
_PAIRS = (
    ("\u2018", "\u2019"),
    ("\u201c", "\u201d"),
    ("\u201e", "\u201c"),
    ("\u00ab", "\u00bb"),
    ("\u300c", "\u300d"),
    ("\u300e", "\u300f"),
)
_QUOTED = re.compile(
    "|".join(
        [
            rf"(?<!\w){q}([^{q}\n]{{1,400}}(?:{q}(?=\w)[^{q}\n]{{1,400}}){{0,3}}){q}(?!\w)" for q in _STRAIGHT
        ]  # an apostrophe inside a word neither opens nor closes
        + [rf"{start}([^{end}\n]{{1,400}}){end}" for start, end in _PAIRS]
    )
)
_UNCLOSED = re.compile(r"(?:(?<=\s)|^)['\"`](?P<rest>[^'\"`\n]{20,})$")
_VOLATILE = re.compile(
    r"(?P<redacted>\[redacted:[a-z0-9_]+(?::[0-9a-f]{4})?\])"
    r"|(?P<uuid>\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b)"
    r"|(?P<time>\b[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?"
    r"|\b[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?\b|\b[0-9]{1,4}/[0-9]{1,2}/[0-9]{1,4}\b)"
    r"|(?P<hex>\b0x[0-9a-fA-F]+\b|\b(?=[0-9a-fA-F]{0,40}[0-9])(?=[0-9a-fA-F]{0,40}[a-fA-F])[0-9a-fA-F]{12,}\b)"
    r"|(?P<id>(?<![\w.-])[A-Za-z_.-]*[0-9]{5,}[\w.-]*(?<![.-]))"
    r"|(?P<n>(?<![\w.])[#$€£¥+-]?[0-9]+(?:[.,][0-9]+)*(?:e[+-]?[0-9]+)?(?:%|ms|s|kb|mb|gb|px)?(?!\w))",
)
_MASKS = {"redacted": "<redacted>", "uuid": "<id>", "time": "<time>", "hex": "<id>", "id": "<id>", "n": "<n>"}
_NAME = re.compile(r"(?<![\w$])[\w$]+(?:[.:/\\-]+[\w$]+)*")
_LIST = re.compile(r"\[(?!redacted:)(?=[^\[\]\n]*[,'\"])[^\[\]\n]{1,600}\]")
_LIST_STAND_IN = "\x01"
_BLAMED_LIST = re.compile(
    r"(?i)(?:missing|required|unknown|unexpected|invalid|unrecogni[sz]ed|unsupported|extra|not allowed)"
    r"[\w ]{0,40}[:=]? ?\x01"
)
_WORD = re.compile(r"[\w$]+(?:[.-][\w$]+)*")
_PIECE = re.compile(r"[.:/\\]+")
_NAMED_FIELD = re.compile(
    r"(?i)\b(?:field|parameter|param|argument|property|attribute|option|variable|column|key)s?\b"
    r"(?:\s+named)?\s*[:=]?\s+(?P<a>[A-Za-z_][\w.\[\]-]*)"
    r"|^(?:[\w ]{0,40}:\s+)?(?P<b>(?-i:[a-z_])[\w.]*)"
    r"\s*(?::|\bis\b|\bare\b)?\s*(?:a\s+)?(?:field\s+)?(?:required|missing)\b"
)
_NO_NAME = frozenset(
    (
        *(
            "a",
            "an",
            "and",
            "are",
            "argument",
            "as",
            "at",
            "be",
            "but",
            "by",
            "call",
            "can",
            "cannot",
            "data",
        ),
        *("error", "field", "for", "from", "has", "have", "in", "input", "invalid", "is", "it", "its"),
        *("missing", "must", "name", "no", "not", "of", "on", "or", "parameter", "request", "required"),
        *("should", "that", "the", "this", "to", "type", "unknown", "value", "values", "was", "were"),
        *("which", "with", "you"),
    )
)


class MaskedMessage(NamedTuple):
    """A message taken apart. ``readable`` is the message with its literals as dots, for people."""

    template: str
    identifier: str
    readable: str


class CallWords(NamedTuple):
    """What a call contains, in lower case: names of its fields, words of its values, short whole values."""

    names: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    values: frozenset[str] = frozenset()


def mask_message(message: str, call: CallWords) -> MaskedMessage:
    """Take a message apart, seen beside the call that caused it."""
    text = " ".join(message[:MAX_MESSAGE].replace(_LIST_STAND_IN, " ").split())
    lists = _LIST.findall(text)
    text = _LIST.sub(_LIST_STAND_IN, text)
    quoted = [_span(match) for match in _QUOTED.finditer(text)]
    if not quoted:
        quoted = [(match.start(), match.end(), match["rest"]) for match in _UNCLOSED.finditer(text)]
    outside = _without(text, quoted)
    identifier = (
        _quoted_name([name for _, _, name in quoted], call.names, call.words)
        or _named_in_call(outside, call.words)
        or _whole_value(outside, call.values)
        or _named_field(outside)
        or _spelt_like_a_name(outside)
        or _listed_name(outside, lists)
    )
    return MaskedMessage(
        template=_template(text, quoted, identifier).replace(_LIST_STAND_IN, "<list>"),
        identifier=identifier,
        readable=_readable(text, quoted, identifier).replace(_LIST_STAND_IN, "[…]"),
    )


def words_of(text: str) -> set[str]:
    """The words of a text in lower case, dotted ones whole and in pieces."""
    found: set[str] = set()
    for word in _WORD.findall(text.casefold()):
        found.add(word)
        if "." in word or "-" in word:
            found.update(piece for piece in re.split(r"[.-]", word) if piece)
    return found


def is_volatile(text: str) -> bool:
    """Whether a text is nothing but literals that change from call to call."""
    return not re.search(r"\w", _VOLATILE.sub("", text))


def _span(match: re.Match[str]) -> tuple[int, int, str]:
    return match.start(), match.end(), next(group for group in match.groups() if group is not None)


def _without(text: str, spans: list[tuple[int, int, str]]) -> str:
    for start, end, _ in reversed(spans):
        text = f"{text[:start]}\x00{text[end:]}"
    return _VOLATILE.sub("\x00", text)


def _quoted_name(quoted: list[str], names: frozenset[str], words: frozenset[str]) -> str:
    """A field of the call before a word of the call before any name; the first of equals."""
    candidates = [name.strip() for name in quoted if name.strip() and not is_volatile(name)]
    for name in candidates:
        if name.casefold() in names:
            return name
    for name in candidates:
        if _is_short(name) and _occurs(name, words):
            return name
    for name in candidates:
        if _is_short(name):
            return name
    return candidates[0] if candidates else ""


def _is_short(name: str) -> bool:
    return len(name) <= MAX_NAME and len(name.split()) <= _ROOM_FOR_WORDS


def _occurs(name: str, words: frozenset[str]) -> bool:
    folded = name.casefold()
    return folded in words or _PIECE.split(folded)[-1] in words or words_of(name) <= words


def _named_in_call(outside: str, words: frozenset[str]) -> str:
    for match in _NAME.finditer(outside):
        name = match.group().rstrip(".:-/")
        if _looks_like_a_name(name) and _occurs(name, words):
            return name
    return ""


def _whole_value(outside: str, values: frozenset[str]) -> str:
    """A value of the call that the message repeats as it is; the first one said, the longer of two there."""
    folded = outside.casefold()
    if len(folded) != len(outside):
        return ""
    found = [
        (match.start(), -len(value))
        for value in values
        if value in folded and value not in _NO_NAME and not is_volatile(value)
        for match in re.finditer(rf"(?<!\w){re.escape(value)}(?!\w)", folded)
    ]
    if not found:
        return ""
    start, size = min(found)
    return outside[start : start - size]


def _named_field(outside: str) -> str:
    for match in _NAMED_FIELD.finditer(outside):
        name = (match["a"] or match["b"] or "").rstrip(".:")
        if name and name.casefold() not in _NO_NAME:
            return name
    return ""


def _spelt_like_a_name(outside: str) -> str:
    for match in _NAME.finditer(outside):
        name = match.group().rstrip(".:-/")
        if "=" not in outside[match.end() : match.end() + 1] and _is_dotted_or_snake(name):
            return name
    return ""


def _looks_like_a_name(name: str) -> bool:
    return bool(re.search(r"[0-9_]|\w\.\w|[a-z][A-Z]", name)) or (len(name) > 1 and name.isupper())


def _is_dotted_or_snake(name: str) -> bool:
    return bool(re.search(r"[A-Za-z0-9]_[A-Za-z0-9]", name)) and not re.search(r"://", name)


def _listed_name(outside: str, lists: list[str]) -> str:
    """The first of the names that "missing: ['city']" blames; a list of what there is blames nothing."""
    if len(lists) != 1 or not _BLAMED_LIST.search(outside) or _VOLATILE.search(lists[0]):
        return ""
    names = [_span(match)[2] for match in _QUOTED.finditer(lists[0])]
    return names[0] if names else ""


def _template(text: str, quoted: list[tuple[int, int, str]], identifier: str) -> str:
    parts, last = [], 0
    for start, end, _ in quoted:
        parts += [_masked(text[last:start], identifier), "<q>"]
        last = end
    parts.append(_masked(text[last:], identifier))
    return "".join(parts)


def _masked(text: str, identifier: str) -> str:
    if identifier:
        text = re.sub(rf"(?<!\w){re.escape(identifier)}(?!\w)", "<name>", text)
    return _VOLATILE.sub(lambda match: _MASKS[match.lastgroup or "n"], text)


def _readable(text: str, quoted: list[tuple[int, int, str]], identifier: str) -> str:
    parts, last = [], 0
    for start, end, said in quoted:
        plain = said if said.strip() == identifier or not _VOLATILE.search(said) else "…"
        parts += [_VOLATILE.sub("…", text[last:start]), f"{text[start]}{plain}{text[end - 1]}"]
        last = end
    parts.append(_VOLATILE.sub("…", text[last:]))
    return "".join(parts)
