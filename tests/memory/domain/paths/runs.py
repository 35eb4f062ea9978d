"""Runs to build paths from."""

from typing import Any

from memory.domain.paths.runs import Run, RunCall, RunFailure


def call(tool: str, error: str = "", **fields: Any) -> RunCall:
    """A call; with ``error`` a failed one. ``input`` may be given, ``seq`` is set by :func:`run`."""
    failure = RunFailure(error, template=error, error_type="Error", pattern="p") if error else None
    return RunCall(seq=0, tool=tool, failure=failure, **fields)


def run(*calls: RunCall, outcome: str = "success", **fields: Any) -> Run:
    """A finished run of these calls, numbered in order, a turn each."""
    numbered = [
        RunCall(
            seq=place, tool=item.tool, input=item.input, output=item.output, failure=item.failure,
            step=item.step or place, duration_ms=item.duration_ms, reasoning=item.reasoning,
            happened_at=item.happened_at,
        )
        for place, item in enumerate(calls)
    ]  # fmt: skip
    given = {"external_id": "t", "goal": "Book a flight", "agent": "gpt", **fields}
    return Run(calls=numbered, outcome=outcome, **given)
