"""What is asked of the solver, and what it answers. Plain data: it travels between processes."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol

Wanted = Literal["true", "not_true", "error"]


@dataclass(frozen=True, slots=True)
class Part:
    """A condition and how it should turn out."""

    condition: str
    wanted: Wanted = "true"


@dataclass(frozen=True, slots=True)
class Setting:
    """What the scopes of the rules leave: any call that fits has it all.

    ``tools`` are names and patterns the tool must fit, ``tool`` and ``version`` are ones that do.
    ``moment`` lies in every validity window; the window goes from ``since`` to before ``until``.
    """

    point: str
    moment: datetime
    tools: tuple[str, ...] = ()
    tool: str = ""
    version: str = ""
    tags: tuple[str, ...] = ()
    agent: str = ""
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """Is there a call in which every part turns out as wanted?

    ``prefer`` are conditions that a good example meets as well, most wanted first; ``schema`` is the tool's
    JSON Schema, which it should obey. Neither takes anything away from the answer.
    """

    parts: tuple[Part, ...]
    setting: Setting
    prefer: tuple[str, ...] = ()
    schema: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """``yes`` with a call (``witness``, a context, at ``moment``) that the evaluator confirmed; ``no``, proved; or
    ``unknown`` with the ``reason``. ``obeys_schema`` says that the call fits the tool's schema."""

    outcome: Literal["yes", "no", "unknown"]
    witness: dict[str, Any] | None = None
    moment: datetime | None = None
    reason: str = ""
    obeys_schema: bool = True


class Solver(Protocol):
    """Who answers questions: a child process, or this one."""

    def ask(self, question: Question) -> Answer:
        """Answer within the limits; never raises and never hangs."""
        ...
