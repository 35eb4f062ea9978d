"""A file's format from its first bytes."""

import gzip
import json

import pytest

from memory.domain.importers import UnknownFormatError, detect_format, read

RUN = b'{"path_id":"a","steps":[]}\n'


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        pytest.param(RUN, "runs", id="runs"),
        pytest.param(gzip.compress(RUN), "runs", id="runs_gz"),
        pytest.param(b"\xef\xbb\xbf" + RUN, "runs", id="runs_bom"),
        pytest.param(b'{"messages":[{"role":"user"}]}', "chat", id="chat_messages"),
        pytest.param(b'[\n {\n "task_id": 0,\n "traj": [', "chat", id="tau_bench"),
        pytest.param(b'[{"role": "user", "content": "x"}]', "chat", id="chat_list"),
        pytest.param(b'{"input":[{"type":"function_call","name":"f"}]}', "chat", id="responses"),
        pytest.param(
            b'{"type":"summary","summary":"x","leafUuid":"u"}\n', "claude_code", id="claude_summary"
        ),
        pytest.param(
            b'{"parentUuid":null,"sessionId":"s","type":"user","message":{"role":"user"}}',
            "claude_code",
            id="claude",
        ),
        pytest.param(b'[{"id":"o","traceId":"t","type":"GENERATION"}]', "langfuse", id="langfuse"),
        pytest.param(
            b'{"trace_id":"t","type":"TOOL","input":"{\\"messages\\": []}"}',
            "langfuse",
            id="langfuse_snake_case",
        ),
        pytest.param(b"id,traceId,type,name\n1,t,SPAN,x\n", "langfuse", id="langfuse_csv"),
        pytest.param(b'"id","trace_id","type"\r\n', "langfuse", id="langfuse_csv_quoted"),
        pytest.param(b'{"resourceSpans":[]}', "otlp", id="otlp"),
        pytest.param(b'{\n  "resourceSpans": [', "otlp", id="otlp_spread"),
        pytest.param(b"", None, id="empty"),
        pytest.param(b"\x00\x01\x02", None, id="binary"),
        pytest.param(b"\x1f\x8bgarbage", None, id="broken_gzip"),
        pytest.param(b'{"a": 1}', None, id="other_json"),
        pytest.param(b"a,b,c\n1,2,3\n", None, id="other_csv"),
    ],
)
def test_detect_format__first_bytes__name_the_format(head, expected):
    assert detect_format(head) == expected


def test_detect_format__truncated_gzip_head__still_reads_it():
    packed = gzip.compress(
        b"".join(json.dumps({"path_id": str(n), "steps": []}).encode() for n in range(9999))
    )

    assert detect_format(packed[:2000]) == "runs"


def test_read__unknown_format__names_the_known_ones():
    with pytest.raises(UnknownFormatError, match="runs, chat, claude_code, langfuse, otlp"):
        read("xml", b"", source="f")
