"""Which of many prefixes, suffixes or contained texts does a text have?"""

from collections.abc import Mapping

from hgmem.rules.compiled import Entry

Texts = Mapping[str, list[Entry]]

_PIECE_COST = 1.5
"""How many searches for a needle cost as much as cutting out and hashing one piece."""
_SHORT_SHARE = 0.1


class AffixTable:
    """Prefixes (or suffixes), found by their first (last) few characters in one look-up.

    The tenth of them that is shorter than those few characters is tried one by one.
    """

    __slots__ = ("_chars", "_heads", "_is_prefix", "_short")

    def __init__(self, texts: Texts, *, is_prefix: bool) -> None:
        self._is_prefix = is_prefix
        lengths = sorted(map(len, texts))
        self._chars = lengths[int(len(lengths) * _SHORT_SHARE)]
        self._short: list[tuple[str, list[Entry]]] = []
        self._heads: dict[str, list[tuple[str, list[Entry]]]] = {}
        for text, entries in texts.items():
            if len(text) < self._chars:
                self._short.append((text, entries))
            else:
                head = text[: self._chars] if is_prefix else text[-self._chars :]
                self._heads.setdefault(head, []).append((text, entries))

    def collect(self, value: str, found: list[Entry]) -> None:
        """Add the entries whose text ``value`` starts (ends) with."""
        if self._is_prefix:
            some = self._heads.get(value[: self._chars])
            for text, entries in some + self._short if some is not None else self._short:
                if value.startswith(text):
                    found += entries
        else:
            some = self._heads.get(value[-self._chars :])
            for text, entries in some + self._short if some is not None else self._short:
                if value.endswith(text):
                    found += entries


class NeedleTable:
    """Texts that a value may contain."""

    __slots__ = ("_chars", "_needles", "_pieces")

    def __init__(self, texts: Texts) -> None:
        self._needles = list(texts.items())
        self._chars = min(map(len, texts))
        self._pieces = frozenset(text[: self._chars] for text in texts)

    def collect(self, value: str, found: list[Entry]) -> None:
        """Add the entries whose text is in ``value``.

        A short value is first cut into all its pieces, which usually shows that there is none.
        """
        pieces = len(value) - self._chars + 1
        if pieces * _PIECE_COST < len(self._needles) and self._pieces.isdisjoint(
            [value[at : at + self._chars] for at in range(pieces)]
        ):
            return
        for needle, entries in self._needles:
            if needle in value:
                found += entries
