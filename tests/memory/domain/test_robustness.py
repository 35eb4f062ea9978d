"""Whatever an agent sends: the analysis answers, and answers the same again."""

import contextlib
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.domain.context import MAX_BYTES, PastCall, snapshot_context
from memory.domain.experience import ExperienceDoc
from memory.domain.failures import CallSnapshot, FailureFinding, detect_failure
from memory.domain.intake import DocumentError, InvalidBodyError, read_document, read_documents
from memory.domain.merge import MergePlan, merge_task
from memory.domain.patterns import pattern_of
from memory.domain.payloads import cap_value, restore
from memory.domain.records import normalize
from memory.domain.redaction import Redactor

words = st.sampled_from(
    [
        "error",
        "Error:",
        "status",
        "code",
        "message",
        "404",
        "'x'",
        "“y”",
        "Traceback (most recent call last):\n",
        "\n",
    ]
)
texts = st.text(max_size=12) | st.lists(words | st.text(max_size=5), max_size=6).map(" ".join)
storable = texts.filter(lambda text: "\x00" not in text)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | storable,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["error", "status", "code", "errors", "message", "a"]), inner, max_size=4
        )
    ),
    max_leaves=10,
)


@settings(max_examples=200, deadline=None)
@given(values, storable, st.dictionaries(storable, values, max_size=3))
def test_analysis__any_call__never_raises_and_repeats_itself(
    output: Any, message: str, given_input: Any
) -> None:
    call = CallSnapshot(tool="t", input=given_input, output=output, error_message=message)

    finding = detect_failure(call)
    assert detect_failure(call) == finding
    said = finding or FailureFinding("error", "error", message)
    pattern = pattern_of("t", said, given_input, {"domain": "d"})
    assert pattern_of("t", said, given_input, {"domain": "d"}) == pattern
    context = snapshot_context(PastCall(1, call), [PastCall(0, call)], {"x": output})
    assert len(msgspec.json.encode(context)) <= MAX_BYTES


@settings(max_examples=100, deadline=None)
@given(values, st.dictionaries(storable, values, max_size=3), storable)
def test_recording__any_content__comes_back_and_merges_with_itself(output: Any, env: Any, goal: str) -> None:
    doc = read_document(
        {"external_id": "a", "goal": goal, "env": env, "calls": [{"tool": "t", "output": output}]}
    )
    assert isinstance(doc, ExperienceDoc)

    record = normalize(doc, redactor=Redactor(), key=b"k")
    capped = cap_value(record.calls[0].output, cap=40)

    assert restore(capped.value, capped.payload) == record.calls[0].output
    assert normalize(doc, redactor=Redactor(), key=b"k") == record
    assert isinstance(merge_task(None, record), MergePlan)


@settings(max_examples=200, deadline=None)
@given(
    st.binary(max_size=60) | st.sampled_from([b"{", b"[", b'{"experiences":[', b'{"external_id":"\\ud800'])
)
def test_read_documents__any_bytes__answers_or_refuses(body: bytes) -> None:
    with contextlib.suppress(InvalidBodyError):
        assert all(isinstance(doc, ExperienceDoc | DocumentError) for doc in read_documents(body))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Error " + "executing " * 20_000, id="doing"),
        pytest.param("a." * 100_000 + "Error", id="dotted"),
        pytest.param("A" * 200_000, id="one-word"),
        pytest.param("Traceback (most recent call last):\n" * 5_000, id="tracebacks"),
        pytest.param("404 " + "not-" * 50_000, id="phrases"),
        pytest.param("'" * 100_000, id="quotes"),
        pytest.param("1-" * 100_000, id="numbers"),
        pytest.param("{" * 100_000, id="braces"),
    ],
)
def test_analysis__hostile_text__is_answered(text: str) -> None:
    """A quadratic expression would not come back within the suite's patience."""
    finding = detect_failure(CallSnapshot(tool="t", status="error", error_message=text, output=text))

    assert finding is not None
    assert len(pattern_of("t", finding, {"q": text}, {}).title) <= 160
