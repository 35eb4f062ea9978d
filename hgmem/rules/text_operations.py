"""Operations inside a text: a pattern or whole words are replaced."""

import re
from collections.abc import Callable
from typing import Annotated, Any, Final, Literal

from pydantic import Field, model_validator

from hgmem.rules.context import Context
from hgmem.rules.fields import MISSING, FieldName, get_field, parse_path
from hgmem.rules.limits import MAX_REGEX_CHARS
from hgmem.rules.operation import Operation, OperationFault, put_field
from hgmem.rules.regexes import has_open_repeat, simple_pattern
from hgmem.rules.values import type_name
from hgmem.rules.words import MAX_WORDS, NewWord, Word, replace_words

MAX_OPEN_REPEAT_CHARS: Final = 4_000
MAX_REPLACED_CHARS: Final = 100_000

_GROUP = re.compile(r"\\([0-9]|\\)")


class RegexReplace(Operation):
    r"""Replace every match in a text; ``\1`` stands for a group.

    The pattern is limited to the subset of RE2 that runs in bounded time (see ``regexes``).
    """

    op: Literal["regex_replace"] = "regex_replace"
    field: FieldName
    pattern: Annotated[str, Field(min_length=1, max_length=MAX_REGEX_CHARS)]
    replacement: Annotated[str, Field(max_length=MAX_REGEX_CHARS)] = ""

    @model_validator(mode="after")
    def _check(self) -> "RegexReplace":
        compiled = simple_pattern(self.pattern, capture=True)
        if compiled is None:
            raise ValueError(
                "the pattern is not in the safe subset: literals, classes, one open repeat, one group with |"
            )
        groups = _GROUP.findall(self.replacement)
        if "\\" in _GROUP.sub("", self.replacement) or any(
            g.isdigit() and int(g) > compiled.groups for g in groups
        ):
            raise ValueError(f"the replacement may use \\0 to \\{compiled.groups} and \\\\ only")
        return self

    def apply(self, document: Any, context: Context) -> Any:
        """Replace in the text of the field."""
        value = get_field(document, parse_path(self.field))
        if value is MISSING or value is None:
            return document
        if not isinstance(value, str):
            raise OperationFault(f"{self.field} is a {type_name(value)}, no text")
        limit = MAX_OPEN_REPEAT_CHARS if has_open_repeat(self.pattern) else MAX_REPLACED_CHARS
        if len(value) > limit:
            raise OperationFault(f"{self.field} has more than {limit} characters")
        compiled = simple_pattern(self.pattern, capture=True)
        if compiled is None:  # cannot be: the model was validated
            raise OperationFault("the pattern is not in the safe subset")
        return put_field(document, self.field, compiled.sub(self._expander(), value))

    def _expander(self) -> Callable[[re.Match[str]], str]:
        """What stands for a match; it counts what it has built."""
        built = 0

        def expand(match: re.Match[str]) -> str:
            nonlocal built
            text = self._expand(match) if "\\" in self.replacement else self.replacement
            built += len(text)
            if built > MAX_REPLACED_CHARS:
                raise OperationFault(f"{self.field} would get more than {MAX_REPLACED_CHARS} characters")
            return text

        return expand

    def _expand(self, match: re.Match[str]) -> str:
        return _GROUP.sub(
            lambda group: (match[int(group[1])] or "") if group[1] != "\\" else "\\", self.replacement
        )

    def reads(self) -> frozenset[str]:
        """The field itself."""
        return frozenset((self.field,))

    def describe(self) -> str:
        """Half a sentence for people."""
        return f"replace {self.pattern!r} by {self.replacement!r} in {self.field}"


class ReplaceWords(Operation):
    """Replace whole words (or dotted names) of a text by others, in any case, all in one pass.

    Two rules that replace different words of one text do not get in each other's way: both apply.
    """

    op: Literal["replace_words"] = "replace_words"
    field: FieldName
    words: Annotated[dict[Word, NewWord], Field(min_length=1, max_length=MAX_WORDS)]

    def apply(self, document: Any, context: Context) -> Any:
        """Replace in the text of the field."""
        value = get_field(document, parse_path(self.field))
        if value is MISSING or value is None:
            return document
        if not isinstance(value, str):
            raise OperationFault(f"{self.field} is a {type_name(value)}, no text")
        if len(value) > MAX_REPLACED_CHARS:
            raise OperationFault(f"{self.field} has more than {MAX_REPLACED_CHARS} characters")
        text = replace_words(value, self.words)
        if len(text) > MAX_REPLACED_CHARS:
            raise OperationFault(f"{self.field} would get more than {MAX_REPLACED_CHARS} characters")
        return put_field(document, self.field, text)

    def reads(self) -> frozenset[str]:
        """The field itself."""
        return frozenset((self.field,))

    def describe(self) -> str:
        """Half a sentence for people."""
        pairs = [f"{old} by {new}" for old, new in list(self.words.items())[:3]]
        more = " and more" if len(self.words) > 3 else ""
        return f"replace the word {', '.join(pairs)}{more} in {self.field}"
