"""How long conflict analysis takes, and how much it can prove.

    python -m benchmarks.conflicts [--rules 1000] [--data DIR] [--json FILE]

A new rule against 200 neighbours, as when it is saved, and 1,000 rules of one tool in full, as in the
background; with ``--data`` also the rules that the inducer proposes from recorded runs, in full for the tool
that has most. The solver runs in its child process, as in the product. Protocol:
docs/benchmarks/conflicts.md.
"""

import argparse
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from benchmarks.auto import observed
from benchmarks.conflict_workload import ConflictWorkload
from benchmarks.match_workload import NUMBER_FIELDS, TEXT_FIELDS
from benchmarks.report import Report, median, parse_arguments, quantile
from benchmarks.streams import Stream, StreamError, discover
from corrections.background.solver import SolverProcess
from corrections.domain.conflicts import (
    Analysis,
    Answer,
    Facts,
    Finding,
    Question,
    Setting,
    analyse_all,
    analyse_rule,
)
from corrections.domain.inducing import Inducer
from hgmem.rules import Rule

NOW = datetime(2026, 1, 1, tzinfo=UTC)
FACTS = Facts(NOW)
LEARNT = Facts(
    NOW,
    schemas={
        "tool_0": {
            "type": "object",
            "properties": {
                **{name: {"type": "string"} for name in TEXT_FIELDS},
                **{name: {"type": "integer"} for name in NUMBER_FIELDS},
            },
            "required": [TEXT_FIELDS[0], NUMBER_FIELDS[0]],
        }
    },
)
"""The tool's schema as it is learnt from good calls: rules about missing and null fields are about others."""
NEIGHBOURS = 200
NEW_RULES = 40
NEW_RULE_LIMIT_S = 2.0
ALL_LIMIT_S = 300.0
SHARES = ["rules", "pairs", "disjoint", "unrelated", "harmless", "conflict", "not proven", "questions"]


def main() -> int:
    """Run everything and return the exit code."""
    arguments = parse_arguments("Conflict analysis of rules.", _add_arguments)
    report = Report("conflicts", arguments)
    documents = ConflictWorkload().rules(max(arguments.rules, NEIGHBOURS + NEW_RULES))
    rules = [Rule.from_document(document) for document in documents]
    with SolverProcess() as solver:
        _measure_new(report, rules, solver)
        seconds = _measure_all(report, "random workload", rules[: arguments.rules], solver, LEARNT)
        if arguments.rules >= 1_000:
            report.goal("1,000 rules of one tool in full", measured=seconds, limit=ALL_LIMIT_S, unit="s")
        for stream in _streams(arguments):
            _measure_all(report, f"induced from {stream.name}", induced(stream), solver, FACTS)
    return report.finish()


def induced(stream: Stream) -> list[Rule]:
    """What the inducer proposes after a whole stream, for the tool with most proposals."""
    inducer = Inducer()
    for run in stream.runs:
        for seq in range(len(run.calls)):
            inducer.learn(observed(run, seq))
        inducer.end_run(run.id)
    proposals = inducer.proposals()
    most = Counter(proposal.tool for proposal in proposals).most_common(1)
    return [
        Rule.from_document(proposal.document() | {"uuid": proposal.key})
        for proposal in proposals
        if most and proposal.tool == most[0][0]
    ]


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rules", type=int, default=1_000, help="rules of the full analysis")


def _streams(arguments: argparse.Namespace) -> list[Stream]:
    if arguments.data is None:
        return []
    try:
        return discover(arguments.data)
    except StreamError as fault:
        raise SystemExit(str(fault)) from None


def _measure_new(report: Report, rules: Sequence[Rule], solver: SolverProcess) -> None:
    """Each new rule starts with nothing known about its neighbours."""
    took = []
    solver.ask(Question((), Setting("before", NOW)))  # the child is there already when a rule is saved
    with report.progress(f"new rules against {NEIGHBOURS}", total=NEW_RULES) as advance:
        for rule in rules[NEIGHBOURS : NEIGHBOURS + NEW_RULES]:
            started = time.perf_counter()
            analyse_rule(rule, rules[:NEIGHBOURS], LEARNT, solver)
            took.append(time.perf_counter() - started)
            advance(1)
    row = [NEW_RULES, median(took), quantile(took, 0.95), max(took)]
    report.table(f"A new rule against {NEIGHBOURS} neighbours", ["rules", "p50 s", "p95 s", "max s"], [row])
    report.goal(f"new rule against {NEIGHBOURS}, p95", measured=row[2], limit=NEW_RULE_LIMIT_S, unit="s")


def _measure_all(
    report: Report, name: str, rules: Sequence[Rule], solver: SolverProcess, facts: Facts
) -> float:
    total = len(rules) * (len(rules) - 1) // 2
    asked = _Asked(solver)
    cpu = time.process_time()
    started = time.perf_counter()
    with report.progress(name, total=total) as advance:
        analysis = analyse_all(rules, facts, asked, _Advancing(advance))
    seconds = time.perf_counter() - started
    own = time.process_time() - cpu
    row = [len(rules), *_shares(analysis), asked.count]
    report.table(f"{name}: {seconds:.1f} s ({own:.1f} s of it in this process)", SHARES, [row])
    kinds = Counter((finding.kind, finding.verdict) for finding in analysis.findings)
    report.table(f"{name}: findings", ["kind", "verdict", "count"], [[*key, n] for key, n in kinds.items()])
    reasons = Counter(one.reason for one in analysis.findings if one.verdict == "not_proven")
    for reason, count in reasons.most_common(5):
        report.note(f"not proven, {count} times: {reason}")
    report.figure(f"{name}, seconds", round(seconds, 1))
    report.figure(f"{name}, largest process MB", _largest_mb())
    return seconds


def _shares(analysis: Analysis) -> list[Any]:
    counts = (
        analysis.disjoint,
        analysis.unrelated,
        analysis.harmless,
        analysis.conflicts,
        analysis.not_proven,
    )
    pairs = max(1, analysis.pairs)
    return [analysis.pairs, *(f"{count} ({count / pairs:.1%})" for count in counts)]


def _largest_mb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


@dataclass
class _Asked:
    """Counts the questions."""

    solver: SolverProcess
    count: int = 0

    def ask(self, question: Question) -> Answer:
        self.count += 1
        return self.solver.ask(question)


class _Advancing:
    """Moves the progress bar by what was done since it was last told."""

    def __init__(self, advance: Callable[[int], None]) -> None:
        self._advance = advance
        self._done = 0

    def __call__(self, done: int, total: int, found: Sequence[Finding]) -> bool:
        if done - self._done >= 500 or done == total:
            self._advance(done - self._done)
            self._done = done
        return True


if __name__ == "__main__":
    sys.exit(main())
