"""What an import would do."""

from datetime import UTC, datetime

from memory.domain.importers import LineError, summarise
from memory.domain.importers.drafts import Draft, call_document
from memory.domain.importers.plan import MAX_LISTED, ToolCount

NOON = datetime(2026, 5, 20, 12, tzinfo=UTC)


def draft(identity, calls, **fields):
    return Draft(line=1, external_id=identity, calls=calls, **fields)


def test_summarise__documents_and_errors__are_counted():
    ok, failed = call_document("a", {}, status="ok"), call_document("b", {}, status="rejected")
    items = [
        *draft("r1", [ok, ok, failed], started_at=NOON, outcome={"result": "failure"}).documents(),
        *draft("r2", [ok] * 600, outcome={"result": "success"}).documents(),
        LineError(7, "truncated", "{"),
    ]

    plan = summarise(items)

    assert (plan.runs, plan.documents, plan.calls, plan.errors) == (2, 3, 603, 1)
    assert (plan.succeeded, plan.failed) == (1, 1)
    assert plan.tools == (ToolCount("a", 602, 0), ToolCount("b", 1, 1))
    assert (plan.first_at, plan.last_at) == (NOON, NOON)
    assert (plan.line_error_count, plan.line_errors[0].line) == (1, 7)
    assert plan.notes == ((1, "600 calls, sent as 2 documents"),)


def test_summarise__nothing__is_an_empty_plan():
    plan = summarise([])

    assert (plan.runs, plan.calls, plan.tools, plan.first_at) == (0, 0, (), None)


def test_summarise__more_errors_than_it_lists__counts_all():
    plan = summarise(LineError(line, "bad") for line in range(MAX_LISTED + 5))

    assert (plan.line_error_count, len(plan.line_errors)) == (MAX_LISTED + 5, MAX_LISTED)
