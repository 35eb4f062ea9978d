"""The person's notebook: the calls that went well so far, to look a condition up in (its backtest)."""

from dataclasses import dataclass, field
from typing import Any

from benchmarks.cel_text import Place, value_at
from benchmarks.one_shot import text_words
from hgmem.rules import Condition, Context, RuleError, parse_context


@dataclass
class Notebook:
    """Good calls by tool, and the words that good calls in a domain returned."""

    _calls: dict[str, list[Context]] = field(default_factory=dict)
    _returned: dict[str, set[str]] = field(default_factory=dict)

    def write(self, context: dict[str, Any], output: Any) -> None:
        """A call that went well."""
        parsed = parse_context(context)
        self._calls.setdefault(parsed.tool, []).append(parsed)
        self._returned.setdefault(context["env"]["domain"], set()).update(text_words(str(output)))

    def about(self, tool: str, domain: str) -> "Pages":
        """What the notebook says about one tool in one domain."""
        return Pages(self._calls.get(tool, []), self._returned.get(domain, set()))


@dataclass(frozen=True)
class Pages:
    """The part of the notebook that one correction needs."""

    calls: list[Context]
    words: set[str]

    def hit(self, condition: str) -> list[dict[str, Any]] | None:
        """The inputs of the good calls that the condition would have hit; None for one that is refused."""
        try:
            compiled = Condition.compile(condition)
        except RuleError:
            return None
        return [call.input for call in self.calls if compiled.evaluate(call) is True]

    def returned(self, word: str) -> bool:
        """Whether a good call in this domain returned the word."""
        return word.lower() in self.words

    def count(self, argument: Place, value: Any) -> int:
        """How many good calls had this value of this argument."""
        return sum(value_at(call.input, argument) == value for call in self.calls)
