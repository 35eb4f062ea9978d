"""Failures that a framework hands over as answers, and what a model reads of a call that was not made."""

from hgmem.guarding.wording import with_hints


class ToolError(Exception):
    """The framework's answer says that the tool failed; the text is that answer's.

    Where the framework tells the exception too, it is the cause, and what is recorded.
    """

    tells_cause = True


def text_of(error: Exception) -> str:
    """An error as a model reads it, with the hints that rules added."""
    notes = [note.removeprefix("[hint] ") for note in getattr(error, "__notes__", ())]
    return with_hints(str(error) or type(error).__name__, notes)
