"""HGMem's own run format: one JSON object a line, in time order, gzip or not.

``{path_id, source, run, model, domain, task_id, attempt, goal, success, reward, steps: [{tool, args, obs,
error}]}``. ``gold`` is a label and is never imported; ``success`` and ``reward`` become the outcome, said by
the evaluator. The format has no times: the order of the lines is the order of the tasks.
"""

from collections.abc import Iterator
from typing import Any

from memory.domain.importers.drafts import Draft, call_document, reward_of
from memory.domain.importers.records import BadRecordError, Item, LineError, Source, excerpt
from memory.domain.importers.values import Value, json_values


def read(lines: Source, *, source: str = "") -> Iterator[Item]:
    """Documents and line errors in file order. `source` is not needed: ``path_id`` names the run."""
    for value in json_values(lines):
        if isinstance(value, LineError):
            yield value
            continue
        try:
            draft = _draft(value)
        except BadRecordError as bad:
            yield LineError(value.line, str(bad), excerpt(repr(value.data)))
        else:
            yield from draft.documents()


def _draft(value: Value) -> Draft:
    row = value.data
    if not isinstance(row, dict):
        raise BadRecordError("expected an object with path_id and steps")
    path_id, steps = row.get("path_id"), row.get("steps")
    if not isinstance(path_id, str) or not path_id:
        raise BadRecordError("path_id: expected text")
    if not isinstance(steps, list):
        raise BadRecordError("steps: expected a list")
    domain = row.get("domain")
    return Draft(
        line=value.line,
        external_id=path_id,
        goal=_text(row, "goal"),
        agent=_text(row, "model"),
        framework=_text(row, "source"),
        env={"domain": domain} if domain else {},
        outcome=_outcome(row),
        calls=[_call(place, step) for place, step in enumerate(steps)],
    )


def _text(row: dict[str, Any], name: str) -> str:
    value = row.get(name) or ""
    if not isinstance(value, str):
        raise BadRecordError(f"{name}: expected text")
    return value


def _outcome(row: dict[str, Any]) -> dict[str, Any] | None:
    success, reward = row.get("success"), row.get("reward")
    if success is not None and not isinstance(success, bool):
        raise BadRecordError("success: expected true or false")
    if success is None and reward is None:
        return None
    if reward is not None:
        reward = reward_of(reward)
    solved = reward is not None and reward > 0 if success is None else success
    outcome: dict[str, Any] = {"result": "success" if solved else "failure", "by": "evaluator"}
    return outcome if reward is None else outcome | {"reward": reward}


def _call(place: int, step: Any) -> dict[str, Any]:
    if not isinstance(step, dict):
        raise BadRecordError(f"steps[{place}]: expected an object")
    tool, failed = step.get("tool"), step.get("error")
    if not isinstance(tool, str) or not tool:
        raise BadRecordError(f"steps[{place}].tool: expected text")
    if failed is not None and not isinstance(failed, bool | str):
        raise BadRecordError(f"steps[{place}].error: expected true, false or text")
    seen = step.get("obs")
    status = "unknown" if failed is None else "error" if failed else "ok"
    message = (failed if isinstance(failed, str) else _message(seen)) if failed else None
    return call_document(tool, step.get("args"), status=status, output=seen, error=message)


def _message(seen: Any) -> str:
    return seen if isinstance(seen, str) else "" if seen is None else repr(seen)
