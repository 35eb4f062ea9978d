"""What recording costs the agent, how fast it is delivered, and whether anything is lost when all is killed.

``record`` is timed beside a bare ``os.write`` of the same bytes and other ways to keep an entry on disk; then
while its thread delivers to a real server (granian, SQLite). The rate of delivery is that of a full spool,
beside posting the very same requests by hand. Last, agents and the server are killed again and again.

Packages of peers may be in a folder of their own: ``PYTHONPATH=FOLDER python -m benchmarks.spool``.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.report import Report, parse_arguments, quantile
from benchmarks.serving import free_port, granian, prepare_site
from benchmarks.spool_kills import kill_again_and_again
from benchmarks.spool_peers import bare_write, peers, synced_write
from hgmem.api.settings import Settings
from hgmem.api.sync import Api
from hgmem.recording.delivery import DOCUMENT, Delivery
from hgmem.recording.recorder import Recorder

GOAL_US = 200.0
GOAL_RATIO = 0.5
LIMIT = 1 << 30
CALLS_A_TASK = 20


def main() -> int:
    """Measure everything and return the exit code."""
    arguments = parse_arguments("What recording costs, its delivery, what is lost.", _add_arguments)
    report = Report("spool", arguments)
    with tempfile.TemporaryDirectory(prefix="hgmem-bench-") as folder:
        var = Path(folder)
        _measure_keeping(report, var, arguments.records)
        prepare_site(var)
        workspace_id, key = _make_workspace()
        with granian(workers=1, threads=4) as url:
            settings = Settings(url=url, key=key, home=var / "delivered")
            _measure_beside_delivery(report, settings, arguments.seconds)
            _measure_delivery(report, settings, arguments.records)
        _measure_kills(report, workspace_id, key, var, arguments.lives)
    return report.finish()


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--records", type=int, default=5_000, help="recorded calls measured")
    parser.add_argument("--seconds", type=float, default=5.0, help="of recording beside delivery")
    parser.add_argument("--lives", type=int, default=20, help="of the server that is killed")


def _make_workspace() -> tuple[int, str]:
    from memory.actions.accounts import create_key, create_workspace
    from memory.domain.access import Scope
    from memory.permissions import SYSTEM

    workspace = create_workspace(slug="spool", name="Spool", owner=None, by=SYSTEM)
    _, secret = create_key(workspace=workspace, name="spool", scopes=[Scope.EXPERIENCE_WRITE], by=SYSTEM)
    return workspace.pk, secret


def _document(number: int, run: str = "run") -> dict[str, Any]:
    """A call with about 2 KB of JSON."""
    call = {
        "seq": number % CALLS_A_TASK, "tool": "search", "status": "ok", "duration_ms": 12.5,
        "input": {"q": "x" * 900, "n": number}, "output": "y" * 900,
    }  # fmt: skip
    return {"external_id": f"{run}-{number // CALLS_A_TASK}", "goal": "find", "calls": [call]}


def _measure_keeping(report: Report, var: Path, records: int) -> None:
    """The caller's share alone: nothing is delivered meanwhile."""
    entry = json.dumps(_document(0)).encode()
    rows = [_row("floor: os.write of the same bytes", _each(bare_write(var / "floor"), [entry] * records))]
    recorder = _idle(Recorder(var / "kept", LIMIT, _never, _never))
    ours = _each(recorder.record, [_document(number) for number in range(records)])
    rows.append(_row("record", ours))
    report.goal("record, p99", measured=quantile(ours, 0.99) * 1e6, limit=GOAL_US, unit="us")
    few = records // 10
    for name, keep in peers(var):
        count = few if "synced" in name else records
        rows.append(_row(name, _each(keep, [entry] * count)) if keep else [name, "not installed", "", ""])
    rows.append(_row("floor: os.write and fsync", _each(synced_write(var / "synced"), [entry] * few)))
    recorder = _idle(Recorder(var / "kept-synced", LIMIT, _never, _never, sync_each=True))
    rows.append(_row("record, fsync always", _each(recorder.record, [_document(n) for n in range(few)])))
    report.table(f"Keeping a call of {len(entry):,} bytes, microseconds", ["what", "p50", "p99", "max"], rows)


def _measure_beside_delivery(report: Report, settings: Settings, seconds: float) -> None:
    """An agent that makes a call every two milliseconds; the thread delivers in the same interpreter."""
    recorder = _recorder(settings, "beside")
    times = []
    until = time.perf_counter() + seconds
    number = 0
    while time.perf_counter() < until:
        document = _document(number, "beside")
        times.append(_timed(lambda document=document: recorder.record(document)))
        number += 1
        time.sleep(0.002)
    flushed_s = _timed(lambda: recorder.flush(30.0))
    recorder.close()
    report.table(
        f"record beside delivery to a server, {number / seconds:.0f} calls a second",
        ["what", "p50", "p99", "max"],
        [_row("record, microseconds", times)],
    )
    report.goal("record beside delivery, p99", measured=quantile(times, 0.99) * 1e6, limit=GOAL_US, unit="us")
    report.table("Then", ["what", "ms"], [["flush", f"{flushed_s * 1e3:.0f}"]])


def _measure_delivery(report: Report, settings: Settings, records: int) -> None:
    """Rounds alternate; every round has tasks of its own, so that every call is stored."""
    api, ours_s, by_hand_s = Api(settings, timeout_s=30.0), [], []
    for turn in range(4):
        recorder = _idle(_recorder(settings, f"delivery-{turn}"))
        for number in range(records):
            recorder.record(_document(number, f"spool-{turn}"))
        ours_s.append(_timed(lambda recorder=recorder: recorder.flush(120.0)))
        if recorder.stats().waiting_bytes or recorder.stats().refused:
            raise RuntimeError(f"not all was delivered: {recorder.stats()}")
        entries = [DOCUMENT + json.dumps(_document(n, f"hand-{turn}")).encode() for n in range(records)]
        batches = [batch for _, batch in Delivery(settings.home, _never, _never).batches(entries)]
        by_hand_s.append(_timed(lambda batches=batches: [api.record_experience(batch) for batch in batches]))
    ours, by_hand = (records / min(times) for times in (ours_s, by_hand_s))
    report.table(
        f"Delivering {records:,} calls, the best of 4 rounds",
        ["what", "calls/s"],
        [["the spool, from disk to acknowledged and deleted", f"{ours:,.0f}"],
         ["the same requests posted by hand", f"{by_hand:,.0f}"]],
    )  # fmt: skip
    report.goal(
        "delivery against by hand", measured=ours / by_hand, limit=GOAL_RATIO, unit="times", better="higher"
    )


def _measure_kills(report: Report, workspace_id: int, key: str, var: Path, lives: int) -> None:
    from memory.models import ToolCall

    home, port = var / "kills", free_port()
    home.mkdir()
    acknowledged = kill_again_and_again(
        lambda: granian(workers=1, threads=4, port=port, kill=True), key, home, lives=lives
    )
    calls = ToolCall.objects.filter(workspace=workspace_id, task__external_id__startswith="agent-")
    stored = list(calls.values_list("task__external_id", "seq", "input"))
    made = {(task.rsplit("-", 1)[0], given["n"]) for task, _, given in stored}
    lost = len(acknowledged - {(task, seq) for task, seq, _ in stored})
    report.table(
        f"{lives} servers and {lives} agents killed while busy",
        ["acknowledged calls", "on the server", "lost", "twice"],
        [[f"{len(acknowledged):,}", f"{len(stored):,}", str(lost), str(len(stored) - len(made))]],
    )
    report.goal("lost or twice", measured=float(lost + len(stored) - len(made)), limit=0, unit="calls")


def _recorder(settings: Settings, name: str) -> Recorder:
    api = Api(settings, timeout_s=30.0)
    return Recorder(settings.home / name, LIMIT, api.record_experience, api.post_receipts)


def _idle(recorder: Recorder) -> Recorder:
    recorder._thread.start = lambda: None  # type: ignore[method-assign]
    return recorder


def _each(work: Callable[[Any], Any], items: list[Any]) -> list[float]:
    """Seconds of each, after a tenth of them to warm up."""
    for item in items[: len(items) // 10]:
        work(item)
    return [_timed(lambda item=item: work(item)) for item in items]


def _timed(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _row(name: str, times: list[float]) -> list[str]:
    figures = (quantile(times, 0.5), quantile(times, 0.99), max(times))
    return [name, *(f"{value * 1e6:,.0f}" for value in figures)]


def _never(_batch: Any) -> Any:
    raise AssertionError("nothing is delivered here")


if __name__ == "__main__":
    sys.exit(main())
