"""Recording: on disk before it returns, delivered once, never in the way."""

import json
import multiprocessing
import os
import resource
import signal
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from hgmem.api.errors import AuthError, ConnectionFailed, InvalidRequest, RateLimited
from hgmem.recording.lanes import HEAD, Lane, read_frames
from hgmem.recording.recorder import MAX_MEMORY_BYTES, Recorder

LIMIT = 8 * 1024 * 1024


class Server:
    """Takes documents like the server does: a call counts once, by task and place."""

    def __init__(self) -> None:
        self.calls: dict[tuple[str, int], Any] = {}
        self.notes: list[Any] = []
        self.batches: list[int] = []
        self.fails: Exception | None = None
        self.refuses: set[str] = set()

    def send(self, documents: Sequence[Any]) -> list[dict[str, Any]]:
        self.batches.append(len(documents))
        if self.fails is not None:
            raise self.fails
        results = []
        for document in documents:
            name = document["external_id"]
            if name in self.refuses:
                results.append({"status": "conflict", "errors": [{"field": "calls", "detail": "other"}]})
                continue
            for call in document.get("calls", ()):
                self.calls[name, call["seq"]] = call
            results.append({"status": "created"})
        return results

    def take_notes(self, notes: Sequence[Any]) -> list[dict[str, Any]]:
        self.notes += notes
        return [{"status": "created"} for _ in notes]


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def recorder(server: Server, tmp_path: Path) -> Iterator[Recorder]:
    made = Recorder(tmp_path, LIMIT, server.send, server.take_notes)
    yield made
    made.close(0.1)


def document(name: str = "t", seq: int = 0, **more: Any) -> dict[str, Any]:
    return {"external_id": name, "calls": [{"seq": seq, "tool": "search", "input": {"q": "x"}}], **more}


def test_record__disk_has_room__is_there_when_it_returns(
    recorder: Recorder, server: Server, tmp_path: Path
) -> None:
    assert recorder.record(document()) is True
    (segment,) = (tmp_path / "spool").glob("*/*.log")
    assert [json.loads(frame[1:])["external_id"] for frame in read_frames(segment)] == ["t"]
    assert segment.stat().st_mode & 0o777 == 0o600
    assert server.batches == []


def test_flush__server_answers__delivers_and_deletes(
    recorder: Recorder, server: Server, tmp_path: Path
) -> None:
    for seq in range(5):
        recorder.record(document(seq=seq))
    recorder.note({"token": "a.b.c"})
    assert recorder.flush() is True
    assert sorted(server.calls) == [("t", seq) for seq in range(5)]
    assert server.batches == [1]  # one document for the task
    assert server.notes == [{"token": "a.b.c"}]
    assert not list((tmp_path / "spool").glob("*/*.log"))
    assert recorder.stats().delivered == 2


def test_flush__server_is_away__keeps_all_and_delivers_later(recorder: Recorder, server: Server) -> None:
    server.fails = ConnectionFailed("away")
    recorder.record(document())
    assert recorder.flush(0.2) is False
    assert recorder.stats().last_error == "away"
    server.fails = None
    assert recorder.flush() is True
    assert list(server.calls) == [("t", 0)]


@pytest.mark.parametrize("error", [AuthError("no"), RateLimited("later")], ids=["key", "limit"])
def test_turn__refused_for_now__waits_before_it_tries_again(
    recorder: Recorder, server: Server, error: Exception
) -> None:
    server.fails = error
    recorder.record(document())
    recorder.turn()
    recorder.turn()
    assert len(server.batches) == 1


def test_turn__one_document_is_refused__is_set_aside_alone(
    recorder: Recorder, server: Server, tmp_path: Path
) -> None:
    server.refuses = {"bad"}
    recorder.record(document("bad"))
    recorder.record(document("good"))
    assert recorder.flush() is True
    assert list(server.calls) == [("good", 0)]
    row = json.loads((tmp_path / "refused" / "refused.jsonl").read_text())
    assert (row["item"]["external_id"], row["reason"]["status"]) == ("bad", "conflict")
    assert recorder.stats().refused == 1


def test_turn__whole_batch_is_refused__each_is_tried_alone(server: Server, tmp_path: Path) -> None:
    def send(documents: Sequence[Any]) -> Any:
        if any(item["external_id"] == "bad" for item in documents):
            raise InvalidRequest("no", status=422)
        return Server.send(server, documents)

    recorder = Recorder(tmp_path, LIMIT, send, server.take_notes)
    for name in ("good", "bad", "fine"):
        recorder.record(document(name))
    assert recorder.flush() is True
    assert sorted(server.calls) == [("fine", 0), ("good", 0)]


def test_record__spool_is_full__waits_in_memory_and_says_so(server: Server, tmp_path: Path) -> None:
    recorder = Recorder(tmp_path, 300, server.send, server.take_notes)
    answers = [recorder.record(document(seq=seq)) for seq in range(6)]
    assert answers[0] is True
    assert answers[-1] is False
    assert recorder.flush() is True
    assert len(server.calls) == 6


def test_record__disk_is_full__loses_nothing_of_it(server: Server, tmp_path: Path) -> None:
    recorder = Recorder(tmp_path, LIMIT, server.send, server.take_notes)
    recorder.record(document(seq=0))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (150, hard))
    try:
        answers = [recorder.record(document(seq=seq)) for seq in range(1, 5)]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)
    assert False in answers
    assert recorder.flush() is True
    assert sorted(seq for _, seq in server.calls) == list(range(5))


def test_record__home_cannot_be_made__goes_on_in_memory(server: Server, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    recorder = Recorder(tmp_path / "file", LIMIT, server.send, server.take_notes)
    assert recorder.record(document()) is False
    assert recorder.flush() is True
    assert server.calls


def test_record__memory_is_full_as_well__drops_the_oldest_and_counts(server: Server, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    server.fails = ConnectionFailed("away")
    recorder = Recorder(tmp_path / "file", LIMIT, server.send, server.take_notes)
    big = "x" * (MAX_MEMORY_BYTES // 3)
    for seq in range(5):
        recorder.record(document(seq=seq, goal=big))
    assert recorder.stats().dropped >= 2
    server.fails = None
    recorder.flush()
    assert ("t", 4) in server.calls


def test_record__no_json__is_dropped_not_raised(recorder: Recorder) -> None:
    assert recorder.record({"external_id": object()}) is False
    assert recorder.stats().dropped == 1


@pytest.mark.parametrize("cut", [1, 6, 20])
def test_frames__cut_off_at_the_end__what_is_whole_counts(tmp_path: Path, cut: int) -> None:
    lane = Lane(tmp_path, LIMIT)
    lane.append(b"first")
    lane.append(b"second, longer than what is cut")
    (segment,) = lane.seal()
    segment.write_bytes(segment.read_bytes()[:-cut])
    assert list(read_frames(segment)) == [b"first"]


def test_frames__nonsense__is_left_out(tmp_path: Path) -> None:
    segment = tmp_path / "a.log"
    segment.write_bytes(HEAD.pack(4, 0) + b"abcd" + os.urandom(50))
    assert list(read_frames(segment)) == []


def test_adopt__process_died__exactly_one_takes_over(server: Server, tmp_path: Path) -> None:
    child = multiprocessing.get_context("fork").Process(target=_record_and_die, args=(tmp_path,))
    child.start()
    child.join()
    heirs = [Recorder(tmp_path, LIMIT, server.send, server.take_notes) for _ in range(3)]
    assert sum(heir.adopt() for heir in heirs) == 1
    assert all(heir.flush() for heir in heirs)
    assert list(server.calls) == [("t", 0)]


def _record_and_die(home: Path) -> None:
    away = Server()
    away.fails = ConnectionFailed("away")
    Recorder(home, LIMIT, away.send, away.take_notes).record(document())
    os.kill(os.getpid(), signal.SIGKILL)


def test_fork__child_records__each_delivers_its_own(
    recorder: Recorder, server: Server, tmp_path: Path
) -> None:
    recorder.record(document("parent"))
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        recorder.record(document("child"))
        recorder.flush()
        os.write(writing, json.dumps([list(key) for key in server.calls]).encode())
        os._exit(0)
    os.waitpid(pid, 0)
    assert json.loads(os.read(reading, 1_000)) == [["child", 0]]
    assert recorder.flush() is True
    assert list(server.calls) == [("parent", 0)]


def test_close__server_is_away__leaves_it_to_the_next(server: Server, tmp_path: Path) -> None:
    server.fails = ConnectionFailed("away")
    first = Recorder(tmp_path, LIMIT, server.send, server.take_notes)
    first.record(document())
    assert first.close(0.1) is False
    server.fails = None
    second = Recorder(tmp_path, LIMIT, server.send, server.take_notes)
    assert second.adopt() == 1
    assert second.flush() is True
    assert list(server.calls) == [("t", 0)]
    second.close()
    assert not list((tmp_path / "spool").iterdir())


def test_record__killed_again_and_again__everything_acknowledged_arrives(tmp_path: Path) -> None:
    """Agents die at any moment, with a server that fails now and then; the last one delivers what is left."""
    context = multiprocessing.get_context("fork")
    taken = tmp_path / "taken"
    acknowledged: set[int] = set()
    for turn in range(12):
        reading, writing = os.pipe()
        child = context.Process(target=_record_until_killed, args=(tmp_path, turn, taken, writing))
        child.start()
        os.close(writing)
        time.sleep(0.02 + 0.01 * (turn % 7))
        os.kill(child.pid, signal.SIGKILL)
        child.join()
        with os.fdopen(reading, "rb") as pipe:
            numbers = pipe.read()
        acknowledged |= {int(number) for number in numbers.split(b"\n")[:-1]}
    server = Server()
    last = Recorder(tmp_path, LIMIT, server.send, server.take_notes)
    last.adopt()
    assert last.flush() is True
    arrived = {seq for _, seq in server.calls}
    arrived |= {int(number) for number in taken.read_text().split()} if taken.exists() else set()
    assert acknowledged
    assert acknowledged <= arrived


def _record_until_killed(home: Path, turn: int, taken: Path, writing: int) -> None:
    from hgmem.periodic import Periodic

    Periodic.enabled = False

    def send(documents: Sequence[Any]) -> list[dict[str, Any]]:
        seqs = [call["seq"] for item in documents for call in item.get("calls", ())]
        with taken.open("a") as file:
            file.write("".join(f"{seq}\n" for seq in seqs))
        time.sleep(0.005)
        return [{"status": "created"} for _ in documents]

    recorder = Recorder(home, LIMIT, send, send)
    for number in range(turn * 10_000, turn * 10_000 + 10_000):
        if recorder.record(document(seq=number)):
            os.write(writing, b"%d\n" % number)
        if turn % 3 == 0 and number % 20 == 0:
            recorder.turn()
