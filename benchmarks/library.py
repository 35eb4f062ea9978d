"""What the library costs an agent: importing it, a decision, a recorded call, a server that is not well.

10,000 rules over 50 tools (``match_workload``), as a signed bundle like the one that the server gives. A
decision is what a guarded call waits for: the context is checked, the rules are asked, the receipt is
signed. Recording appends to the spool on a disk. With a server that is away, hangs or trickles, the figure
is how long a call is held up by asking it. Floors: the bare engine, a bare ``os.write`` of the same bytes,
importing httpx, pydantic.
"""

import argparse
import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import hgmem
from benchmarks.library_servers import hang, serve, trickle
from benchmarks.match_workload import Workload, to_rule
from benchmarks.report import Report, parse_arguments, quantile
from hgmem.api.settings import Settings
from hgmem.recording.recorder import Recorder
from hgmem.rules import Rule
from hgmem.runtime.bundle import Bundle, BundleFile, read_bundle
from hgmem.runtime.offline import OfflineClient
from hgmem.signatures import RULESET_BUNDLE, sign_body

GOAL_US = 100.0
GOAL_IMPORT_MS = 150.0
DEADLINE_S = 0.05
QUESTION = {"point": "before", "tool": "search", "input": {}}
SETTINGS = Settings(url="http://127.0.0.1:9", key="hgm_benchmark")


def main() -> int:
    """Measure everything and return the exit code."""
    arguments = parse_arguments("What the library costs an agent.", _add_arguments)
    report = Report("library", arguments)
    with tempfile.TemporaryDirectory() as folder:
        _measure_imports(report)
        bundle, contexts = _measure_bundle(report, Path(folder), arguments)
        _measure_decision(report, bundle, contexts, Path(folder))
        _measure_recording(report, Path(folder), arguments)
        _measure_faults(report, Path(folder), arguments)
    return report.finish()


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rules", type=int, default=10_000, help="rules of the bundle")
    parser.add_argument("--contexts", type=int, default=5_000, help="decisions measured")
    parser.add_argument("--records", type=int, default=5_000, help="recorded calls measured")
    parser.add_argument("--asks", type=int, default=40, help="questions to each server that misbehaves")


def _measure_imports(report: Report) -> None:
    """Processor time of fresh interpreters, less that of an empty one; files are in the page cache."""
    lines = {
        "import hgmem": "import hgmem",
        "import hgmem, and all of its names": "import hgmem; [getattr(hgmem, n) for n in hgmem.__all__]",
        "floor: import httpx": "import httpx",
        "floor: import pydantic, one model": "import pydantic; type('M', (pydantic.BaseModel,), {})",
    }
    empty = _import_ms("pass")
    taken = {name: _import_ms(line) - empty for name, line in lines.items()}
    report.table(
        "Importing, processor time of a fresh process",
        ["what", "ms"],
        [[name, f"{ms:.0f}"] for name, ms in taken.items()],
    )
    report.goal("import hgmem", measured=taken["import hgmem"], limit=GOAL_IMPORT_MS, unit="ms")


def _import_ms(line: str) -> float:
    code = f"import time\n{line}\nprint(time.process_time())"
    times = []
    for _ in range(7):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        times.append(float(done.stdout.split()[-1]) * 1_000)
    return statistics.median(times)


def _measure_bundle(
    report: Report, folder: Path, arguments: argparse.Namespace
) -> tuple[Bundle, list[dict[str, Any]]]:
    workload = Workload()
    rules = [Rule.from_document(to_rule(spec)).to_document() for spec in workload.rules(arguments.rules)]
    settings = Settings(url=SETTINGS.url, key=SETTINGS.key, home=folder)
    body, signature = _signed(rules)
    first_s, bundle = _timed(lambda: read_bundle(body, signature, "1", settings))
    rules[len(rules) // 2]["priority"] = 7
    body, signature = _signed(rules)
    again_s, changed = _timed(lambda: read_bundle(body, signature, "2", settings, bundle))
    with _StallWatch() as watch:
        beside_s, _ = _timed(lambda: read_bundle(body, signature, "2", settings, bundle))
    file = BundleFile(settings)
    file.save(body, signature, "2")
    disk_s, _ = _timed(lambda: file.load(settings))
    report.table(
        f"The bundle of {arguments.rules:,} rules ({len(body) / 1e6:.1f} MB), in the background",
        ["what", "s"],
        [
            ["check, parse and compile", f"{first_s:.2f}"],
            ["the same after one rule changed", f"{again_s:.2f}"],
            ["the same beside a thread that never rests", f"{beside_s:.2f}"],
            ["from disk", f"{disk_s:.2f}"],
            ["longest pause of that thread", f"{watch.longest_s:.3f}"],
        ],
    )
    return changed, workload.contexts(arguments.contexts)


class _StallWatch:
    """A thread that does nothing but look at the clock: how long it was kept from that."""

    def __init__(self) -> None:
        self.longest_s = 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def _watch(self) -> None:
        last = time.perf_counter()
        while not self._over.is_set():
            now = time.perf_counter()
            self.longest_s = max(self.longest_s, now - last)
            last = now

    def __enter__(self) -> "_StallWatch":
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._over.set()
        self._thread.join()


def _measure_decision(report: Report, bundle: Bundle, contexts: list[dict[str, Any]], folder: Path) -> None:
    client = OfflineClient(home=folder)
    client.rules.bundle = bundle
    gc.collect()
    gc.freeze()
    engine = _each(lambda context: bundle.ruleset.decide(context, now=datetime.now(UTC)), contexts)
    ours = _each(client.decide, contexts)
    guarded = hgmem.guard(lambda **given: None, name=contexts[0]["tool"]["name"], client=client)
    inputs = [context["input"] for context in contexts if all(key.isidentifier() for key in context["input"])]
    with hgmem.task(client=client):
        calls = _each(lambda given: _called(guarded, given), inputs)
    gc.unfreeze()
    report.table(
        "A decision, microseconds",
        ["what", "p50", "p99", "max"],
        [_row("floor: the bare engine", engine), _row("decide: with a signed receipt", ours),
         _row("a guarded call of an empty tool: asked twice, recorded in memory", calls)],
    )  # fmt: skip
    report.goal("decide, p99", measured=quantile(ours, 0.99) * 1e6, limit=GOAL_US, unit="us")


def _called(guarded: Callable[..., Any], given: dict[str, Any]) -> None:
    with suppress(hgmem.HGMemError):  # blocked by a rule of the mix
        guarded(**given)


def _measure_recording(report: Report, folder: Path, arguments: argparse.Namespace) -> None:
    document = {
        "external_id": "task", "goal": "measure",
        "calls": [{"seq": 0, "tool": "search", "input": {"q": "x" * 900}, "output": "y" * 900}],
    }  # fmt: skip
    payload = json.dumps(document).encode()
    recorder = Recorder(folder / "home", 1 << 30, _never, _never)
    recorder._thread.start = lambda: None  # type: ignore[method-assign] - the caller's share alone
    ours = _each(lambda _: recorder.record(document), range(arguments.records))
    handle = os.open(folder / "floor", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    floor = _each(lambda _: os.write(handle, payload), range(arguments.records))
    os.close(handle)
    report.table(
        f"Recording a call of {len(payload):,} bytes, microseconds",
        ["what", "p50", "p99", "max"],
        [_row("floor: os.write of the same bytes", floor), _row("record", ours)],
    )


def _measure_faults(report: Report, folder: Path, arguments: argparse.Namespace) -> None:
    rows = []
    for name, behave in (("nothing listens", None), ("it hangs", hang), ("it trickles", trickle)):
        with serve(behave) as url:
            options = {"evaluate": "server", "deadline_s": DEADLINE_S, "home": folder / "faults"}
            with hgmem.Client(url, "hgm_benchmark", **options) as client:
                times = [_timed(lambda ask=client.decide: ask(QUESTION))[0] for _ in range(arguments.asks)]
        rows.append([name, f"{quantile(times, 0.5) * 1e3:.1f}", f"{max(times) * 1e3:.1f}"])
        report.goal(
            f"longest wait, {name}", measured=max(times) * 1e3, limit=DEADLINE_S * 1e3 + 20, unit="ms"
        )
    report.table(
        f"Asking a server that is not well, deadline {DEADLINE_S * 1e3:.0f} ms",
        ["server", "p50 ms", "max ms"],
        rows,
    )


def _signed(rules: list[dict[str, Any]]) -> tuple[bytes, str]:
    body = json.dumps({"format": 1, "version": "1", "workspace": "w", "rules": rules}).encode()
    return body, sign_body(body, SETTINGS.derived_key(RULESET_BUNDLE))


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    result = work()
    return time.perf_counter() - began, result


def _each(work: Callable[[Any], Any], items: Any) -> list[float]:
    """Seconds of each call, after a tenth of them to warm up."""
    items = list(items)
    for item in items[: len(items) // 10]:
        work(item)
    return [_timed(lambda item=item: work(item))[0] for item in items]


def _row(name: str, times: list[float]) -> list[str]:
    return [
        name,
        *(f"{value * 1e6:.0f}" for value in (quantile(times, 0.5), quantile(times, 0.99), max(times))),
    ]


def _never(_batch: Any) -> Any:
    raise AssertionError("nothing is delivered here")


if __name__ == "__main__":
    sys.exit(main())
