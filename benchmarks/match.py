"""How long one decision takes in process: context mapping in, decision out.

10,000 and 100,000 rules over 50 tools, 60 % of them with an equality (the mix is described in
``match_workload``). Ours is measured with the garbage collector on, after ``gc.freeze()``, as the
server runs it; one call is one measurement. The peers get only the rules of the tool asked about,
already parsed, and only have to count what matches. With ``--trials N`` the N rules that match most of the
contexts are on trial, half of the tasks each, in a second set that is asked in turns with the first. "cpu
p99" is the thread's processor time: on a machine that does other things the wall clock also counts what
those take. A sample of our decisions is compared with a linear scan in the CEL runtime in the same run.
"""

import argparse
import gc
import sys
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, NamedTuple
from uuid import NAMESPACE_OID, uuid5

from benchmarks.match_peers import peers
from benchmarks.match_workload import Spec, Workload, to_rule
from benchmarks.report import Report, parse_arguments, quantile
from hgmem.rules import Condition, Rule, Ruleset, parse_context
from hgmem.rules.assignment import BUCKETS, Trial

NOW = datetime(2026, 5, 1, tzinfo=UTC)
LIMITS_US = {10_000: 50.0, 100_000: 150.0}
_WARM_UP = 500
_CHECKED_CONTEXTS = 60


def main() -> int:
    """Run both sizes and return the exit code."""
    arguments = parse_arguments("One decision in process, beside other engines.", _add_arguments)
    report = Report("match", arguments)
    for size in arguments.rules:
        _measure_size(report, size, arguments)
    return report.finish()


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rules", type=int, nargs="+", default=list(LIMITS_US), help="sizes of the rule set")
    parser.add_argument("--contexts", type=int, default=5_000, help="decisions measured for ours")
    parser.add_argument("--peer-contexts", type=int, default=200, help="decisions measured for each peer")
    parser.add_argument("--trials", type=int, default=0, help="rules on trial in a second set of ours")
    parser.add_argument("--no-peers", action="store_true", help="only ours")


def _measure_size(report: Report, size: int, arguments: argparse.Namespace) -> None:
    workload = Workload()
    specs = workload.rules(size)
    contexts = workload.contexts(arguments.contexts + _WARM_UP)
    ruleset, seconds = _compile(report, specs)
    report.figure(f"compile seconds, {size} rules", round(seconds, 1))
    gc.collect()
    gc.freeze()
    ours = _timed(lambda context: len(ruleset.decide(context, now=NOW).matched), contexts, _WARM_UP)
    several = sum(count > 1 for count in ours.matches)
    rows = [ours.row("hgmem (index and closures)")]
    wrong = _differences(ruleset, specs, contexts[:_CHECKED_CONTEXTS])
    if arguments.trials:
        rows += _rows_on_trial(report, ruleset, contexts, arguments.trials)
    if not arguments.no_peers:
        rows += _peer_rows(report, specs, contexts[: arguments.peer_contexts])
    gc.unfreeze()
    report.table(
        f"{size:,} rules, {len(workload.tools)} tools",
        ["engine", "p50 us", "p99 us", "cpu p99 us", "max us", "matches"],
        rows,
    )
    report.note(
        f"{several} of {len(ours.matches)} contexts matched several rules; compiled in {seconds:.1f} s; "
        f"{wrong} of {_CHECKED_CONTEXTS} decisions differ from the linear scan"
    )
    report.goal(f"decisions that differ from the linear scan, {size:,} rules", measured=wrong, limit=0)
    if size in LIMITS_US:
        report.goal(
            f"p99, {size:,} rules", measured=quantile(ours.wall, 0.99), limit=LIMITS_US[size], unit="us"
        )


def _compile(report: Report, specs: list[Spec]) -> tuple[Ruleset, float]:
    started = time.perf_counter()
    with report.progress(f"compiling {len(specs):,} rules", total=len(specs)) as advance:
        rules = []
        for spec in specs:
            rules.append(Rule.from_document(to_rule(spec)))
            advance(1)
        ruleset = Ruleset.compile(rules, version="bench")
    if ruleset.broken:
        raise SystemExit(f"{len(ruleset.broken)} rules did not compile: {ruleset.broken[0]}")
    return ruleset, time.perf_counter() - started


class _Timing(NamedTuple):
    """Microseconds of wall clock and of this thread's processor time, and the matches, by context."""

    wall: list[float]
    cpu: list[float]
    matches: list[int]

    def row(self, name: str) -> list[Any]:
        mean = round(sum(self.matches) / len(self.matches), 3)
        spread = [
            quantile(self.wall, 0.5),
            quantile(self.wall, 0.99),
            quantile(self.cpu, 0.99),
            max(self.wall),
        ]
        return [name, *(round(value, 1) for value in spread), mean]


def _timed(match: Callable[[dict[str, Any]], int], contexts: list[dict[str, Any]], warm_up: int) -> _Timing:
    """Every context once, after the first ``warm_up``."""
    clock, cpu_clock = time.perf_counter_ns, time.thread_time_ns
    timing = _Timing([], [], [])
    for context in contexts[:warm_up]:
        match(context)
    for context in contexts[warm_up:]:
        cpu_started = cpu_clock()
        started = clock()
        count = match(context)
        ended = clock()
        timing.cpu.append((cpu_clock() - cpu_started) / 1_000)
        timing.wall.append((ended - started) / 1_000)
        timing.matches.append(count)
    return timing


def _rows_on_trial(
    report: Report, ruleset: Ruleset, contexts: list[dict[str, Any]], count: int
) -> list[list[Any]]:
    """The set with ``count`` rules on trial beside the plain one, asked in turns of 250 contexts."""
    matched = Counter(rule.uuid for each in contexts for rule in ruleset.decide(each, now=NOW).matched)
    tried = {uuid for uuid, _ in matched.most_common(count)}
    sets = {
        "hgmem (again)": ruleset,
        f"hgmem, {count} rules on trial": Ruleset.compile(
            [_on_trial(rule.rule) if rule.uuid in tried else rule.rule for rule in ruleset.rules],
            version="trials",
            base=ruleset,
        ),
    }
    timings = {name: _Timing([], [], []) for name in sets}
    for start in range(0, len(contexts), 250):
        for name, each in sets.items():
            part = contexts[start : start + 250]
            turn = _timed(_counting(each), part[:20] + part, 20)
            for column, more in zip(timings[name], turn, strict=True):
                column.extend(more)
    plain, trials = (quantile(timing.wall, 0.5) for timing in timings.values())
    report.figure(f"p50 with {count} rules on trial, times the plain one", round(trials / plain, 2))
    plain, trials = (quantile(timing.wall, 0.99) for timing in timings.values())
    report.figure(f"p99 with {count} rules on trial, times the plain one", round(trials / plain, 2))
    return [timing.row(name) for name, timing in timings.items()]


def _counting(ruleset: Ruleset) -> Callable[[dict[str, Any]], int]:
    return lambda context: len(ruleset.decide(context, now=NOW).matched)


def _on_trial(rule: Rule) -> Rule:
    trial = Trial(canary=uuid5(NAMESPACE_OID, rule.uuid), salt="bench", share=BUCKETS // 2)
    return rule.model_copy(update={"trial": trial})


def _peer_rows(report: Report, specs: list[Spec], contexts: list[dict[str, Any]]) -> list[list[Any]]:
    rows = []
    with report.progress("peers", total=4) as advance:
        for name, matcher in peers(specs).items():
            if isinstance(matcher, str):
                rows.append([name, matcher, "", "", "", ""])
            else:
                warm_up = min(20, len(contexts) // 4)
                rows.append(_timed(matcher, contexts, warm_up).row(name))
            advance(1)
    return rows


def _differences(ruleset: Ruleset, specs: list[Spec], contexts: list[dict[str, Any]]) -> int:
    """How many decisions match other rules than a linear scan in the CEL runtime."""
    conditions: dict[str, list[tuple[str, Condition]]] = {}
    for rule in ruleset.rules:
        conditions.setdefault(rule.rule.applies_to.tool, []).append((rule.uuid, rule.condition))
    wrong = 0
    for document in contexts:
        context = parse_context(document)
        expected = {
            uuid for uuid, some in conditions[context.tool] if some.evaluate_in_runtime(context) is True
        }
        wrong += {rule.uuid for rule in ruleset.decide(document, now=NOW).matched} != expected
    return wrong


if __name__ == "__main__":
    sys.exit(main())
