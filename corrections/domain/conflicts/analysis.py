"""The analysis of rules: one rule against its neighbours, or all rules of a tool."""

from collections.abc import Callable, Sequence

from corrections.domain.conflicts.findings import Analysis, Facts, Finding
from corrections.domain.conflicts.loops import loops_among
from corrections.domain.conflicts.pairs import Pairs
from corrections.domain.conflicts.questions import Solver
from corrections.domain.conflicts.relations import Subject
from corrections.domain.conflicts.singles import Singles
from hgmem.rules import Rule

Progress = Callable[[int, int, Sequence[Finding]], bool | None]
"""Told (pairs done, pairs in all, the findings since it was last told); False stops the analysis."""


def analyse_rule(
    rule: Rule,
    neighbours: Sequence[Rule],
    facts: Facts,
    solver: Solver,
    progress: Progress | None = None,
) -> Analysis:
    """A rule by itself, against each neighbour, and in loops with them."""
    run = _Run(facts, solver, progress, total=len(neighbours))
    subject = Subject(rule)
    run.alone(subject)
    for neighbour in neighbours:
        if neighbour.uuid != rule.uuid and not run.pair(Subject(neighbour), subject):
            return run.stopped()
    run.loops([rule, *(other for other in neighbours if other.uuid != rule.uuid)], through=rule.uuid)
    run.analysis.rows = 1
    return run.analysis


def analyse_all(
    rules: Sequence[Rule],
    facts: Facts,
    solver: Solver,
    progress: Progress | None = None,
    *,
    start: int = 0,
) -> Analysis:
    """Every rule of one tool by itself and every pair.

    Row ``i`` is rule ``i`` against those before it. ``start`` is the row to go on with: the ``rows`` of the
    analysis that was stopped; the pairs of the rows before it count as done. Rows that were done say nothing
    again, except for loops, which are found at the end.
    """
    run = _Run(facts, solver, progress, total=len(rules) * (len(rules) - 1) // 2)
    run.done = start * (start - 1) // 2
    subjects = [Subject(rule) for rule in rules]
    run.remember(subjects[:start])
    for row in range(start, len(subjects)):
        run.analysis.rows = row
        run.alone(subjects[row])
        for other in subjects[:row]:
            if not run.pair(other, subjects[row]):
                return run.stopped()
    run.analysis.rows = len(subjects)
    run.loops(rules)
    return run.analysis


class _Run:
    """One analysis under way."""

    def __init__(self, facts: Facts, solver: Solver, progress: Progress | None, total: int) -> None:
        self.analysis = Analysis()
        self.done = 0
        self._singles = Singles(facts, solver)
        self._pairs = Pairs(facts, solver, self._singles)
        self._progress = progress
        self._total = total
        self._told = 0

    def remember(self, subjects: Sequence[Subject]) -> None:
        """Rules of rows that are done: only their examples are needed."""
        for subject in subjects:
            self._singles.example(subject)

    def alone(self, subject: Subject) -> None:
        """One rule by itself."""
        self.analysis.findings += self._singles.findings(subject)

    def pair(self, a: Subject, b: Subject) -> bool:
        """Two rules. False: stop here."""
        outcome, findings = self._pairs.look_at(a, b)
        setattr(self.analysis, outcome, getattr(self.analysis, outcome) + 1)
        self.analysis.findings += findings
        self.done += 1
        return self._tell()

    def loops(self, rules: Sequence[Rule], through: str = "") -> None:
        """Circles of rules that write what the next one reads."""
        self.analysis.findings += loops_among(rules, self._pairs, through)
        self._tell()

    def stopped(self) -> Analysis:
        """The analysis so far."""
        self.analysis.stopped = True
        return self.analysis

    def _tell(self) -> bool:
        if self._progress is None:
            return True
        new, self._told = self.analysis.findings[self._told :], len(self.analysis.findings)
        return self._progress(self.done, self._total, new) is not False
