"""What the server refuses, what it cannot take now, and what the disk does meanwhile."""

import json
import os
import shutil
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from hgmem.api.errors import ApiError, ConnectionFailed, NotFound, TooLarge
from hgmem.api.settings import Settings
from hgmem.periodic import Periodic
from hgmem.recording.merging import MAX_CALLS, merge_documents
from hgmem.recording.recorder import SYNC_EVERY_S, Recorder

LIMIT = 8 * 1024 * 1024
Answer = Callable[[Sequence[Any]], Any]


def call(seq: int, **more: Any) -> dict[str, Any]:
    return {"seq": seq, "tool": "search", "input": {"q": "x"}, **more}


def document(name: str, *calls: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"external_id": name, "calls": list(calls), **more}


def created(items: Sequence[Any]) -> list[dict[str, Any]]:
    return [{"status": "created"} for _ in items]


def make_recorder(home: Path, answer: Answer, **options: Any) -> tuple[Recorder, list[Any]]:
    """A recorder whose thread does not run, and what its server took or refused, in order."""
    seen: list[Any] = []

    def send(items: Sequence[Any]) -> Any:
        seen.extend(items)
        return answer(items)

    return Recorder(home, LIMIT, send, created, **options), seen


@pytest.fixture(autouse=True)
def no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Periodic, "enabled", False)


def refuse_seq_1(items: Sequence[Any]) -> list[dict[str, Any]]:
    return [
        {"status": "conflict", "errors": [{"field": "calls.1", "detail": "other content"}]}
        if any(call["seq"] == 1 for call in item.get("calls", ()))
        else {"status": "created"}
        for item in items
    ]


def test_turn__one_call_of_a_task_is_refused__the_others_and_the_end_arrive(tmp_path: Path) -> None:
    recorder, seen = make_recorder(tmp_path, refuse_seq_1)
    for seq in range(3):
        recorder.record(document("t", call(seq), goal="find"))
    recorder.record(document("t", final=True))
    assert recorder.flush() is True
    taken = [item for item in seen if refuse_seq_1([item])[0]["status"] == "created"]
    assert [[call["seq"] for call in item.get("calls", ())] for item in taken] == [[0], [2], []]
    assert [item.get("final", False) for item in taken] == [False, False, True]
    (row,) = (tmp_path / "refused" / "refused.jsonl").read_text().splitlines()
    assert json.loads(row)["item"]["calls"] == [call(1)]


def test_turn__one_document_is_too_large_for_a_proxy__goes_in_smaller_ones(tmp_path: Path) -> None:
    def answer(items: Sequence[Any]) -> Any:
        if len(items) > 1 or len(items[0]["calls"]) > 1:
            raise TooLarge("too large", status=413)
        return created(items)

    recorder, _ = make_recorder(tmp_path, answer)
    recorder.record(document("t", call(0), call(1)))
    assert recorder.flush() is True
    assert recorder.stats().delivered == 2
    assert recorder.stats().refused == 0


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(NotFound("no such page", status=404), id="another-site"),
        pytest.param(ApiError("moved", status=308), id="redirect"),
        pytest.param([], id="too-few-results"),
        pytest.param([None], id="no-results"),
        pytest.param(RuntimeError("a bug"), id="broken-sender"),
    ],
)
def test_turn__no_word_on_the_items__keeps_them_and_waits(tmp_path: Path, answer: Any) -> None:
    answers = [answer]

    def say(items: Sequence[Any]) -> Any:
        said = answers.pop() if answers else created(items)
        if isinstance(said, Exception):
            raise said
        return said

    recorder, seen = make_recorder(tmp_path, say)
    recorder.record(document("t", call(0)))
    recorder.turn()
    recorder.turn()
    assert (len(seen), recorder.stats().refused, recorder.stats().delivered) == (1, 0, 0)
    assert recorder.stats().last_error
    assert recorder.flush() is True
    assert recorder.stats().delivered == 1


def test_turn__many_calls__no_request_has_more_than_the_server_takes(tmp_path: Path) -> None:
    counts: list[int] = []

    def answer(items: Sequence[Any]) -> Any:
        counts.append(sum(len(item["calls"]) for item in items))
        return created(items)

    recorder, _ = make_recorder(tmp_path, answer)
    for seq in range(300):
        for name in "abc":
            recorder.record(document(name, call(seq)))
    assert recorder.flush() is True
    assert counts == [300, 300, 300]


def test_turn__cut_in_the_middle_of_a_segment__goes_on_where_it_was(tmp_path: Path) -> None:
    answers: list[Any] = [None, ConnectionFailed("cut")]

    def say(items: Sequence[Any]) -> Any:
        said = answers.pop(0) if answers else None
        if said is not None:
            raise said
        return created(items)

    recorder, seen = make_recorder(tmp_path, say)
    for number in range(150):
        recorder.record(document(str(number), call(0)))
    recorder.turn()
    seen.clear()
    assert recorder.flush() is True
    assert [item["external_id"] for item in seen] == [str(number) for number in range(100, 150)]


@pytest.mark.parametrize(
    "odd",
    [
        pytest.param({"external_id": "t", "steps": [{"calls": [{"tool": "a"}]}]}, id="steps"),
        pytest.param({"external_id": "t", "calls": [{"tool": "a"}]}, id="calls-without-places"),
        pytest.param({"calls": [call(0)]}, id="no-task"),
        pytest.param({"external_id": 5}, id="task-is-no-text"),
        pytest.param({"external_id": "t", "calls": 7}, id="calls-are-no-list"),
    ],
)
def test_merge__cannot_be_joined__stays_as_it_is(odd: dict[str, Any]) -> None:
    assert list(merge_documents([document("t", call(0)), odd, document("t", call(1))])) == [
        document("t", call(0), call(1)),
        odd,
    ]


def test_merge__more_calls_than_one_document_takes__ends_with_the_last(tmp_path: Path) -> None:
    documents = [document("t", call(seq), goal="find") for seq in reversed(range(MAX_CALLS + 1))]
    first, last = merge_documents([document("t", final=True), *documents])
    assert [call["seq"] for call in first["calls"]] == list(range(MAX_CALLS))
    assert "final" not in first
    assert (last["final"], last["goal"], last["calls"]) == (True, "find", [call(MAX_CALLS)])


def test_adopt__several_segments__are_delivered_in_their_order(tmp_path: Path) -> None:
    """The server takes no call of a task after its end."""
    dead, _ = make_recorder(tmp_path, away)
    for number in range(12):
        dead.record(document(str(number), call(0)))
        dead.flush(0.0)
        dead.turn()  # ends a segment
        dead._not_before = 0.0
    dead.close(0.0)
    middle, _ = make_recorder(tmp_path, away)
    middle.adopt()
    middle.record(document("12", call(0)))
    middle.close(0.0)
    heir, seen = make_recorder(tmp_path, created)
    heir.record(document("13", call(0)))
    assert heir.adopt() == 13
    assert heir.flush() is True
    assert [item["external_id"] for item in seen] == [str(number) for number in range(14)]


def test_record__text_is_no_unicode__arrives_without_it(tmp_path: Path) -> None:
    recorder, seen = make_recorder(tmp_path, created)
    assert recorder.record(document("t", call(0, output=os.fsdecode(b"a\xff")))) is True
    assert recorder.flush() is True
    assert seen[0]["calls"][0]["output"] == "a?"


def test_record__somebody_deletes_the_folder__goes_on_in_another(tmp_path: Path) -> None:
    recorder, seen = make_recorder(tmp_path, created)
    recorder.record(document("a", call(0)))
    recorder.flush()
    shutil.rmtree(tmp_path / "spool")
    recorder.record(document("b", call(0)))
    assert recorder.record(document("c", call(0))) is True
    assert recorder.flush() is True
    assert [item["external_id"] for item in seen] == ["a", "c", "b"]


def test_sync__disk_is_slow__holds_up_no_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    began, may_end = threading.Event(), threading.Event()

    def fsync(_handle: int) -> None:
        began.set()
        assert may_end.wait(10)

    now = [0.0]
    recorder, _ = make_recorder(tmp_path, away, clock=lambda: now[0])
    recorder.record(document("t", call(0)))
    now[0] += SYNC_EVERY_S
    monkeypatch.setattr(os, "fsync", fsync)
    thread = threading.Thread(target=recorder.turn)
    thread.start()
    assert began.wait(10)
    assert recorder.record(document("t", call(1))) is True
    may_end.set()
    thread.join()


def test_sync__server_is_away__each_second_what_is_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    recorder, _ = make_recorder(tmp_path, away, clock=lambda: now[0])
    counts = []
    for seq in range(3):
        recorder.record(document("t", call(seq)))
        recorder.turn()
        now[0] += SYNC_EVERY_S
        recorder.turn()
        recorder.turn()
        counts.append(len(synced))
    now[0] += SYNC_EVERY_S
    recorder.turn()
    assert counts == [2, 4, 6]  # a segment and its folder each time
    assert len(synced) == 6


def test_record__sync_each__is_on_the_disk_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    recorder, _ = make_recorder(tmp_path, created, sync_each=True)
    assert recorder.record(document("t", call(0))) is True
    assert len(synced) == 1


def test_folder__another_key_or_server__has_one_of_its_own(tmp_path: Path) -> None:
    """What one workspace's agent left must not be delivered with the key of another."""
    pairs = [("http://a", "hgm_aaaaaaaa1"), ("http://a", "hgm_bbbbbbbb1"), ("http://b", "hgm_aaaaaaaa1")]
    folders = {Settings(url=url, key=key, home=tmp_path).folder for url, key in pairs}
    assert len(folders) == 3
    left, _ = make_recorder(folders.pop(), away)
    left.record(document("t", call(0)))
    left.close(0.0)
    other, seen = make_recorder(folders.pop(), created)
    assert other.adopt() == 0
    assert other.adopt(left.home) == 1  # only when told to: the key was changed
    assert other.flush() is True
    assert [item["external_id"] for item in seen] == ["t"]


def away(_items: Sequence[Any]) -> Any:
    raise ConnectionFailed("away")
