"""Claude Code session transcripts."""

import json

import msgspec
import pytest

from memory.domain.experience import ExperienceDoc
from memory.domain.importers import Imported, LineError, read

SESSION = "5e55"


def record(kind, second, content, **fields):
    base = {
        "type": kind,
        "sessionId": SESSION,
        "uuid": f"u{second}",
        "timestamp": f"2026-05-20T12:00:{second:02d}.000Z",
        "cwd": "/home/dev/app",
        "gitBranch": "main",
        "message": {"role": kind, "content": content},
    }
    if kind == "assistant":
        base["message"] |= {"id": f"m{second}", "model": "claude-x"}
    return base | fields


def use(identity, name, arguments):
    return {"type": "tool_use", "id": identity, "name": name, "input": arguments}


def result(identity, content, **fields):
    return [{"type": "tool_result", "tool_use_id": identity, "content": content, **fields}]


SESSION_RECORDS = [
    {"type": "summary", "summary": "A title", "leafUuid": "u9"},
    record("user", 1, "caveat", isMeta=True),
    record("user", 2, "fix the bug"),
    record("assistant", 3, [{"type": "thinking", "thinking": "look first", "signature": "s"}]),
    record("assistant", 4, [{"type": "text", "text": "Reading."}, use("t1", "Read", {"file_path": "a.py"})]),
    record("user", 6, result("t1", [{"type": "text", "text": "x = 1"}])),
    record("assistant", 7, [use("t2", "Bash", {"command": "make"}), use("t3", "Bash", {"command": "ls"})]),
    record("user", 8, result("t2", "Exit code 2", is_error=True)),
    record("user", 9, result("t3", "a.py")),
    record("assistant", 10, [{"type": "text", "text": "Fixed."}]),
    record("user", 11, "thanks"),
    record("assistant", 12, [{"type": "text", "text": "Welcome."}]),
    record("user", 13, [{"type": "text", "text": "now the tests"}]),
    record("assistant", 14, [use("t4", "Bash", {"command": "pytest"})]),
]


def items_of(records):
    return list(read("claude_code", [json.dumps(row) for row in records], source="f"))


def documents(records):
    items = items_of(records)
    assert not [item for item in items if isinstance(item, LineError)]
    return [msgspec.convert(item.document, ExperienceDoc) for item in items]


def test_read__a_session__is_a_task_per_prompt_that_used_tools():
    first, second = documents(SESSION_RECORDS)

    assert (first.external_id, first.root_task, first.goal) == (f"{SESSION}:u2", SESSION, "fix the bug")
    assert (first.agent, first.framework) == ("claude-x", "claude_code")
    assert first.env == {"cwd": "/home/dev/app", "git_branch": "main"}
    assert (second.external_id, second.goal) == (f"{SESSION}:u13", "now the tests")


def test_read__calls__have_results_durations_and_reasoning():
    read_call, make, listing = documents(SESSION_RECORDS)[0].calls

    assert (read_call.tool, read_call.input, read_call.output) == ("Read", {"file_path": "a.py"}, "x = 1")
    assert (read_call.status, read_call.duration_ms) == ("ok", 2000.0)
    assert read_call.reasoning == "look first\n\nReading."
    assert (make.status, make.error.message, make.duration_ms) == ("error", "Exit code 2", 1000.0)
    assert [read_call.step, make.step, listing.step] == [0, 1, 1]


def test_read__last_turn__is_final_only_when_the_agent_had_the_last_word():
    running = documents(SESSION_RECORDS)
    ended = documents(
        [*SESSION_RECORDS, record("user", 15, result("t4", "ok")), record("assistant", 16, "All good.")]
    )

    assert [document.final for document in running] == [True, False]
    assert (running[1].calls, running[1].finished_at) == ([], None)
    assert [document.final for document in ended] == [True, True]


def test_read__running_session__is_a_beginning_of_the_ended_one():
    records = [
        *SESSION_RECORDS,
        record("user", 15, result("t4", "ok")),
        record("assistant", 16, [use("t5", "Bash", {"command": "ls"}), use("t6", "Read", {})]),
        record("user", 17, result("t6", "text")),
    ]
    more = [record("user", 18, result("t5", "a.py")), record("assistant", 19, "Done.")]

    running, ended = documents(records)[-1], documents([*records, *more])[-1]

    assert [call.tool for call in running.calls] == ["Bash"]
    assert running.calls == ended.calls[:1]
    assert [call.tool for call in ended.calls] == ["Bash", "Bash", "Read"]
    assert items_of(records)[-1].notes == ("2 last calls wait for a result; import again when it is there",)


@pytest.mark.parametrize(
    ("content", "fields", "status", "error_type"),
    [
        pytest.param(
            "The user doesn't want to proceed with this tool use. The tool use was rejected.",
            {},
            "rejected",
            "rejected",
            id="rejected_text",
        ),
        pytest.param(
            "no", {"toolUseResult": "User rejected tool use"}, "rejected", "rejected", id="rejected_detail"
        ),
        pytest.param(
            "[Request interrupted by user for tool use]", {}, "cancelled", "interrupted", id="interrupted"
        ),
        pytest.param(
            "", {"toolUseResult": {"interrupted": True}}, "cancelled", "interrupted", id="interrupted_bash"
        ),
        pytest.param("Command timed out after 2m", {}, "timeout", "timeout", id="timeout"),
        pytest.param(
            "<tool_use_error>not read</tool_use_error>", {}, "error", "tool_use_error", id="tool_use_error"
        ),
    ],
)
def test_read__failed_result__has_the_status_its_text_says(content, fields, status, error_type):
    ending = record("user", 5, result("t1", content, is_error=True), **fields)

    (document,) = documents([*SESSION_RECORDS[:3], SESSION_RECORDS[4], ending])

    (call,) = document.calls
    assert (call.status, call.error.type) == (status, error_type)
    assert "tool_use_error" not in call.error.message


def test_read__next_prompt_while_a_call_is_open__cancels_it():
    (document,) = documents(
        [
            *SESSION_RECORDS[:5],
            record("user", 6, "[Request interrupted by user]"),
            record("user", 7, "something else"),
        ]
    )

    assert [call.status for call in document.calls] == ["cancelled"]


def test_read__side_chain__is_a_task_of_its_own_under_the_session():
    side = {"isSidechain": True}
    records = [
        *SESSION_RECORDS[:5],
        record("user", 20, "find usages", parentUuid=None, **side),
        record("assistant", 21, [use("s1", "Grep", {"pattern": "x"})], parentUuid="u20", **side),
        record("user", 22, result("s1", "3 hits"), parentUuid="u21", **side),
        record("assistant", 23, "three", parentUuid="u22", **side),
        record("user", 30, result("t1", "x = 1")),
    ]

    main, sub = documents(records)

    assert (main.external_id, [call.tool for call in main.calls]) == (f"{SESSION}:u2", ["Read"])
    assert (sub.external_id, sub.root_task, sub.goal) == (f"{SESSION}:u20", SESSION, "find usages")
    assert ([call.tool for call in sub.calls], sub.tags, sub.final) == (["Grep"], ["sidechain"], True)


def test_read__side_chain_file_with_agent_id__is_named_after_the_agent():
    side = {"isSidechain": True, "agentId": "ab12"}
    (document,) = documents(
        [
            record("user", 1, "look", **side),
            record("assistant", 2, [use("s1", "Grep", {})], **side),
            record("user", 3, "more", **side),
        ]
    )

    assert document.external_id == f"{SESSION}:agent-ab12"


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        pytest.param([], "expected an object", id="list"),
        pytest.param({"type": "user", "sessionId": SESSION}, "message: expected an object", id="no_message"),
        pytest.param(record("user", 5, result("t9", "x")), "no open call", id="stray_result"),
    ],
)
def test_read__bad_record__is_reported_and_the_rest_read(bad, reason):
    items = items_of([*SESSION_RECORDS[:5], bad, *SESSION_RECORDS[5:]])

    (error,) = [item for item in items if isinstance(item, LineError)]
    assert (error.line, len([item for item in items if isinstance(item, Imported)])) == (6, 2)
    assert reason in error.reason


@pytest.mark.parametrize(
    "kind",
    ["progress", "system", "queue-operation", "file-history-snapshot", "attachment", "new-in-3.0", None],
)
def test_read__other_record_types__are_passed_over(kind):
    assert documents([*SESSION_RECORDS[:5], {"type": kind}]) == documents(SESSION_RECORDS[:5])
