"""A variable that our templates use and nobody gave fails the test instead of showing nothing."""

import sys
from pathlib import Path
from types import FrameType

from django.template import Node, engines

OURS = Path(__file__).resolve().parent.parent / "templates"


class UndefinedVariable(Exception):
    """A template of ours showed a variable that is not there."""


class Undefined(str):
    """Stands in for ``string_if_invalid``: Django formats it with the name it could not resolve."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return True  # or Django would not look at it at all

    def __contains__(self, text: object) -> bool:
        return text == "%s"

    def __mod__(self, name: object) -> str:
        origin = _rendering(sys._getframe(1))
        if origin is not None and OURS in origin.parents:
            raise UndefinedVariable(f"{{{{ {name} }}}} in {origin.relative_to(OURS)}")
        return ""


def _rendering(frame: FrameType | None) -> Path | None:
    """The file of the innermost template node that is being rendered."""
    while frame is not None:
        node = frame.f_locals.get("self")
        if isinstance(node, Node):
            return Path(node.origin.name)
        frame = frame.f_back
    return None


def fail_on_undefined() -> None:
    """From now on, in this process. Templates of installed packages may go on leaving variables out."""
    for engine in engines.all():
        engine.engine.string_if_invalid = Undefined()
