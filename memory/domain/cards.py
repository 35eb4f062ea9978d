"""Card numbers: how they are written, whose they are, and whether they are whole."""

import re
from collections.abc import Callable

# Prefix range -> lengths, as the card networks publish them.
_BRANDS: tuple[tuple[int, int, int, tuple[int, ...]], ...] = (
    (1, 4, 4, (13, 16, 19)),
    (2, 51, 55, (16,)),
    (4, 2221, 2720, (16,)),
    (2, 34, 34, (15,)),
    (2, 37, 37, (15,)),
    (4, 6011, 6011, (16, 19)),
    (3, 644, 649, (16, 19)),
    (2, 65, 65, (16, 19)),
    (3, 300, 305, (14,)),
    (2, 36, 36, (14,)),
    (2, 38, 39, (14,)),
    (4, 3528, 3589, (16,)),
    (2, 62, 62, (16, 17, 18, 19)),
)
_DOUBLED = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)


def is_card(digits: str) -> bool:
    """Whether digits are a card number: a brand's prefix and length, and the Luhn sum (ISO/IEC 7812-1)."""
    size = len(digits)
    if not any(low <= int(digits[:width]) <= high and size in sizes for width, low, high, sizes in _BRANDS):
        return False
    numbers = [int(digit) for digit in reversed(digits)]
    return (sum(numbers[::2]) + sum(_DOUBLED[n] for n in numbers[1::2])) % 10 == 0


_DIGITS = re.compile(
    r"(?<![0-9A-Za-z])(?<![0-9][.,-])"
    r"(?:[0-9]{13,19}|[0-9]{4}(?:[ -][0-9]{4}){3}(?:[ -][0-9]{3})?|[0-9]{4}[ -][0-9]{6}[ -][0-9]{4,5})"
    r"(?![0-9A-Za-z])(?![.-][0-9])"
)


def replace_cards(text: str, put: Callable[[str, str], str]) -> str:
    """Hand every card number in a text to ``put`` (kind, number), and return the text with the answers."""

    def one(match: re.Match[str]) -> str:
        found = match.group()
        return put("card", found) if is_card(found.replace(" ", "").replace("-", "")) else found

    return _DIGITS.sub(one, text)
