"""Conflict scans: the worker's part. A scan is a row; each turn does a slice and writes what it found.

A scan is claimed by compare-and-set and may be taken over when its worker died: everything it does may be
done again. ``done`` moves only with the findings of what was done; when all is, the findings are counted.
"""

import atexit
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TypeAlias

from django.db.models import Q
from django.utils import timezone

from corrections.background.finding_rows import Known, mark_gone, store_findings
from corrections.background.frequencies import count_frequencies
from corrections.background.solver import SolverProcess
from corrections.domain.conflicts import Answer, Facts, Finding, Question, analyse_all, analyse_rule
from corrections.domain.documents import served_rule
from corrections.domain.scanning import groups_of, neighbours_of, place_of, units
from corrections.models import ConflictScan
from corrections.queries.rulesets import list_candidates, list_live, load_versions
from hgmem.rules import Rule, RuleError
from memory.queries.tools import input_schemas

log = logging.getLogger(__name__)
LEASE_S = 90
SLICE_S = 5.0
LOOK_S = 0.5
REMEMBERED = 20_000
GiveWay: TypeAlias = Callable[[], bool]
_parsed: OrderedDict[int, Rule] = OrderedDict()


class RememberingSolver:
    """Answers of this process: a scan that goes on asks for the examples of its earlier rules again."""

    def __init__(self) -> None:
        self._solver = SolverProcess()
        self._answers: OrderedDict[Question, Answer] = OrderedDict()

    def close(self) -> None:
        """End the child; the next question starts another."""
        self._solver.close()

    def ask(self, question: Question) -> Answer:
        """The answer that is known, or the child's. Never raises."""
        known = self._answers.get(question)
        if known is not None:
            return known
        answer = self._answers[question] = self._solver.ask(question)
        if len(self._answers) > REMEMBERED:
            self._answers.popitem(last=False)
        return answer


SOLVER = RememberingSolver()
atexit.register(SOLVER.close)


class _Turn:
    """The time of one turn: over with the slice, or soon after something else waits for the worker."""

    def __init__(self, slice_s: float, give_way: GiveWay) -> None:
        self._until = time.monotonic() + slice_s
        self._look_at = time.monotonic() + LOOK_S
        self._give_way = give_way

    def is_over(self) -> bool:
        now = time.monotonic()
        if now >= self._look_at:
            self._look_at = now + LOOK_S
            if self._give_way():
                self._until = now
        return now >= self._until


def scan_backlog(slice_s: float = SLICE_S, give_way: GiveWay = lambda: False) -> int:
    """Do every scan of one rule that waits, then a slice of the oldest full one; how many were touched.

    ``give_way`` is asked now and then whether something more urgent waits: then the turn is over.
    """
    turn, touched = _Turn(slice_s, give_way), 0
    while (scan := _claim(full=False)) is not None:
        _guarded(scan, lambda row: _scan_rule(row, turn))
        touched += 1
        if turn.is_over():
            return touched
    scan = _claim(full=True)
    if scan is not None:
        _guarded(scan, lambda row: _scan_slice(row, turn))
        touched += 1
    return touched


def _claim(*, full: bool) -> ConflictScan | None:
    now = timezone.now()
    free = Q(status="queued") | Q(status="running", claimed_at=None)
    free |= Q(status="running", claimed_at__lt=now - timedelta(seconds=LEASE_S))
    rows = ConflictScan.objects.filter(free, rule__isnull=full).select_related("rule").order_by("pk")
    for scan in rows[:5]:
        mine = ConflictScan.objects.filter(pk=scan.pk, status=scan.status, claimed_at=scan.claimed_at)
        if mine.update(status="running", claimed_at=now):
            scan.status, scan.claimed_at = "running", now
            return scan
    return None


def _guarded(scan: ConflictScan, work: Callable[[ConflictScan], None]) -> None:
    """A scan that fails says so and does not hold up the others."""
    try:
        work(scan)
    except Exception as fault:
        log.exception("Conflict scan %s failed", scan.uuid)
        _end(scan, "failed", last_error=f"{type(fault).__name__}: {fault}"[:2_000])


def _scan_rule(scan: ConflictScan, turn: _Turn) -> None:
    """One rule's latest version by itself and against everything served that its tool can meet."""
    rule = scan.rule
    if rule is not None and rule.status not in ("retired", "deleted") and not _is_analysed(scan):
        _analyse(scan, rule.latest_version_id)
        mark_gone(scan.workspace_id)
    _finish(scan, turn)


def _is_analysed(scan: ConflictScan) -> bool:
    return 0 < scan.total == scan.done


def _analyse(scan: ConflictScan, version_id: int | None) -> None:
    """Against the versions that are live, and then those on trial beside one: a uuid is known once a turn."""
    sets = [_load(list_live(scan.workspace_id)), _load(list_candidates(scan.workspace_id))]
    for pk, parsed in _load([version_id] if version_id else []).items():
        near = [neighbours_of(parsed, others) for others in sets]
        scan.total = sum(map(len, near)) + 1
        findings: list[Finding] = []
        for neighbours, others in zip(near, sets, strict=True):
            if neighbours or others is sets[0]:
                known = _known({**others, pk: parsed})
                facts = _facts(scan, [parsed, *neighbours])
                findings += analyse_rule(parsed, neighbours, facts, SOLVER, _progress(scan, known)).findings
                store_findings(scan.workspace_id, findings, known)
        scan.done, scan.found = scan.total, _proven(findings)
        scan.not_proven = len(findings) - scan.found


def _progress(scan: ConflictScan, known: Known) -> Callable[[int, int, Sequence[Finding]], bool]:
    """Says how far it is, twice a second, which keeps the claim as well."""
    said = time.monotonic()

    def tell(done: int, total: int, new: Sequence[Finding]) -> bool:
        nonlocal said
        if time.monotonic() - said > 0.5:
            said, scan.claimed_at = time.monotonic(), timezone.now()
            _save(scan, done=done, total=total + 1, claimed_at=scan.claimed_at)
        return True

    return tell


def _scan_slice(scan: ConflictScan, turn: _Turn) -> None:
    """Go on with a scan of everything until the turn is over."""
    if _is_analysed(scan):
        _finish(scan, turn)
        return
    if not scan.plan:
        scan.plan = list_live(scan.workspace_id)
    rules = _load(scan.plan)
    groups, known = groups_of(list(rules.values())), _known(rules)
    scan.total = sum(units(len(group)) for group in groups)
    _save(scan, plan=scan.plan, total=scan.total)
    while (place := place_of(groups, scan.done)) is not None:
        group = groups[place.group]
        analysis = analyse_all(group, _facts(scan, group), SOLVER, _goes_on(turn, place.row), start=place.row)
        store_findings(scan.workspace_id, analysis.findings, known)
        scan.done = place.before + units(analysis.rows)
        scan.found += _proven(analysis.findings)
        scan.not_proven += len(analysis.findings) - _proven(analysis.findings)
        _save(scan, done=scan.done, found=scan.found, not_proven=scan.not_proven, claimed_at=timezone.now())
        if turn.is_over() and place_of(groups, scan.done) is not None:
            _save(scan, claimed_at=None)
            return
    mark_gone(scan.workspace_id)
    _finish(scan, turn)


def _goes_on(turn: _Turn, row: int) -> Callable[[int, int, Sequence[Finding]], bool]:
    """Stop a slice when its time is up, but not before its first row is done: rows count as a whole."""
    whole = row * (row + 1) // 2
    return lambda done, total, new: not turn.is_over() or done <= whole


def _proven(findings: Sequence[Finding]) -> int:
    return sum(finding.verdict == "conflict" for finding in findings)


def _finish(scan: ConflictScan, turn: _Turn) -> None:
    """Count what was found; with much to count, the next turn goes on with that."""
    figures = {"done": scan.done, "total": scan.total, "found": scan.found, "not_proven": scan.not_proven}
    if count_frequencies(scan.workspace_id, turn.is_over):
        _end(scan, "done", **figures)
    else:
        _save(scan, claimed_at=None, **figures)


def _end(scan: ConflictScan, status: str, **values: object) -> None:
    _save(scan, status=status, finished_at=timezone.now(), claimed_at=None, **values)


def _save(scan: ConflictScan, **values: object) -> None:
    ConflictScan.objects.filter(pk=scan.pk).update(**values)


def _facts(scan: ConflictScan, rules: Sequence[Rule]) -> Facts:
    tools = {rule.applies_to.tool for rule in rules}
    moment: datetime = scan.requested_at
    return Facts(now=moment, schemas=input_schemas(workspace_id=scan.workspace_id, tools=tools))


def _known(rules: Mapping[int, Rule]) -> Known:
    return {rule.uuid: rule for rule in rules.values()}


def forget_versions() -> None:
    """Drop what was read (tests)."""
    _parsed.clear()


def _load(version_ids: Sequence[int]) -> dict[int, Rule]:
    """Versions as rules. They never change, so those that this process has read are kept."""
    for row in load_versions([pk for pk in version_ids if pk not in _parsed]):
        try:
            _parsed[row.version_id] = served_rule(row, row.rule_uuid)
        except RuleError:  # left out of what is served, too
            continue
    found = {pk: _parsed[pk] for pk in version_ids if pk in _parsed}
    while len(_parsed) > REMEMBERED:
        _parsed.popitem(last=False)
    return found
