"""The rule language and its engine: conditions, actions, matching and resolution.

ruleset = Ruleset.compile([Rule.from_document(document)], version="7")
decision = ruleset.decide({"tool": "weather_api", "input": {}}, now=now)
"""

from hgmem.rules.actions import (
    ACTION_TYPES,
    Action,
    AnyAction,
    InsertStep,
    ParameterTransform,
    PostCallParsingAdjust,
    PreCallValidation,
    PromptEnhancement,
    ToolSwitch,
)
from hgmem.rules.conditions import Condition, Expression
from hgmem.rules.context import Context, parse_context
from hgmem.rules.decision import Decision
from hgmem.rules.errors import EvaluationFailure, FieldError, RuleError
from hgmem.rules.rule import Rule
from hgmem.rules.ruleset import BrokenRule, Ruleset
from hgmem.rules.scope import Scope

__all__ = [
    "ACTION_TYPES",
    "Action",
    "AnyAction",
    "BrokenRule",
    "Condition",
    "Context",
    "Decision",
    "EvaluationFailure",
    "Expression",
    "FieldError",
    "InsertStep",
    "ParameterTransform",
    "PostCallParsingAdjust",
    "PreCallValidation",
    "PromptEnhancement",
    "Rule",
    "RuleError",
    "Ruleset",
    "Scope",
    "ToolSwitch",
    "parse_context",
]
