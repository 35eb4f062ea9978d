"""What a rule does: one pydantic union over ``action_type``.

Every ``apply`` is pure: it returns the new value and never changes what it was given.
``reads()`` and ``writes()`` are field paths with their variable (``input.city``, ``tool``,
``output.items``); the resolution of conflicts rests on them.
"""

from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, model_validator

from hgmem.rules.conditions import Condition
from hgmem.rules.context import Context
from hgmem.rules.errors import EvaluationFailure
from hgmem.rules.fields import MISSING, FieldName, get_field, parse_path, set_field
from hgmem.rules.limits import MAX_CONDITION_CHARS, MAX_NAME_CHARS
from hgmem.rules.operation import OperationFault
from hgmem.rules.operations import Operations
from hgmem.rules.outputs import OutputOperations, apply_outputs
from hgmem.rules.schemas import check_schema, schema_fault
from hgmem.rules.sources import ConditionText
from hgmem.rules.templates import Message, Template, render, render_value, template_reads, value_reads
from hgmem.rules.text_operations import ReplaceWords
from hgmem.rules.words import WordEdits, edits_of

_DEFAULT_MESSAGE: Final = "this call is known to fail"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Action(_Part):
    """What every action shares."""

    points: ClassVar[tuple[str, ...]] = ("before",)

    def reads(self) -> frozenset[str]:
        """The paths whose values matter to the action."""
        return frozenset()

    def writes(self) -> frozenset[str]:
        """The paths the action may change."""
        return frozenset()

    def word_edits(self) -> WordEdits:
        """The words the action replaces where that is all it does, by field; otherwise nothing."""
        return {}

    def describe(self) -> str:
        """One sentence for people."""
        raise NotImplementedError


class TransformDetail(_Part):
    """A list of operations on the input; the article's single operation is accepted."""

    operations: Operations

    @model_validator(mode="before")
    @classmethod
    def _accept_single(cls, value: Any) -> Any:
        return _as_operations(value)


class ParameterTransform(Action):
    """Change the input before the call."""

    action_type: Literal["PARAMETER_TRANSFORM"] = "PARAMETER_TRANSFORM"
    action_detail: TransformDetail

    def apply(self, call_input: dict[str, Any], context: Context) -> dict[str, Any]:
        """The new input.

        Raises:
            OperationFault: an operation cannot be carried out; nothing is applied then.
        """
        document: dict[str, Any] = call_input
        for operation in self.action_detail.operations:
            document = operation.apply(document, context)
        return document

    def reads(self) -> frozenset[str]:
        """The fields the operations look at."""
        return frozenset(
            _qualified(path, "input") for part in self.action_detail.operations for path in part.reads()
        )

    def writes(self) -> frozenset[str]:
        """The fields the operations may change."""
        parts = self.action_detail.operations
        return frozenset(_inside("input", path) for part in parts for path in part.writes())

    def word_edits(self) -> WordEdits:
        """The words that are replaced, when nothing else is done."""
        parts = self.action_detail.operations
        replaced = [(part.field, part.words) for part in parts if isinstance(part, ReplaceWords)]
        return edits_of(replaced) if len(replaced) == len(parts) else {}

    def describe(self) -> str:
        """One sentence for people."""
        return _sentence("; then ".join(part.describe() for part in self.action_detail.operations))


class ToolSwitchDetail(_Part):
    """``parameters`` maps a new parameter to the path of the old one; ``constants`` adds fixed values."""

    tool: Annotated[str, Field(min_length=1, max_length=MAX_NAME_CHARS)]
    parameters: dict[FieldName, FieldName] = {}
    constants: dict[FieldName, JsonValue] = {}
    keep_unmapped: bool = True


class ToolSwitch(Action):
    """Call another tool instead."""

    action_type: Literal["TOOL_SWITCH"] = "TOOL_SWITCH"
    action_detail: ToolSwitchDetail

    def apply(self, call_input: dict[str, Any], context: Context) -> dict[str, Any]:
        """The input for the other tool.

        Raises:
            FieldFault: a value cannot be put where the mapping says.
        """
        detail = self.action_detail
        moved = {parse_path(old)[0] for old in detail.parameters.values()}
        result = {k: v for k, v in call_input.items() if k not in moved} if detail.keep_unmapped else {}
        for new, old in detail.parameters.items():
            value = get_field(call_input, parse_path(old))
            if value is not MISSING:
                result = set_field(result, parse_path(new), value)
        for new, value in detail.constants.items():
            result = set_field(result, parse_path(new), value)
        return result

    def reads(self) -> frozenset[str]:
        """The whole input."""
        return frozenset(("input",))

    def writes(self) -> frozenset[str]:
        """The tool."""
        return frozenset(("tool",))

    def describe(self) -> str:
        """One sentence for people."""
        pairs = [f"{old} as {new}" for new, old in self.action_detail.parameters.items()]
        passing = f", passing {', '.join(pairs)}" if pairs else ""
        return _sentence(f"call {self.action_detail.tool} instead{passing}")


class ValidationDetail(_Part):
    """What the call must satisfy. With neither ``check`` nor ``schema`` the rule's condition decides."""

    check: Annotated[ConditionText, Field(max_length=MAX_CONDITION_CHARS)] = ""
    json_schema: Annotated[dict[str, JsonValue] | None, AfterValidator(check_schema)] = Field(
        default=None, alias="schema"
    )
    on_failure: Literal["block", "ask"] = "block"
    message: Message = ""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, serialize_by_alias=True)


class PreCallValidation(Action):
    """Refuse the call, or ask about it, with a message the model can act on."""

    action_type: Literal["PRE_CALL_VALIDATION"] = "PRE_CALL_VALIDATION"
    action_detail: ValidationDetail = ValidationDetail()

    def apply(self, call_input: dict[str, Any], context: Context) -> str | None:
        """The message when the input fails, None when it passes. ``context`` already has that input.

        Raises:
            OperationFault: the check could not be evaluated.
        """
        detail = self.action_detail
        fault = ""
        if detail.check:
            outcome = Condition.compile(detail.check).evaluate(context)
            if isinstance(outcome, EvaluationFailure):
                raise OperationFault(f"the check could not be evaluated: {outcome.detail}")
            if outcome:
                return None
        if detail.json_schema is not None:
            fault = schema_fault(detail.json_schema, call_input) or ""
            if not fault and not detail.check:
                return None
        return render(detail.message, context.variables) or fault or detail.check or _DEFAULT_MESSAGE

    @property
    def unconditional(self) -> bool:
        """Whether the rule's condition alone decides."""
        return not self.action_detail.check and self.action_detail.json_schema is None

    def reads(self) -> frozenset[str]:
        """What the check and the message look at; the whole input with a schema."""
        check = (
            Condition.compile(self.action_detail.check).read_set if self.action_detail.check else frozenset()
        )
        whole = frozenset(("input",)) if self.action_detail.json_schema is not None else frozenset()
        return check | whole | template_reads(self.action_detail.message)

    def describe(self) -> str:
        """One sentence for people."""
        detail = self.action_detail
        verb = "refuse the call" if detail.on_failure == "block" else "ask before the call"
        needs = [f"unless {detail.check}"] * bool(detail.check)
        needs += ["unless the input fits the schema"] * (detail.json_schema is not None)
        message = f": {detail.message}" if detail.message else ""
        return _sentence(" ".join([verb, *needs]) + message)


class OutputDetail(_Part):
    """A list of operations on the output; a single operation is accepted."""

    operations: OutputOperations

    @model_validator(mode="before")
    @classmethod
    def _accept_single(cls, value: Any) -> Any:
        return _as_operations(value)


class PostCallParsingAdjust(Action):
    """Change how the output is read after the call."""

    action_type: Literal["POST_CALL_PARSING_ADJUST"] = "POST_CALL_PARSING_ADJUST"
    action_detail: OutputDetail
    points: ClassVar[tuple[str, ...]] = ("after",)

    def apply(self, output: Any, context: Context) -> tuple[Any, dict[str, Any] | None]:
        """The new output, and an error when the output is to be treated as one.

        Raises:
            OperationFault: an operation cannot be carried out; nothing is applied then.
        """
        return apply_outputs(self.action_detail.operations, output, context)

    def reads(self) -> frozenset[str]:
        """The fields the operations look at."""
        parts = self.action_detail.operations
        return frozenset(_qualified(path, "output") for part in parts for path in part.reads())

    def writes(self) -> frozenset[str]:
        """The fields the operations may change."""
        parts = self.action_detail.operations
        return frozenset(
            path if path == "error" and part.op == "treat_as_error" else _inside("output", path)
            for part in parts
            for path in part.writes()
        )

    def describe(self) -> str:
        """One sentence for people."""
        parts = "; then ".join(part.describe() for part in self.action_detail.operations)
        return _sentence(f"in the output, {parts}")


class PromptDetail(_Part):
    """The text for the model, with placeholders such as ``{{ input.city }}``."""

    text: Template


class PromptEnhancement(Action):
    """Tell the model something."""

    action_type: Literal["PROMPT_ENHANCEMENT"] = "PROMPT_ENHANCEMENT"
    action_detail: PromptDetail
    points: ClassVar[tuple[str, ...]] = ("planning", "before", "after")

    def apply(self, context: Context) -> str:
        """The text for the model."""
        return render(self.action_detail.text, context.variables)

    def reads(self) -> frozenset[str]:
        """The paths of the placeholders."""
        return template_reads(self.action_detail.text)

    def describe(self) -> str:
        """One sentence for people."""
        return _sentence(f"tell the model: {self.action_detail.text}")


class StepDetail(_Part):
    """The call to make first. Texts inside ``arguments`` may hold placeholders."""

    tool: Annotated[str, Field(min_length=1, max_length=MAX_NAME_CHARS)]
    arguments: dict[str, JsonValue] = {}
    reason: Message = ""

    @model_validator(mode="after")
    def _check(self) -> "StepDetail":
        value_reads(self.arguments)
        return self


class InsertStep(Action):
    """Make another call first."""

    action_type: Literal["INSERT_STEP"] = "INSERT_STEP"
    action_detail: StepDetail
    points: ClassVar[tuple[str, ...]] = ("before", "planning")

    def apply(self, context: Context) -> dict[str, Any]:
        """The step: ``{"tool", "arguments", "reason"}``."""
        detail = self.action_detail
        return {
            "tool": detail.tool,
            "arguments": render_value(detail.arguments, context.variables),
            "reason": render(detail.reason, context.variables),
        }

    def reads(self) -> frozenset[str]:
        """The paths of the placeholders."""
        return value_reads(self.action_detail.arguments) | template_reads(self.action_detail.reason)

    def writes(self) -> frozenset[str]:
        """The step."""
        return frozenset((f"steps.{self.action_detail.tool}",))

    def describe(self) -> str:
        """One sentence for people."""
        reason = f": {self.action_detail.reason}" if self.action_detail.reason else ""
        return _sentence(f"first call {self.action_detail.tool}{reason}")


AnyAction = Annotated[
    ParameterTransform
    | ToolSwitch
    | PreCallValidation
    | PostCallParsingAdjust
    | PromptEnhancement
    | InsertStep,
    Field(discriminator="action_type"),
]
ACTION_TYPES: Final = (
    "PARAMETER_TRANSFORM",
    "TOOL_SWITCH",
    "PRE_CALL_VALIDATION",
    "POST_CALL_PARSING_ADJUST",
    "PROMPT_ENHANCEMENT",
    "INSERT_STEP",
)


def _as_operations(value: Any) -> Any:
    """Turn the article's ``{"transform": "set_default", ...}`` (or ``op``) into a list of one."""
    if not isinstance(value, dict) or "operations" in value:
        return value
    if "transform" in value and "op" not in value:
        value = {"op": value["transform"], **{k: v for k, v in value.items() if k != "transform"}}
    return {"operations": [value]}


def _inside(variable: str, path: str) -> str:
    if not path:
        return variable
    return f"{variable}{path}" if path.startswith("[") else f"{variable}.{path}"


def _qualified(path: str, variable: str) -> str:
    """A path an operation reads: one that already starts with a variable came from an expression."""
    return path[1:] if path.startswith("=") else _inside(variable, path)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")
