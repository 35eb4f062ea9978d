"""P5, the closed loop: do failures stop once they were corrected, and is nothing else broken?

    python -m benchmarks.closed_loop                # starts a server of its own; about five minutes
    python -m benchmarks.closed_loop --tasks 40     # only the first 40 tasks
    python -m benchmarks.closed_loop --url URL --key KEY    # against a running server, memory on only

A scripted agent walks BFCL's gold path with one step left out, asks before each call over HTTP, does what it
is told, records what happened, and after a failure walks the whole path once more. Every 50 walks a person
(the harness) accepts what the inducer proposes and what the system asks to disable. Protocol and limits:
docs/benchmarks/closed_loop.md.
"""

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.bfcl import Run, Task, Variant, load_tasks, play, variants
from benchmarks.bfcl.agent import Server, walk
from benchmarks.report import Report, parse_arguments
from benchmarks.whole_site import whole_site, worker_is_idle

WINDOW = 50
SEED = 7
QUIET_S = 12.0
SETTLE_S = 90.0
GOAL_GONE = 0.90
Pattern = tuple[str, str, str]
"""A failure as a repetition: the variant, the tool, the message."""


@dataclass
class Pass:
    """One walk over the stream. ``failures`` are failing calls in each window of ``WINDOW`` walks; ``good``
    walks are whole gold paths, ``broken`` those of them that failed or ended in another state."""

    failures: list[int] = field(default_factory=list)
    recurring: int = 0
    recurred: int = 0
    added: int = 0
    variants: int = 0
    clean: int = 0
    reached: int = 0
    good: int = 0
    broken: int = 0
    advice: Counter[str] = field(default_factory=Counter)
    remains: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0


class Loop:
    """One arm: an agent with or without memory, and what it met before."""

    def __init__(
        self, stream: Sequence[Variant], server: Server | None, is_idle: Callable[[], bool] | None = None
    ) -> None:
        self._stream, self._server, self._is_idle = stream, server, is_idle
        self.learns = True
        self._met: set[Pattern] = set()

    def walk_all(self, name: str, advance: Callable[[int], None]) -> Pass:
        """One pass, in order; every ``WINDOW`` walks the person decides."""
        found, started = Pass(), time.monotonic()
        for start in range(0, len(self._stream), WINDOW):
            window = self._stream[start : start + WINDOW]
            found.failures.append(sum(self._one(variant, name, found) for variant in window))
            advance(len(window))
            if self.learns and self._server is not None:
                found.refused += decide(self._server, self._is_idle)
        found.seconds = time.monotonic() - started
        return found

    def _one(self, variant: Variant, name: str, found: Pass) -> int:
        plain = play(variant)
        run = plain
        if self._server is not None:
            run, advice = walk(variant, self._server, run=name)
            found.advice += advice.kinds
        self._count(variant, plain, run, found)
        if self.learns and self._server is not None and not run.ok:
            walk(Variant(variant.task), self._server, run=f"{name}:again:{variant.left_out}")
        return len(run.errors)

    def _count(self, variant: Variant, plain: Run, run: Run, found: Pass) -> None:
        usual, now = _patterns(plain), _patterns(run)
        again = usual & self._met
        found.recurring += len(again)
        found.recurred += len(again & now)
        found.added += len(now - usual)
        found.remains.update(f"{tool}: {message}"[:90] for _variant, tool, message in again & now)
        self._met |= now
        if variant.left_out is None:
            found.good += 1
            found.broken += not run.ok
        else:
            found.variants += 1
            found.clean += not run.errors
            found.reached += run.reaches_gold


def _patterns(run: Run) -> set[Pattern]:
    return {(run.variant.id, call.tool, call.error or "") for call in run.errors}


def stream_of(tasks: Sequence[Task]) -> list[Variant]:
    """Task by task: the whole gold path, then every variant of it that fails."""
    found = []
    for task in tasks:
        found.append(Variant(task))
        found += [variant for variant in variants([task]) if play(variant).errors]
    return found


def decide(server: Server, is_idle: Callable[[], bool] | None) -> Counter[str]:
    """What a person does now and then: wait for the worker, accept all proposals, disable what is doubted.

    What was refused, by its reason.
    """
    settle(server, is_idle)
    refused: Counter[str] = Counter()
    for proposal in server.rows("rules/proposals", status="proposed"):
        refused[server.offer(f"rules/proposals/{proposal['uuid']}/accept", {"note": "benchmark"})] += 1
    for change in server.rows("change-requests", status="undecided"):
        body = {"revision": change["revision"], "note": "benchmark"}
        refused[server.offer(f"change-requests/{change['uuid']}/approve", body)] += 1
    time.sleep(1.0)  # the web process looks at the stamp of the rules twice a second
    return refused


def settle(server: Server, is_idle: Callable[[], bool] | None) -> None:
    """Until the worker has looked at everything, at most ``SETTLE_S``.

    Of a server of our own its database says so; of another one what is proposed must stay for ``QUIET_S``.
    """
    until, said, since = time.monotonic() + SETTLE_S, "", time.monotonic()
    while time.monotonic() < until:
        if is_idle is not None:
            if is_idle():
                return
        else:
            rows = server.rows("rules/proposals", status="proposed")
            now = repr([(row["uuid"], row["backtest"]["caught"]) for row in rows])
            if now != said:
                said, since = now, time.monotonic()
            if time.monotonic() - since > QUIET_S:
                return
        time.sleep(0.3)


def shuffle_rules(source: Server, target: Server, approver: Server) -> int:
    """Give the other workspace the same rules with actions and conditions dealt out anew; how many."""
    document = json.loads(source.get_text("rules/export", format="json"))
    rules = [rule for rule in document["rules"] if rule["action_type"] == "INSERT_STEP"]
    details = [rule["action_detail"] for rule in rules]
    random.Random(SEED).shuffle(details)
    for rule, detail in zip(rules, details, strict=True):
        rule["action_detail"] = detail
        rule.pop("uuid", None)
    for number, rule in enumerate(rules):
        rule["name"] = f"{number} {rule['name']}"[:100]
    files = [{"name": "rules.json", "text": json.dumps({**document, "rules": rules})}]
    plan = target.post("rules/import/plan", {"files": files, "prune": False})
    asked = {"digest": plan["digest"], "base": plan["base"], "reason": "benchmark"}
    target.post("rules/import/apply", {"files": files, "prune": False, **asked})
    for change in target.rows("change-requests", status="undecided"):
        body = {"revision": change["revision"], "note": "benchmark"}
        approver.offer(f"change-requests/{change['uuid']}/approve", body)
    time.sleep(2.0)
    return len(rules)


COLUMNS = ("arm, pass", "failures", f"by {WINDOW} walks", "recurring", "of them again", "other failures",
           "variants clean", "reached gold", "good walks broken", "s")  # fmt: skip


def _row(name: str, found: Pass) -> list[Any]:
    return [
        name, sum(found.failures), " ".join(map(str, found.failures)), found.recurring, found.recurred,
        found.added, f"{found.clean} / {found.variants}", f"{found.reached} / {found.variants}",
        f"{found.broken} / {found.good}", round(found.seconds),
    ]  # fmt: skip


def measure(
    report: Report, stream: Sequence[Variant], url: str, keys: dict[str, str],
    is_idle: Callable[[], bool] | None = None,
) -> dict[str, Pass]:  # fmt: skip
    """All arms, two passes each; memory off needs no server: it neither asks nor learns."""
    found: dict[str, Pass] = {}
    servers = {name: Server(url, key) for name, key in keys.items()}
    arms: list[tuple[str, Server | None]] = [("off", None), ("on", servers["on"])]
    for arm, server in arms:
        loop = Loop(stream, server, is_idle)
        for number in (1, 2):
            with report.progress(f"memory {arm}, pass {number}", total=len(stream)) as advance:
                found[f"{arm} {number}"] = loop.walk_all(f"p{number}", advance)
    if "shuffled" in servers:
        loop = Loop(stream, servers["shuffled"])
        loop.learns = False
        rules = shuffle_rules(servers["on"], servers["shuffled"], servers["shuffled approver"])
        with report.progress(f"{rules} shuffled rules", total=len(stream)) as advance:
            found["shuffled 2"] = loop.walk_all("p2", advance)
    report.figure("rules served", len(servers["on"].rows("rules", status="active")))
    for server in servers.values():
        server.close()
    return found


def main() -> int:
    """Measure, print, and hold the second pass to the goal."""
    arguments = parse_arguments(__doc__.split("\n", 1)[0], _add_arguments)
    report = Report("closed_loop", arguments)
    stream = stream_of(load_tasks()[: arguments.tasks])
    if arguments.url:
        found = measure(report, stream, arguments.url, {"on": arguments.key})
    else:
        with (
            tempfile.TemporaryDirectory(prefix="hgmem-loop-") as folder,
            whole_site(Path(folder), "on", "shuffled") as (url, keys),
        ):
            found = measure(report, stream, url, keys, worker_is_idle)
    report.table(f"{len(stream)} walks a pass", COLUMNS, [_row(name, it) for name, it in found.items()])
    second = found["on 2"]
    report.figure("advice", {name: dict(it.advice) for name, it in found.items() if it.advice})
    report.figure(
        "decisions, by why they were refused (blank: taken)",
        {name: dict(it.refused) for name, it in found.items() if it.refused},
    )
    report.figure("what remains on the second pass", dict(second.remains))
    gone = 1.0 - second.recurred / second.recurring if second.recurring else 0.0
    report.goal("recurring failures gone", measured=round(gone, 4), limit=GOAL_GONE, better="higher")
    usual = sum(found["off 2"].failures)
    fewer = 1.0 - sum(second.failures) / usual if usual else 0.0
    report.goal(
        "failing calls, fewer than memory off", measured=round(fewer, 4), limit=GOAL_GONE, better="higher"
    )
    report.goal("good walks broken", measured=second.broken, limit=0)
    return report.finish()


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tasks", type=int, default=None, metavar="N", help="only the first N tasks")
    parser.add_argument("--url", help="a running server; otherwise one is started")
    parser.add_argument("--key", default="", help="its API key: read and write rules, experience, review")


if __name__ == "__main__":
    sys.exit(main())
