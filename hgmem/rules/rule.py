"""A correction rule: the document people and agents write, checked and frozen."""

from collections.abc import Mapping
from datetime import MAXYEAR, datetime
from typing import Annotated, Any, Literal

from pydantic import (
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationError,
    field_validator,
    model_validator,
)

from hgmem.rules.actions import ACTION_TYPES, AnyAction
from hgmem.rules.assignment import Trial
from hgmem.rules.conditions import AFTER_CALL_VARIABLES, Condition
from hgmem.rules.errors import FieldError, RuleError
from hgmem.rules.limits import MAX_DESCRIPTION_CHARS, MAX_NAME_CHARS
from hgmem.rules.operations import OPERATION_NAMES
from hgmem.rules.outputs import OUTPUT_OPERATION_NAMES
from hgmem.rules.scope import Point, Scope
from hgmem.rules.sources import ConditionText

_TAGS = frozenset((*ACTION_TYPES, *OPERATION_NAMES, *OUTPUT_OPERATION_NAMES))
_ARTICLE_NAMES = {
    "correction_id": "uuid",
    "error_pattern_id": "error_pattern",
    "effectiveness_score": "effectiveness",
}
_DOCUMENT_ONLY = frozenset(("action_type", "action_detail"))


class Rule(BaseModel):
    """One version of a correction rule.

    ``condition`` is CEL, empty for always. ``effectiveness`` is a lower bound in 0..1 and only
    orders rules. Human rulings add three lists of uuids: ``ruled_over`` (rules that give way to this one),
    ``runs_after`` (rules this one follows, also when both write the same field) and ``settled_with`` (rules
    whose conflict with this one was accepted as it is). ``trial`` makes this version a candidate that acts
    on some tasks only (``hgmem.rules.assignment``).
    ``created_by`` itself gives no precedence: that humans outrank agents is expressed in ``priority``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    uuid: Annotated[str, Field(min_length=1, max_length=MAX_NAME_CHARS)]
    version: Annotated[int, Field(ge=1)] = 1
    name: Annotated[str, Field(max_length=MAX_NAME_CHARS)] = ""
    applies_to: Scope
    condition: ConditionText = ""
    action: AnyAction
    description: Annotated[str, Field(max_length=MAX_DESCRIPTION_CHARS)] = ""
    created_by: Literal["human", "agent"] = "human"
    author: Annotated[str, Field(max_length=MAX_NAME_CHARS)] = ""
    created_at: AwareDatetime | None = None
    error_pattern: Annotated[str, Field(max_length=MAX_NAME_CHARS)] = ""
    priority: Annotated[int, Field(ge=-1_000_000, le=1_000_000)] = 0
    valid_from: AwareDatetime | None = None
    valid_until: AwareDatetime | None = None
    effectiveness: Annotated[float, Field(ge=0, le=1)] | None = None
    ruled_over: tuple[str, ...] = ()
    runs_after: tuple[str, ...] = ()
    settled_with: tuple[str, ...] = ()
    trial: Trial | None = None

    _compiled: Condition | None = PrivateAttr(default=None)

    @field_validator("valid_from", "valid_until")
    @classmethod
    def _check_year(cls, moment: datetime | None) -> datetime | None:
        # in another time zone the first and the last year have days that no calendar has
        if moment is not None and not 1 < moment.year < MAXYEAR:
            raise ValueError(f"must lie between the years 2 and {MAXYEAR - 1}")
        return moment

    @model_validator(mode="after")
    def _check(self) -> "Rule":
        point, points = self.applies_to.point, self.action.points
        if point == "":
            fitting = self.applies_to.model_copy(update={"point": points[0]})
            object.__setattr__(self, "applies_to", fitting)
        elif point not in points:
            raise ValueError(
                f"applies_to.point: {self.action.action_type} works at {' or '.join(points)}, not {point}"
            )
        if self.point != "after" and self._reads_result():
            raise ValueError("condition: output, error and duration_ms are known only after the call")
        if self.valid_from and self.valid_until and self.valid_from >= self.valid_until:
            raise ValueError("valid_until: must be after valid_from")
        return self

    @property
    def compiled_condition(self) -> Condition:
        """The condition, compiled once for this rule.

        Raises:
            RuleError: a copy was given a condition that is wrong.
        """
        compiled = self._compiled
        if compiled is None or compiled.source != (self.condition.strip() or "true"):
            compiled = self._compiled = Condition.compile(self.condition)
        return compiled

    def _reads_result(self) -> bool:
        read = {path.partition(".")[0].partition("[")[0] for path in self.action.reads()}
        return self.compiled_condition.reads_result or bool(read & AFTER_CALL_VARIABLES)

    @property
    def point(self) -> Point:
        """When the rule is asked: before the call, after it, or while planning."""
        return self.applies_to.point or "before"

    @property
    def specificity(self) -> int:
        """How narrow scope and condition are together."""
        return self.applies_to.specificity + self.compiled_condition.specificity

    def is_valid_at(self, moment: datetime) -> bool:
        """Whether a moment lies in the validity window: from ``valid_from`` on, before ``valid_until``."""
        return (self.valid_from is None or moment >= self.valid_from) and (
            self.valid_until is None or moment < self.valid_until
        )

    def describe(self) -> str:
        """One sentence for people about what the rule does."""
        return self.action.describe()

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "Rule":
        """Read a rule document: ours (``docs/rules.md``) or the structure of the article.

        Raises:
            RuleError: with the path of every field that is wrong.
        """
        if not isinstance(document, Mapping):
            raise RuleError("must be an object")
        try:
            return cls.model_validate(_normalized(document))
        except ValidationError as error:
            raise RuleError([_field_error(fault) for fault in _telling(error)]) from None
        except RecursionError:
            raise RuleError("is nested too deep") from None

    def to_document(self) -> dict[str, Any]:
        """The rule as a JSON document that ``from_document`` reads."""
        left_out = {"action"} if self.trial else {"action", "trial"}
        document = self.model_dump(mode="json", exclude=left_out)
        action = self.action.model_dump(mode="json", by_alias=True)
        return {**document, "action_type": action["action_type"], "action_detail": action["action_detail"]}


def _normalized(document: Mapping[str, Any]) -> dict[str, Any]:
    """One shape for ours and the article's: its names become ours, the action becomes one field."""
    names = {name: _ARTICLE_NAMES.get(name, name) for name in document}
    rule = {names[name]: value for name, value in document.items() if name not in _DOCUMENT_ONLY}
    if "action" not in rule:
        rule["action"] = {name: document[name] for name in _DOCUMENT_ONLY if name in document}
    author = rule.get("created_by")
    if isinstance(author, str) and author not in ("human", "agent", ""):
        rule["created_by"], rule["author"] = "agent", rule.get("author") or author
    return rule


def _telling(error: ValidationError) -> list[Any]:
    """The faults, without "too short" for a list whose items were refused."""
    faults = error.errors(include_url=False)
    inside = {fault["loc"][:length] for fault in faults for length in range(len(fault["loc"]))}
    return [fault for fault in faults if fault["type"] != "too_short" or fault["loc"] not in inside]


def _field_error(fault: Any) -> FieldError:
    message: str = fault["msg"].removeprefix("Value error, ")
    field = _document_path(fault["loc"])
    if not field and ": " in message:
        field, message = message.split(": ", 1)
    return {"field": field, "detail": message}


def _document_path(location: tuple[str | int, ...]) -> str:
    """The path in the document: without the tags pydantic adds for the member of a union."""
    steps: list[str] = []
    previous: str | int = ""
    for step in location:
        is_tag = step in _TAGS and (previous == "action" or isinstance(previous, int))
        if not is_tag:
            steps.append(str(step))
        previous = step
    if steps[:1] == ["action"]:
        steps = steps[1:] or ["action_type"]
    return ".".join(steps)
