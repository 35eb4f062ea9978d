"""Outputs that complain, outputs that only talk about errors, and what callers report."""

from typing import Any

import pytest

from memory.domain.failures import CallSnapshot, FailureFinding, detect_failure, detect_outcome_failure

TRACE = 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    f()\n'


@pytest.mark.parametrize(
    ("output", "kind", "error_type", "message"),
    [
        pytest.param("Error: no seats left", "output", "error", "Error: no seats left", id="error-colon"),
        pytest.param("ERROR - disk full", "output", "error", "ERROR - disk full", id="error-dash"),
        pytest.param(
            "Error executing query: no table t",
            "output",
            "error",
            "Error executing query: no table t",
            id="doing",
        ),
        pytest.param("Error (E42): bad", "output", "error", "Error (E42): bad", id="bracketed-code"),
        pytest.param(
            "MCP error -32602: bad params", "output", "error", "MCP error -32602: bad params", id="mcp-text"
        ),
        pytest.param("❌ Error: nope", "output", "error", "❌ Error: nope", id="decorated"),
        pytest.param("Failed to open the file", "output", "error", "Failed to open the file", id="failed-to"),
        pytest.param("Permission denied", "output", "error", "Permission denied", id="permission"),
        pytest.param(
            "fatal: not a git repository", "output", "error", "fatal: not a git repository", id="fatal"
        ),
        pytest.param(
            "ls: x: No such file or directory",
            "output",
            "error",
            "ls: x: No such file or directory",
            id="shell",
        ),
        pytest.param("Invalid API key", "output", "error", "Invalid API key", id="refusal"),
        pytest.param(
            "Format your command as follows:\n$ X",
            "output",
            "error",
            "Format your command as follows:\n$ X",
            id="instruction",
        ),
        pytest.param("ValueError: bad x", "exception", "ValueError", "ValueError: bad x", id="exception"),
        pytest.param(
            "a.b.CustomException: x", "exception", "CustomException", "a.b.CustomException: x", id="dotted"
        ),
        pytest.param(TRACE + "KeyError: 'city'", "exception", "KeyError", "KeyError: 'city'", id="traceback"),
        pytest.param(
            "printed 1\n" + TRACE + "x.Oops: y", "exception", "Oops", "x.Oops: y", id="crash-after-output"
        ),
        pytest.param("404 Not Found", "http", "HTTP 404", "404 Not Found", id="status-line"),
        pytest.param("HTTP 503", "http", "HTTP 503", "HTTP 503", id="http-number"),
        pytest.param(
            "Request failed with status code 429",
            "http",
            "HTTP 429",
            "Request failed with status code 429",
            id="client",
        ),
        pytest.param({"status": "error", "message": "m"}, "output", "error", "m", id="status-error"),
        pytest.param('{"status": "error", "message": "m"}', "output", "error", "m", id="json-text"),
        pytest.param("{'error': 'No such user'}", "output", "error", "No such user", id="python-literal"),
        pytest.param({"error": "No such user"}, "output", "error", "No such user", id="error-text"),
        pytest.param(
            {"error": "not_found", "message": "no row"}, "output", "not_found", "no row", id="error-code"
        ),
        pytest.param({"error": {"type": "T", "message": "m"}}, "output", "T", "m", id="error-object"),
        pytest.param({"error": {"code": -32601, "message": "m"}}, "output", "-32601", "m", id="json-rpc"),
        pytest.param(
            {"type": "error", "error": {"type": "overloaded", "message": "m"}},
            "output",
            "overloaded",
            "m",
            id="typed",
        ),
        pytest.param({"errors": [{"message": "m"}], "data": None}, "output", "error", "m", id="graphql"),
        pytest.param({"success": False, "reason": "r"}, "output", "error", "r", id="success-false"),
        pytest.param(
            {"ok": False, "error": "invalid_auth"}, "output", "error", "invalid_auth", id="ok-false"
        ),
        pytest.param({"status": "failed", "reason": "r"}, "output", "error", "r", id="failed-with-reason"),
        pytest.param({"status": 404}, "http", "HTTP 404", "HTTP 404 Not Found", id="status-number"),
        pytest.param(
            {"statusCode": 500, "body": "x"},
            "http",
            "HTTP 500",
            "HTTP 500 Internal Server Error",
            id="status-code",
        ),
        pytest.param({"status_code": "502", "detail": "d"}, "http", "HTTP 502", "d", id="status-code-text"),
        pytest.param({"code": 422, "message": "m"}, "http", "HTTP 422", "m", id="code-with-message"),
        pytest.param(
            {"isError": True, "content": [{"type": "text", "text": "no such tool"}]},
            "output",
            "error",
            "no such tool",
            id="mcp",
        ),
        pytest.param(
            [{"type": "text", "text": "Error: m"}], "output", "error", "Error: m", id="content-blocks"
        ),
        pytest.param(
            {"exit_code": 2, "stderr": "bad flag", "stdout": ""}, "output", "exit 2", "bad flag", id="process"
        ),
        pytest.param(
            {"exception": "ValueError: v"}, "exception", "ValueError", "ValueError: v", id="exception-field"
        ),
    ],
)
def test_detect_failure__output_complains__is_found(
    output: Any, kind: str, error_type: str, message: str
) -> None:
    finding = detect_failure(CallSnapshot(tool="t", output=output))

    assert finding is not None
    assert (finding.kind, finding.error_type, finding.message) == (kind, error_type, message)


@pytest.mark.parametrize(
    "output",
    [
        pytest.param(None, id="nothing"),
        pytest.param("", id="empty"),
        pytest.param("Error handling in Python: a guide", id="title"),
        pytest.param("Errors: 0, warnings: 2", id="count-of-errors"),
        pytest.param("Error: 0.03", id="numeric-error"),
        pytest.param("Margin of error: 3%", id="margin"),
        pytest.param("MeanSquaredError: 0.021", id="metric"),
        pytest.param("Error: none", id="no-error"),
        pytest.param("Common error: people forget the key", id="advice"),
        pytest.param("The error was fixed in 2.1.", id="prose"),
        pytest.param("2024-05-01 ERROR db: lost connection\n2024-05-01 INFO back", id="log-lines"),
        pytest.param(
            "log:\n" + TRACE + "KeyError: 'x'\n2024-05-01 INFO restarted and well", id="log-with-traceback"
        ),
        pytest.param("Failed: 0, passed: 12", id="test-summary"),
        pytest.param("404 Main Street", id="address"),
        pytest.param("500 errors were sampled", id="number-first"),
        pytest.param("503 rooms are free", id="number-then-words"),
        pytest.param("Exception handling", id="topic"),
        pytest.param("Unknown Pleasures by Joy Division", id="a-title-that-begins-like-a-refusal"),
        pytest.param("The answer is formatted as follows: 1, 2", id="an-explanation"),
        pytest.param("Missing persons: 3", id="a-count"),
        pytest.param("[('Terror on Dinosaur Island!',)]", id="rows"),
        pytest.param('[{"status": 404, "path": "/a"}]', id="rows-with-status"),
        pytest.param({"error": None, "data": 1}, id="error-null"),
        pytest.param({"error": "", "data": 1}, id="error-empty"),
        pytest.param({"error": False}, id="error-false"),
        pytest.param({"error": 0.02, "mean": 3.5}, id="error-number"),
        pytest.param({"errors": [], "data": {}}, id="no-errors"),
        pytest.param({"errors": 0}, id="errors-zero"),
        pytest.param({"success": True, "error": "retried once"}, id="success-true"),
        pytest.param({"status": "ok"}, id="status-ok"),
        pytest.param({"status": "failed", "order_id": "O1"}, id="an-order-that-failed"),
        pytest.param({"status": "cancelled", "reservation_id": "R"}, id="a-cancelled-reservation"),
        pytest.param({"status": 200, "body": "error"}, id="status-200"),
        pytest.param({"status": 1, "name": "n"}, id="status-one"),
        pytest.param({"code": 404, "name": "Product 404"}, id="product-code"),
        pytest.param({"result": {"error": "x"}}, id="nested-error"),
        pytest.param({"exit_code": 1, "stderr": "", "stdout": ""}, id="grep-found-nothing"),
        pytest.param({"valid": False}, id="a-negative-answer"),
        pytest.param("{not json", id="broken-json"),
    ],
)
def test_detect_failure__output_only_mentions_errors__is_no_failure(output: Any) -> None:
    assert detect_failure(CallSnapshot(tool="t", output=output)) is None


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        pytest.param(
            {"status": "error", "error_message": "KeyError: 'a'"},
            FailureFinding("exception", "KeyError", "KeyError: 'a'"),
            id="type-read-from-the-message",
        ),
        pytest.param(
            {"status": "error", "output": "the table is missing"},
            FailureFinding("error", "error", "the table is missing"),
            id="output-is-the-message",
        ),
        pytest.param(
            {"status": "error", "output": {"error": {"type": "T", "message": "m"}}},
            FailureFinding("exception", "T", "m"),
            id="output-document-is-the-message",
        ),
        pytest.param(
            {"status": "rejected"},
            FailureFinding("rejected", "rejected", "The call ended as rejected without a message."),
            id="rejected",
        ),
        pytest.param(
            {"status": "cancelled", "error_message": "by user"},
            FailureFinding("cancelled", "cancelled", "by user"),
            id="cancelled",
        ),
        pytest.param(
            {"status": "timeout", "error_message": "after 5 s"},
            FailureFinding("timeout", "timeout", "after 5 s"),
            id="timeout",
        ),
        pytest.param(
            {"http_status": 404}, FailureFinding("http", "HTTP 404", "HTTP 404 Not Found", 404), id="http"
        ),
        pytest.param(
            {"http_status": 500, "error_type": "ServerError", "error_message": "m"},
            FailureFinding("http", "ServerError", "m", 500),
            id="http-with-type",
        ),
        pytest.param(
            {"error_type": "ValueError"},
            FailureFinding("exception", "ValueError", "ValueError"),
            id="type-only",
        ),
        pytest.param(
            {"status": "error", "error_detail": {"message": "d", "type": "D"}},
            FailureFinding("exception", "D", "d"),
            id="detail-is-the-message",
        ),
        pytest.param(
            {"status": "ok", "output": "Error: m"},
            FailureFinding("output", "error", "Error: m"),
            id="ok-but-says-error",
        ),
    ],
)
def test_detect_failure__caller_reports__report_wins(call: dict[str, Any], expected: FailureFinding) -> None:
    assert detect_failure(CallSnapshot(tool="t", **call)) == expected


@pytest.mark.parametrize(
    "call",
    [
        pytest.param({"status": "ok"}, id="ok"),
        pytest.param({"http_status": 204}, id="http-success"),
        pytest.param({"status": "unknown", "output": "fine"}, id="unknown"),
    ],
)
def test_detect_failure__nothing_wrong__is_none(call: dict[str, Any]) -> None:
    assert detect_failure(CallSnapshot(tool="t", **call)) is None


@pytest.mark.parametrize(
    ("said", "found"),
    [
        pytest.param({"result": "failure", "reward": None}, True, id="said-failure"),
        pytest.param({"result": "unknown", "reward": 0.0}, True, id="no-reward"),
        pytest.param({"result": "success", "reward": 0.0}, False, id="said-success"),
        pytest.param({"result": "unknown", "reward": 1.0}, False, id="rewarded"),
        pytest.param({"result": "unknown", "reward": None}, False, id="nobody-said"),
        pytest.param({"result": "failure", "reward": 0.0, "failed_calls": 1}, False, id="a-call-explains-it"),
    ],
)
def test_detect_outcome_failure__silent_loss__is_found_only_without_a_failed_call(
    said: dict[str, Any], found: bool
) -> None:
    finding = detect_outcome_failure(**{"note": "wrong seat", "failed_calls": 0, **said})

    assert (finding is not None) == found
    if finding:
        assert finding == FailureFinding("outcome", "TaskFailed", "wrong seat")
