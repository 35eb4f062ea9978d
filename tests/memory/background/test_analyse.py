"""The analysis: what it finds, and that finding it again changes nothing."""

from typing import Any
from unittest.mock import patch

import pytest

from memory.background.analyse import analyse_backlog
from memory.models import (
    DailyCount,
    ErrorPattern,
    Failure,
    Path,
    PatternLink,
    RewriteProposal,
    Task,
    Tool,
    ToolSchema,
    Validator,
)
from memory.queries.health import get_backlog
from tests.builders import make_path
from tests.conftest import Cast
from tests.memory.builders import make_document, record

pytestmark = pytest.mark.django_db


def failing(external_id: str, message: str = "Unknown column 'agee'", **fields: Any) -> dict[str, Any]:
    calls = [
        {"tool": "look", "input": {"table": "people"}, "status": "ok"},
        {"tool": "sql", "input": {"q": "select agee"}, "status": "error", "error": {"message": message}},
        {"tool": "sql", "input": {"q": "select age"}, "output": [[1]], "status": "ok"},
    ]
    return make_document(external_id, calls=calls, env={"domain": "shop"}, **fields)


def everything() -> dict[str, Any]:
    """All that the analysis writes, in a form that can be compared."""
    return {
        "failures": sorted(Failure.objects.values_list("task__external_id", "detector", "repeat")),
        "patterns": sorted(
            ErrorPattern.objects.values_list(
                "title", "occurrence_count", "task_count", "first_task__external_id"
            )
        ),
        "days": sorted(DailyCount.objects.values_list("tool", "calls", "failures", "repeats")),
        "tools": sorted(Tool.objects.values_list("name", "call_count", "failure_count", "schema_version")),
        "tasks": sorted(Task.objects.values_list("external_id", "failure_count", "analysis_error")),
    }


def test_analyse__failed_call__becomes_a_failure_with_pattern_and_context(cast: Cast) -> None:
    record(cast.workspace, failing("a"))

    assert analyse_backlog() == 1

    failure = Failure.objects.select_related("pattern", "call").get()
    assert (failure.source, failure.detector, failure.call.seq) == ("explicit", "call:1", 1)
    assert "agee" in failure.pattern.identifier
    assert failure.pattern.scope == "shop"
    assert failure.context["input"] == {"q": "select agee"}
    assert [step["tool"] for step in failure.context["steps"]] == ["look"]
    assert failure.context["env"] == {"domain": "shop"}
    assert Task.objects.get().failure_count == 1
    assert get_backlog(cast.workspace.pk).waiting == 0


def test_analyse__same_mistake_later__is_a_repeat(cast: Cast) -> None:
    record(cast.workspace, failing("a"), failing("b"))
    analyse_backlog()
    record(cast.workspace, failing("c"))
    analyse_backlog()

    assert dict(Failure.objects.values_list("task__external_id", "repeat")) == {
        "a": False,
        "b": True,
        "c": True,
    }
    pattern = ErrorPattern.objects.get()
    assert (pattern.occurrence_count, pattern.task_count, pattern.first_task.external_id) == (3, 3, "a")
    assert sum(DailyCount.objects.values_list("repeats", flat=True)) == 2


def test_analyse__earlier_task_analysed_last__turns_the_other_into_a_repeat(cast: Cast) -> None:
    record(cast.workspace, failing("a"), failing("b"))
    Task.objects.filter(external_id="a").update(analysed_at="2026-01-01T00:00:00Z")
    analyse_backlog()
    Task.objects.filter(external_id="a").update(analysed_at=None)
    analyse_backlog()

    assert dict(Failure.objects.values_list("task__external_id", "repeat")) == {"a": False, "b": True}
    assert sum(DailyCount.objects.values_list("repeats", flat=True)) == 1


def test_analyse__again__changes_nothing(cast: Cast) -> None:
    record(cast.workspace, failing("a", outcome={"result": "failure"}), failing("b"), make_document("c"))
    analyse_backlog()
    before = everything()

    Task.objects.update(analysed_at=None)
    analyse_backlog()

    assert everything() == before


def test_analyse__in_parts__equals_the_whole(cast: Cast) -> None:
    whole = failing("a", outcome={"result": "failure"}, final=True)
    record(cast.elsewhere, whole)
    analyse_backlog()
    expected = everything()
    Task.objects.all().delete()
    for model in (ErrorPattern, DailyCount, Tool):
        model.objects.all().delete()

    for count in (1, 2, 3):
        part = {
            "external_id": "a",
            "goal": whole["goal"],
            "env": whole["env"],
            "calls": whole["calls"][:count],
        }
        record(cast.elsewhere, part)
        analyse_backlog()
    record(cast.elsewhere, whole)
    analyse_backlog()

    assert everything() == expected


def test_analyse__long_task__is_taken_in_slices(cast: Cast) -> None:
    calls = [
        {"tool": "t", "input": {"n": n}, "status": "error" if n % 100 == 7 else "ok"} for n in range(500)
    ]
    record(cast.workspace, make_document(calls=calls))
    record(cast.workspace, make_document(calls=[{"tool": "t", "seq": n} for n in range(500, 900)]))

    assert analyse_backlog() == 3

    assert Failure.objects.count() == 5
    assert Tool.objects.get().call_count == 900


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        pytest.param({"outcome": {"result": "failure", "note": "Wrong date"}}, 1, id="failed-silently"),
        pytest.param({"outcome": {"result": "success"}}, 0, id="succeeded"),
        pytest.param({"outcome": {"reward": 0.0}}, 1, id="no-reward"),
        pytest.param({"outcome": {"reward": 1.0}}, 0, id="rewarded"),
        pytest.param({}, 0, id="nothing-said"),
    ],
)
def test_analyse__no_failed_call__looks_at_the_outcome(
    cast: Cast, fields: dict[str, Any], found: int
) -> None:
    record(cast.workspace, make_document(calls=[{"tool": "t", "status": "ok"}], **fields))

    analyse_backlog()

    assert Failure.objects.filter(source="outcome", call=None).count() == Failure.objects.count() == found


def test_analyse__judged_later__adds_the_outcome_failure_once(cast: Cast) -> None:
    record(cast.workspace, make_document(calls=[{"tool": "t", "status": "ok"}], final=True))
    analyse_backlog()
    for _ in range(2):
        record(cast.workspace, {"external_id": "t1", "outcome": {"result": "failure", "by": "human"}})
        analyse_backlog()

    assert Failure.objects.get().detector == "task"
    assert sum(DailyCount.objects.values_list("calls", flat=True)) == 1


VALIDATORS = [
    pytest.param("cel", {"check": "size(output) > 0"}, id="cel"),
    pytest.param("json_schema", {"schema": {"type": "array", "minItems": 1}}, id="json-schema"),
]


@pytest.mark.parametrize(("kind", "body"), VALIDATORS)
def test_analyse__validator__finds_the_silent_failure_only(
    cast: Cast, kind: str, body: dict[str, Any]
) -> None:
    validator = Validator.objects.create(
        workspace=cast.workspace, name="not empty", tool="sea*", kind=kind, body=body, message="Nothing found"
    )
    calls = [
        {"tool": "search", "output": [], "status": "ok"},
        {"tool": "search", "output": [1], "status": "ok"},
        {"tool": "search", "output": [], "status": "error"},
        {"tool": "other", "output": [], "status": "ok"},
    ]
    record(cast.workspace, make_document(calls=calls))
    record(cast.elsewhere, make_document(calls=calls[:1]))

    analyse_backlog()

    silent = Failure.objects.get(source="validator")
    assert (silent.call.seq, silent.message, silent.validator) == (0, "Nothing found", validator)
    assert Failure.objects.filter(source="explicit").count() == 1


def test_analyse__validator_that_cannot_be_evaluated__is_counted_on_it(cast: Cast) -> None:
    validator = Validator.objects.create(
        workspace=cast.workspace, name="v", tool="*", kind="cel", body={"check": "output.size() > 0"}
    )
    record(cast.workspace, make_document(calls=[{"tool": "t", "output": 3, "status": "ok"}]))

    analyse_backlog()

    validator.refresh_from_db()
    assert (Failure.objects.count(), validator.error_count) == (0, 1)
    assert validator.last_error


def test_analyse__call_that_raises__is_named_and_does_not_stop_the_rest(cast: Cast) -> None:
    from memory.domain import analysis

    def explode(call: Any) -> Any:
        if call.tool == "look":
            raise RuntimeError("boom")
        return real(call)

    real = analysis.detect_failure
    record(cast.workspace, failing("a"), make_document("b"))
    with patch("memory.domain.analysis.detect_failure", side_effect=explode):
        analyse_backlog()

    assert Task.objects.get(external_id="a").analysis_error == "call 0: RuntimeError: boom"
    assert Failure.objects.count() == 2
    assert get_backlog().waiting == 0
    assert get_backlog().unreadable == 1


@pytest.mark.django_db(transaction=True)
def test_analyse__task_that_cannot_be_written__is_marked_and_the_others_go_on(cast: Cast) -> None:
    from memory.background import findings

    def refuse(claim: Any, *rest: Any) -> Any:
        if claim.task.goal == "bad":
            raise ValueError("cannot be written")
        return real(claim, *rest)

    real = findings._failure_row
    record(cast.workspace, make_document("a", goal="bad"), make_document("b"))
    with patch("memory.background.findings._failure_row", side_effect=refuse):
        analyse_backlog()

    assert "cannot be written" in Task.objects.get(external_id="a").analysis_error
    assert Failure.objects.get().task.external_id == "b"
    assert get_backlog().waiting == 0

    record(cast.workspace, make_document("a", goal="bad", tags=["changed"]))
    analyse_backlog()

    assert Task.objects.get(external_id="a").analysis_error == ""
    assert Failure.objects.count() == 2


def test_analyse__tool__learns_its_schema_from_calls_that_worked(cast: Cast) -> None:
    good = [{"tool": "t", "input": {"city": "Paris"}, "status": "ok"} for _ in range(25)]
    bad = [{"tool": "t", "input": {"town": 3}, "status": "error"}]
    record(cast.workspace, make_document("a", calls=good + bad))
    analyse_backlog()
    before = Tool.objects.get()
    record(cast.workspace, make_document("b", calls=[{"tool": "t", "input": {"city": "Rome", "days": 2}}]))
    analyse_backlog()
    after = Tool.objects.get()

    assert list(before.input_schema["properties"]) == ["city"]
    assert (before.call_count, before.failure_count, before.schema_version) == (26, 1, 1)
    assert (after.schema_version, sorted(after.input_schema["properties"])) == (2, ["city", "days"])
    versions = dict(ToolSchema.objects.values_list("version", "schema_hash"))
    assert versions == {1: before.schema_hash, 2: after.schema_hash}
    assert "days" in ToolSchema.objects.get(version=2).change


def test_analyse__tool_takes_another_input__asks_for_rewrites_of_the_paths_in_use(cast: Cast) -> None:
    good = [{"tool": "t", "input": {"city": "Paris"}, "status": "ok"} for _ in range(25)]
    record(cast.workspace, make_document("a", calls=good))
    analyse_backlog()
    path = make_path(cast.workspace, "Look up the weather", ("t",))
    Path.objects.filter(pk=path.pk).update(use_count=3)

    record(cast.workspace, make_document("b", calls=[{"tool": "t", "input": {"city": "Rome", "days": 2}}]))
    analyse_backlog()

    proposal = RewriteProposal.objects.get()
    assert (proposal.path, proposal.trigger, proposal.request["cause"]) == (path, "environment", "t:2")
    assert "input.days: new optional field" in proposal.request["reason"]


def test_analyse__alike_patterns__are_linked_once(cast: Cast) -> None:
    record(cast.workspace, failing("a", "Unknown column 'agee'"), failing("b", "Unknown column 'agees'"))
    analyse_backlog()
    Task.objects.update(analysed_at=None)
    analyse_backlog()

    link = PatternLink.objects.get()
    assert link.pattern_id < link.other_id
    assert ErrorPattern.objects.filter(linked_at=None).count() == 0


def test_analyse__other_workspace__has_patterns_of_its_own(cast: Cast) -> None:
    record(cast.workspace, failing("a"))
    record(cast.elsewhere, failing("a"))
    analyse_backlog()

    assert ErrorPattern.objects.count() == 2
    assert not Failure.objects.filter(repeat=True).exists()
    assert PatternLink.objects.count() == 0
