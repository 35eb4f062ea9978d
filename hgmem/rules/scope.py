"""Where a rule applies: the point in a call's life, the tool and its version, tags, agent."""

import re
from functools import lru_cache
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from hgmem.rules.context import Context
from hgmem.rules.limits import MAX_NAME_CHARS

Point = Literal["before", "after", "planning"]

_ARTICLE_FORMS: Final[dict[str, str | None]] = {
    "TOOL_CALL": None,
    "BEFORE_TOOL_CALL": "before",
    "AFTER_TOOL_CALL": "after",
    "PLANNING": "planning",
}
_BOUND = re.compile(r"(==|!=|>=|<=|>|<)?\s*([0-9A-Za-z][0-9A-Za-z.+\-_]*)")
_PARTS = re.compile(r"\d+|[A-Za-z]+")

EXACT_TOOL_WEIGHT = 8
GLOB_TOOL_WEIGHT = 4
TAG_WEIGHT = 4
AGENT_WEIGHT = 4
VERSIONS_WEIGHT = 2


def _check_range(text: str) -> str:
    parse_range(text)
    return text


class Scope(BaseModel):
    """The structured form of ``applies_to``. Everything left out means "any".

    ``tool`` may use ``*`` and ``?``; ``tool_versions`` is a range such as ``>=1.2, <2``; a task
    must carry all the ``tags``. ``point`` is left open ("") only until the rule knows its action.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    point: Point | Literal[""] = ""
    tool: Annotated[str, Field(max_length=MAX_NAME_CHARS)] = "*"
    tool_versions: Annotated[str, Field(max_length=MAX_NAME_CHARS), AfterValidator(_check_range)] = ""
    tags: Annotated[
        tuple[Annotated[str, Field(min_length=1, max_length=100)], ...], Field(max_length=50)
    ] = ()
    agent: Annotated[str, Field(max_length=MAX_NAME_CHARS)] = ""

    @model_validator(mode="before")
    @classmethod
    def _accept_text(cls, value: Any) -> Any:
        """Accept ``TOOL_CALL:weather_api``, the form the article uses."""
        if not isinstance(value, str):
            return value
        form, _, tool = value.partition(":")
        if form not in _ARTICLE_FORMS or not tool.strip():
            known = ", ".join(f"{name}:tool" for name in _ARTICLE_FORMS)
            raise ValueError(f"must be an object, or text of the form {known}")
        return {"tool": tool.strip(), "point": _ARTICLE_FORMS[form] or ""}

    @property
    def is_glob(self) -> bool:
        """Whether the tool is a pattern rather than one name."""
        return "*" in self.tool or "?" in self.tool

    @property
    def any_tool(self) -> bool:
        """Whether every tool, and no tool at all, is in scope."""
        return self.tool in ("*", "")

    @property
    def specificity(self) -> int:
        """How narrow the scope is: 8 for one tool, 4 for a pattern, 4 a tag, 4 an agent, 2 versions."""
        tool = 0 if self.any_tool else GLOB_TOOL_WEIGHT if self.is_glob else EXACT_TOOL_WEIGHT
        return (
            tool
            + TAG_WEIGHT * len(set(self.tags))
            + (AGENT_WEIGHT if self.agent else 0)
            + (VERSIONS_WEIGHT if self.tool_versions else 0)
        )

    def fits_tool(self, tool: str) -> bool:
        """Whether a tool's name is in scope."""
        return self.any_tool or (matches_glob(self.tool, tool) if self.is_glob else self.tool == tool)

    @property
    def has_more(self) -> bool:
        """Whether anything beside the point and the tool must be checked."""
        return bool(self.tags or self.agent or self.tool_versions)

    def misfit(self, context: Context) -> str | None:
        """Why a context is out of scope beside its point and tool, or None when it is in scope."""
        if self.tags and not context.tags.issuperset(self.tags):
            missing = sorted(set(self.tags) - context.tags)
            return f"the task has no tag {', '.join(missing)}"
        if self.agent and self.agent != context.agent:
            return f"the agent is {context.agent or 'not named'}, not {self.agent}"
        if self.tool_versions and not in_range(context.tool_version, self.tool_versions):
            return f"the tool's version is {context.tool_version or 'not known'}, not {self.tool_versions}"
        return None


def matches_glob(pattern: str, text: str) -> bool:
    """Whole-text match with ``*`` and ``?``, in time proportional to both lengths at worst."""
    at = mark = 0
    star = -1
    position = 0
    while position < len(text):
        if at < len(pattern) and pattern[at] == "*":
            star, mark, at = at, position, at + 1
        elif at < len(pattern) and pattern[at] in ("?", text[position]):
            at, position = at + 1, position + 1
        elif star >= 0:
            mark += 1
            at, position = star + 1, mark
        else:
            return False
    return not pattern[at:].strip("*")


@lru_cache(maxsize=10_000)
def parse_range(text: str) -> tuple[tuple[str, str], ...]:
    """The bounds of a version range, as (operator, version).

    Raises:
        ValueError: the text is no range.
    """
    bounds = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        found = _BOUND.fullmatch(part)
        if found is None:
            raise ValueError(f"{part!r} is no version bound, such as >=1.2 or <2")
        bounds.append((found[1] or "==", found[2]))
    return tuple(bounds)


@lru_cache(maxsize=10_000)
def in_range(version: str, text: str) -> bool:
    """Whether a version lies in a range. A version that is not known lies in none."""
    if not version:
        return False
    return all(_holds(operator, version, bound) for operator, bound in parse_range(text))


def _holds(operator: str, version: str, bound: str) -> bool:
    left, right = _comparable(version), _comparable(bound)
    length = max(len(left), len(right))
    left, right = left + [(1, 0, "")] * (length - len(left)), right + [(1, 0, "")] * (length - len(right))
    return {
        "==": left == right,
        "!=": left != right,
        ">=": left >= right,
        "<=": left <= right,
        ">": left > right,
        "<": left < right,
    }[operator]


def _comparable(version: str) -> list[tuple[int, int, str]]:
    """Numbers compare as numbers; a word (``rc``) comes before any number, as in a pre-release."""
    parts = _PARTS.findall(version.removeprefix("v"))
    return [(1, int(part), "") if part.isdigit() else (0, 0, part) for part in parts]
