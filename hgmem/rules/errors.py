"""What can go wrong with a rule, a context or an evaluation."""

from dataclasses import dataclass
from typing import TypedDict


class FieldError(TypedDict):
    """One fault: the dotted path of the field and a sentence about it."""

    field: str
    detail: str


class RuleError(ValueError):
    """A rule, a condition or a context that cannot be accepted.

    ``errors`` is a list of ``{"field": "action_detail.field", "detail": "..."}``, ready for a 422
    answer or for the fields of a form.
    """

    def __init__(self, errors: list[FieldError] | str, field: str = "") -> None:
        self.errors: list[FieldError] = (
            [{"field": field, "detail": errors}] if isinstance(errors, str) else list(errors)
        )
        super().__init__("; ".join(_sentence(error) for error in self.errors))

    @property
    def details(self) -> str:
        """The sentences alone, for a caller that knows the field."""
        return "; ".join(error["detail"] for error in self.errors)

    def under(self, field: str) -> "RuleError":
        """The same faults, with ``field`` put before every path."""
        return RuleError(
            [
                {
                    "field": f"{field}.{error['field']}" if error["field"] else field,
                    "detail": error["detail"],
                }
                for error in self.errors
            ]
        )


def _sentence(error: FieldError) -> str:
    return f"{error['field']}: {error['detail']}" if error["field"] else error["detail"]


@dataclass(frozen=True, slots=True)
class EvaluationFailure:
    """The value of a condition that could not be evaluated. It is neither true nor false."""

    detail: str

    def __bool__(self) -> bool:
        """Refuse to be mistaken for an answer."""
        raise TypeError("an EvaluationFailure is neither true nor false; test 'is True'")
