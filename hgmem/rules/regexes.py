"""The subset of RE2 that Python's ``re`` matches in the same way and in bounded time.

Everything else (alternation under a repeat, nested repeats, flags, Unicode classes...) goes to the
linear-time engine of the CEL runtime. Syntax: https://github.com/google/re2/wiki/Syntax
"""

import re
from collections import Counter
from functools import lru_cache

_CLASSES = {"d": "0-9", "w": "0-9A-Za-z_", "s": r"\t\n\f\r "}
_PUNCTUATION = frozenset(r"\.+*?()|[]{}^$-/:;,'\"#@&%!~<>= " + "`")
_MAX_REPEAT = 64
_MAX_OPTIONAL = 3
_MAX_ALTERNATIVES = 20
_TOKEN = re.compile(
    r"(?P<escape>\\(?P<escaped>.))"
    r"|(?P<set>\[(?P<inner>\^?(?:\\.|[^\]\\\[])+)\])"
    r"|(?P<repeat>[*+?]|\{\d+(?:,\d*)?\})"
    r"|(?P<group>\((?:\?:)?)|(?P<close>\))|(?P<other>[^\\\[\]*+?{}()])",
    re.DOTALL,
)


@lru_cache(maxsize=10_000)
def simple_pattern(source: str, *, capture: bool = False) -> re.Pattern[str] | None:
    """A compiled ``re`` pattern that searches exactly as RE2 does, or None outside the subset.

    ``capture`` keeps the groups, for replacements; otherwise they only group.
    """
    if not source.isprintable():
        return None
    translated = _translate(source, capture=capture)
    try:
        return None if translated is None else re.compile(translated, re.ASCII)
    except re.error:
        return None


def required_literal(source: str) -> tuple[str, str] | None:
    """Text that every match contains: ("prefix" or "contains", text), or None when none is sure."""
    if simple_pattern(source) is None or "|" in source:
        return None
    runs: list[str] = [""]
    anchored = False
    for token in _TOKEN.finditer(source):
        other = token["other"]
        if token["repeat"]:
            runs[-1:] = [runs[-1][:-1], ""]
        elif other and other not in "^$.":
            runs[-1] += other
        elif token["escape"] and token["escaped"] in _PUNCTUATION:
            runs[-1] += token["escaped"]
        else:
            anchored = anchored or (other == "^" and token.start() == 0)
            runs.append("")
    if anchored and len(runs) > 1 and runs[1]:
        return "prefix", runs[1]
    longest = max(runs, key=len)
    return ("contains", longest) if longest else None


def has_open_repeat(source: str) -> bool:
    """Whether a pattern may need time quadratic in the text."""
    kinds = (_repeat_kind(token["repeat"]) for token in _TOKEN.finditer(source) if token["repeat"])
    return "open" in kinds


def _translate(source: str, *, capture: bool) -> str | None:
    out: list[str] = []
    at, repeatable, depth = 0, False, 0
    seen: Counter[str] = Counter()
    while at < len(source):
        token = _TOKEN.match(source, at)
        if token is None:
            return None
        at = token.end()
        if token["repeat"]:
            if not repeatable or not _is_small(token["repeat"]):
                return None
            seen[_repeat_kind(token["repeat"])] += 1
            out.append(token["repeat"])
            repeatable = False
            continue
        piece, repeatable = _piece(token, capture=capture)
        if piece is None:
            return None
        seen[token["group"] or token["other"] or ""] += 1
        depth += bool(token["group"]) - bool(token["close"])
        if depth < 0:
            return None
        out.append(piece)
    return None if depth or not _is_bounded(source, seen) else "".join(out)


def _repeat_kind(repeat: str) -> str:
    if repeat == "?":
        return "optional"
    return "open" if repeat in "*+" or "," in repeat else "fixed"


def _is_bounded(source: str, seen: Counter[str]) -> bool:
    """Whether backtracking stays quadratic: few choices, one open repeat for each start position."""
    anchored = source.startswith("^") and not seen["|"]
    groups = seen["("] + seen["(?:"]
    return (
        seen["open"] <= 1 + anchored
        and seen["optional"] <= _MAX_OPTIONAL
        and seen["|"] <= _MAX_ALTERNATIVES
        and (not seen["|"] or groups <= 1)
    )


def _is_small(repeat: str) -> bool:
    numbers = [int(number) for number in re.findall(r"\d+", repeat)]
    return max(numbers, default=0) <= _MAX_REPEAT and numbers == sorted(numbers)


def _piece(token: re.Match[str], *, capture: bool) -> tuple[str | None, bool]:
    """The translated text of a token and whether a repeat may follow it."""
    if token["escape"]:
        return _escape(token["escaped"])
    if token["set"]:
        return _set(token["inner"]), True
    if token["group"]:
        return (token["group"] if capture else "(?:"), False
    other = token["close"] or token["other"]
    fixed = {"^": r"\A", "$": r"\Z", "|": "|", ")": ")"}.get(other)
    if fixed is not None:
        return fixed, False
    return other if other == "." else re.escape(other), True


def _escape(escaped: str) -> tuple[str | None, bool]:
    if escaped == "b":
        return r"\b", False
    if escaped in _CLASSES:
        return f"[{_CLASSES[escaped]}]", True
    return (re.escape(escaped), True) if escaped in _PUNCTUATION else (None, False)


def _set(inner: str) -> str | None:
    negated = inner.startswith("^")
    body = inner[negated:]
    out: list[str] = []
    for escape, plain in re.findall(r"\\(.)|([^\\])", body, re.DOTALL):
        if escape in _CLASSES and escape:
            out.append(_CLASSES[escape])
        elif escape:
            if escape not in _PUNCTUATION:
                return None
            out.append("\\" + escape)
        else:
            out.append("\\" + plain if plain in "&|~^[" else plain)
    text = "".join(out)
    if re.search(r"-.*-|^-|-$", text.replace("0-9", "").replace("A-Z", "").replace("a-z", "")):
        return None
    return f"[{'^' if negated else ''}{text}]"
