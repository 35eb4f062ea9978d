"""The circumstances of a failure: what is kept, and that it stays small."""

import msgspec

from memory.domain.context import PastCall, snapshot_context
from memory.domain.failures import CallSnapshot


def make_call(seq: int, *, size: int = 1) -> PastCall:
    call = CallSnapshot(tool=f"t{seq}", input={"x": "v" * size}, output="o" * size, status="ok")
    return PastCall(seq, call, reasoning_digest=f"r{seq}")


def test_snapshot_context__long_task__keeps_the_last_steps_before_the_failure() -> None:
    document = snapshot_context(
        make_call(7), [make_call(n) for n in (9, 3, 1, 6, 5, 2, 4)], {"domain": "d"}, goal="g"
    )

    assert [step["seq"] for step in document["steps"]] == [2, 3, 4, 5, 6]
    assert document["steps"][0]["input"] == '{"x":"v"}'
    assert document["steps"][0]["reasoning_digest"] == "r2"
    assert (document["input"], document["env"], document["goal"]) == ({"x": "v"}, {"domain": "d"}, "g")
    assert document["cut"] is False


def test_snapshot_context__same_input_twice__same_digest() -> None:
    first, second = snapshot_context(make_call(2), [make_call(0), make_call(1)], {})["steps"]

    assert first["input_digest"] == second["input_digest"]


def test_snapshot_context__too_large__drops_the_oldest_step_first() -> None:
    document = snapshot_context(
        make_call(3, size=10), [make_call(n, size=5_000) for n in range(3)], {}, max_bytes=2_000
    )

    assert document["cut"] is True
    assert [step["seq"] for step in document["steps"]] == [1, 2]
    assert document["input"] == {"x": "v" * 10}


def test_snapshot_context__large_values__become_previews_within_the_cap() -> None:
    document = snapshot_context(make_call(3, size=100_000), [], {"big": "e" * 100_000})

    assert len(msgspec.json.encode(document)) <= 16 * 1024
    assert document["cut"] is True
    assert document["input"]["preview"].startswith('{"x":"vvv')
