"""The operations of a POST_CALL_PARSING_ADJUST: what to do with a call's output."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field

from hgmem.rules.context import Context
from hgmem.rules.fields import FieldOrWhole
from hgmem.rules.limits import MAX_EXTRACT_VISITS, MAX_OPERATIONS, MAX_PATH_CHARS
from hgmem.rules.operation import Operation, OperationFault, put_field
from hgmem.rules.operations import Cast, Remove, Rename, Set, SetDefault
from hgmem.rules.templates import Message, render

_MAX_DESCENTS: Final = 2
_REFUSED: Final = ("match(", "search(", "=~")


@lru_cache(maxsize=4_096)
def _compiled_path(path: str) -> Any:
    import jsonpath

    try:
        return jsonpath.compile(path)
    except jsonpath.JSONPathError as error:
        raise ValueError(f"{path!r} is no JSONPath: {str(error).splitlines()[0]}") from None


def _breadth(path: str) -> int:
    """How often the path may look at each value: 0 when it goes to one place only."""
    breadth, descents = 1, 0
    single = True
    for segment in _compiled_path(path).segments:
        kinds = [type(selector).__name__ for selector in segment.selectors]
        breadth *= len(kinds)
        descends = "Recursive" in type(segment).__name__
        descents += descends
        single = single and not descends and kinds in (["NameSelector"], ["IndexSelector"])
        if "Filter" in kinds:
            breadth *= 10
    return 0 if single else min(breadth, 10**9) * 10**descents


def _count(document: Any, enough: int) -> int:
    """The values in a document, counted until there are ``enough``."""
    count, waiting = 0, [document]
    while waiting and count < enough:
        owner = waiting.pop()
        count += len(owner)
        parts = owner.values() if isinstance(owner, dict) else owner
        waiting += [part for part in parts if isinstance(part, dict | list)]
    return count


def _check_json_path(path: str) -> str:
    if not path.startswith("$"):
        raise ValueError("a JSONPath starts with $")
    if path.count("..") > _MAX_DESCENTS:
        raise ValueError(f"a JSONPath may descend (..) at most {_MAX_DESCENTS} times")
    if any(word in path.replace(" ", "") for word in _REFUSED):
        raise ValueError("regular expressions are not allowed in a JSONPath")
    _compiled_path(path)
    return path


class Extract(Operation):
    """Take a part of the output by JSONPath (RFC 9535) and put it into a field, or make it the output."""

    op: Literal["extract"] = "extract"
    path: Annotated[str, Field(min_length=1, max_length=MAX_PATH_CHARS), AfterValidator(_check_json_path)]
    to: FieldOrWhole = ""
    many: bool = False

    def apply(self, document: Any, context: Context) -> Any:
        """Extract the first match, or with ``many`` the list of all."""
        found = _find(self.path, document)
        if self.many:
            return put_field(document, self.to, found)
        if not found:
            raise OperationFault(f"the output has nothing at {self.path}")
        return put_field(document, self.to, found[0])

    def reads(self) -> frozenset[str]:
        """The whole output."""
        return frozenset(("",))

    def writes(self) -> frozenset[str]:
        """The target."""
        return frozenset((self.to,))

    def describe(self) -> str:
        """Half a sentence for people."""
        return f"take {self.path} as {self.to or 'the output'}"


class TreatAsError(Operation):
    """Call this output an error although the tool did not."""

    op: Literal["treat_as_error"] = "treat_as_error"
    message: Message = ""
    type: Annotated[str, Field(max_length=200)] = "TreatedAsError"

    def apply(self, document: Any, context: Context) -> Any:
        """The output itself stays as it is."""
        return document

    def error(self, output: Any, context: Context) -> dict[str, Any]:
        """The error the caller should see."""
        variables = {**context.variables, "output": output}
        message = render(self.message, variables) or "the output is known to mean a failure"
        return {"type": self.type, "message": message}

    def writes(self) -> frozenset[str]:
        """The error."""
        return frozenset(("error",))

    def describe(self) -> str:
        """Half a sentence for people."""
        return "treat it as an error" + (f": {self.message}" if self.message else "")


OutputOperation = Annotated[
    Extract | SetDefault | Set | Rename | Remove | Cast | TreatAsError, Field(discriminator="op")
]
OutputOperations = Annotated[tuple[OutputOperation, ...], Field(min_length=1, max_length=MAX_OPERATIONS)]
OUTPUT_OPERATION_NAMES: Final = (
    "extract",
    "set_default",
    "set",
    "rename",
    "remove",
    "cast",
    "treat_as_error",
)


def apply_outputs(
    operations: Iterable[OutputOperation], output: Any, context: Context
) -> tuple[Any, dict[str, Any] | None]:
    """Run the operations in order: (new output, error or None).

    Raises:
        OperationFault: an operation cannot be carried out.
    """
    error = None
    for operation in operations:
        if isinstance(operation, TreatAsError):
            error = operation.error(output, context)
        else:
            output = operation.apply(output, context)
    return output, error


def _find(path: str, document: Any) -> list[Any]:
    if not isinstance(document, dict | list):
        raise OperationFault("the output is no object or list")
    breadth = _breadth(path)
    if breadth and breadth * _count(document, MAX_EXTRACT_VISITS) > MAX_EXTRACT_VISITS:
        raise OperationFault(f"the output is too large for {path}")
    try:
        return list(_compiled_path(path).findall(document))
    except Exception as error:  # whatever the library meets in an output must not stop the call
        raise OperationFault(f"{path} could not be read: {error}"[:300]) from None
