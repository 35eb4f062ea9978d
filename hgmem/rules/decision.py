"""The answer to a question: what the rules make of a call."""

from typing import Any, Final, NamedTuple
from uuid import UUID

from hgmem.rules.assignment import Arm
from hgmem.rules.compiled import CompiledRule
from hgmem.rules.context import Context

_KEYS: Final = (
    "tool",
    "input",
    "output",
    "error",
    "block",
    "ask",
    "hints",
    "insert_steps",
    "after_call",
    "applied",
    "suppressed",
    "conflicts",
    "errors",
    "near_misses",
)


class Exposure(NamedTuple):
    """The condition of a rule on trial held for a root task (``unit``), whether the rule acted or not.

    ``version`` is the candidate's, ``canary`` the trial's own uuid, ``share`` of 10,000 the canary arm's.
    """

    rule: str
    version: int
    canary: UUID
    stage: int
    share: int
    arm: Arm
    unit: str


class Decision:
    """What to do with one call.

    ``tool`` and ``input`` are effective: what to call and with what. ``block`` and ``ask`` hold
    ``{"rule", "message"}``, ``hints`` ``{"rule", "text"}``, ``insert_steps`` ``{"rule", "tool",
    "arguments", "reason"}``, ``after_call`` the adjustments of the output (with a ``condition``
    when that can only be decided after the call), ``applied`` what was done, ``suppressed`` what
    gave way and to whom, ``conflicts`` (``{"rule", "other", "field", "reason"}``) pairs of matching
    rules that want different things and that no human ruling settles, ``errors`` the conditions and
    actions that failed. ``output`` and
    ``error`` are effective too, and only present at the point "after". ``matched`` holds every rule
    whose condition was true, in order of precedence, applied or not.

    Of rules on trial, versions that do not act for the task are in none of these. ``exposures`` and
    ``withheld_errors`` (as ``errors``) note them for whoever runs the trial; they are no part of the answer.
    ``trials`` counts the rules on trial that may have a say at this point of this tool's calls.
    """

    __slots__ = (
        *_KEYS,
        "context",
        "exposures",
        "matched",
        "ruleset_version",
        "trials",
        "withheld_errors",
    )

    def __init__(self, context: Context, ruleset_version: str) -> None:
        variables = context.variables
        self.context = context
        self.ruleset_version = ruleset_version
        self.tool = context.tool
        self.input: dict[str, Any] = variables["input"]
        self.output: Any = variables.get("output")
        self.error: Any = variables.get("error")
        self.block: list[dict[str, Any]] = []
        self.ask: list[dict[str, Any]] = []
        self.hints: list[dict[str, Any]] = []
        self.insert_steps: list[dict[str, Any]] = []
        self.after_call: list[dict[str, Any]] = []
        self.applied: list[dict[str, Any]] = []
        self.suppressed: list[dict[str, Any]] = []
        self.conflicts: list[dict[str, Any]] = []
        self.errors: list[dict[str, Any]] = []
        self.near_misses: list[dict[str, Any]] | None = None
        self.matched: list[CompiledRule] = []
        self.exposures: list[Exposure] = []
        self.withheld_errors: list[dict[str, Any]] = []
        self.trials = 0

    @property
    def changed(self) -> bool:
        """Whether any rule had a say."""
        return bool(self.applied or self.after_call)

    def to_dict(self) -> dict[str, Any]:
        """The decision as JSON-ready data."""
        result = {key: getattr(self, key) for key in _KEYS}
        if self.context.point != "after":
            del result["output"], result["error"]
        if self.near_misses is None:
            del result["near_misses"]
        result["point"] = self.context.point
        result["ruleset_version"] = self.ruleset_version
        result["matched"] = [{"rule": rule.uuid, "version": rule.version} for rule in self.matched]
        return result

    def apply(self, rule: CompiledRule, changes: list[dict[str, Any]]) -> None:
        """Note that a rule was applied, and what it changed."""
        self.applied.append(
            {
                "rule": rule.uuid,
                "version": rule.version,
                "name": rule.name,
                "action_type": rule.action.action_type,
                "changes": changes,
            }
        )

    def suppress(self, rule: CompiledRule, reason: str, by: CompiledRule | None = None) -> None:
        """Note that a matching rule gave way."""
        self.suppressed.append(
            {
                "rule": rule.uuid,
                "version": rule.version,
                "name": rule.name,
                "reason": reason,
                "by": by.uuid if by is not None else None,
            }
        )

    def conflict(self, rule: CompiledRule, other: CompiledRule, field: str, reason: str) -> None:
        """Note that two matching rules want different things, unless a human ruling settled that."""
        if not (rule.settles(other) or other.settles(rule)):
            self.conflicts.append({"rule": rule.uuid, "other": other.uuid, "field": field, "reason": reason})

    def fail(self, rule: CompiledRule, detail: str) -> None:
        """Note that a rule's condition or action could not be evaluated."""
        self.errors.append({"rule": rule.uuid, "version": rule.version, "name": rule.name, "detail": detail})
