"""YAML as people mean it: no anchors, no tags, nothing guessed beyond null, true, false and JSON's numbers.

Read from the parser's events, so nothing is built that was not looked at. ``yes``, dates and ``007`` are
text, as in YAML 1.2; what is written is quoted where a YAML 1.1 reader would take it for something else.
"""

import math
import re
from collections.abc import Iterator
from typing import Any, Final

import yaml

from corrections.domain.rule_files.tree import MAX_DEPTH, MAX_VALUES, Path, Tree, TreeError

LONG = 90
WIDTH = 100
WORDS: Final[dict[str, Any]] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,400})")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*|(?=\.))(\.[0-9]+)?([eE][+-]?[0-9]{1,4})?")
_OTHER_LINE_ENDS = re.compile("[\r\x85\u2028\u2029]")
_FAST = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(text: str) -> Tree:
    """The one document of a YAML text. Raises :class:`TreeError` with the line."""
    try:
        return _Builder(yaml.parse(text, Loader=_FAST)).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise TreeError(
            f"no YAML: {error.problem or error.context}", mark.line + 1 if mark else None
        ) from None
    except yaml.YAMLError as error:
        raise TreeError(f"no YAML: {str(error).splitlines()[0]}") from None


def plain_value(text: str) -> Any:
    """What an unquoted scalar means."""
    if text in WORDS:
        return WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _NUMBER.fullmatch(text):
        number = float(text)
        return number if math.isfinite(number) else text
    return text


class _Builder:
    """Values from events."""

    def __init__(self, events: Iterator[yaml.Event]) -> None:
        self._events = events
        self._lines: dict[Path, int] = {}
        self._count = 0

    def document(self) -> Tree:
        value, seen = None, 0
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                seen += 1
                if seen > 1:
                    raise TreeError("one file holds one document, this is a second", _line(event))
                value = self._value(next(self._events), ())
        return Tree(value, self._lines)

    def _value(self, event: yaml.Event, path: Path) -> Any:
        self._check(event, path)
        self._lines.setdefault(path, _line(event))
        if isinstance(event, yaml.ScalarEvent):
            return plain_value(event.value) if event.implicit[0] else event.value
        return self._mapping(path) if isinstance(event, yaml.MappingStartEvent) else self._sequence(path)

    def _mapping(self, path: Path) -> dict[str, Any]:
        result: dict[str, Any] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            self._check(event, path)
            if not isinstance(event, yaml.ScalarEvent):
                raise TreeError("a name must be plain text", _line(event))
            if event.value in result:
                raise TreeError(f"{event.value!r} is here twice", _line(event))
            self._lines[(*path, event.value)] = _line(event)
            result[event.value] = self._value(next(self._events), (*path, event.value))
        return result

    def _sequence(self, path: Path) -> list[Any]:
        result: list[Any] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            result.append(self._value(event, (*path, len(result))))
        return result

    def _check(self, event: yaml.Event, path: Path) -> None:
        self._count += 1
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise TreeError("anchors and aliases (& and *) are not read here: write it out", _line(event))
        tag = getattr(event, "tag", None)
        if tag and tag != "!":
            raise TreeError(f"tags are not read here: {tag}", _line(event))
        if len(path) > MAX_DEPTH:
            raise TreeError("is nested too deep", _line(event))
        if self._count > MAX_VALUES:
            raise TreeError(f"has more than {MAX_VALUES:,} values", _line(event))


def _line(event: yaml.Event) -> int:
    return int(event.start_mark.line) + 1 if event.start_mark else 1


class _Dumper(yaml.SafeDumper):
    """Lists are indented below their name, as people write them."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:
        """The same value twice is written twice: we read no aliases."""
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = None
    if _OTHER_LINE_ENDS.search(text):
        style = '"'
    elif "\n" in text:
        style = "|"
    elif len(text) > LONG and "  " not in text and text.strip() == text:
        style = ">"
    elif not isinstance(plain_value(text), str):
        style = "'"
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def write_yaml(value: Any) -> str:
    """The text of a plain value; names keep their order. :func:`read_yaml` reads the same value."""
    text: str = yaml.dump(
        value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=WIDTH, default_flow_style=False
    )
    return text
