"""Compiled rulesets of this process. Asking for one costs no query and no network hop.

A background thread reads all stamps in one query every ``POLL_S`` seconds, compiles what has changed off
the request path and swaps it in whole. While the database is away, the last good set goes on being served.
"""

import gc
import logging
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import close_old_connections, connections
from django.utils import timezone

from corrections.domain.documents import served_rule, with_effectiveness, with_trials
from corrections.domain.rulings import with_rulings
from corrections.queries.effects import list_effectiveness
from corrections.queries.rulesets import (
    ServedTrial,
    list_served,
    list_trials,
    load_versions,
    read_stamp,
    read_stamps,
)
from corrections.queries.rulings import list_words
from hgmem.periodic import Periodic
from hgmem.rules import Rule, RuleError, Ruleset
from hgmem.rules.assignment import Mode, Trial

log = logging.getLogger(__name__)
POLL_S = 0.2
READ_TRIES = 5
SWEEP_EVERY = 50
MODES: Mapping[str, Mode] = {"shadow": "shadow", "holdout": "holdout"}


@dataclass(frozen=True, slots=True)
class LiveRuleset:
    """One workspace's compiled rules at one stamp. ``version`` is the stamp as agents see it."""

    workspace_id: int
    stamp: int
    version: str
    ruleset: Ruleset
    parsed: dict[int, Rule]


class LiveRulesets:
    """The rulesets this process has been asked for, kept fresh by one poller."""

    def __init__(self) -> None:
        self.poller = Periodic("ruleset-poller", POLL_S, self._poll, at_end=connections.close_all)
        self._entries: dict[int, LiveRuleset] = {}
        self._loading = threading.Lock()
        self._loads = 0
        self._is_cold = False

    def start(self) -> None:
        """Load every workspace's rules in the background, before the first question, and keep them fresh."""
        self._is_cold = True
        self.poller.start()
        self.poller.wake()

    def get(self, workspace_id: int) -> LiveRuleset:
        """The workspace's ruleset, from memory. Loaded in line only the first time in this process."""
        entry = self._entries.get(workspace_id)
        if entry is None:
            return self._load(workspace_id)
        if not self.poller.running:
            self.poller.start()
            if not self.poller.running:  # no threads here (tests): look each time
                return self._load(workspace_id)
        return entry

    def known(self, workspace_id: int) -> Mapping[int, Rule]:
        """The versions this process has parsed so far, by id; asks nobody. Versions never change."""
        entry = self._entries.get(workspace_id)
        return entry.parsed if entry else {}

    def refresh(self) -> None:
        """Compare the stamps of the loaded workspaces and load what has changed."""
        stamps = read_stamps()
        for workspace_id, entry in list(self._entries.items()):
            if entry.stamp != stamps.get(workspace_id, 0):
                self._load(workspace_id)

    def forget(self) -> None:
        """Drop everything (tests)."""
        self._entries.clear()

    def _poll(self) -> None:
        close_old_connections()
        if self._is_cold:
            for workspace_id in read_stamps():
                self._load(workspace_id)
            self._is_cold = False
        self.refresh()

    def _load(self, workspace_id: int) -> LiveRuleset:
        with self._loading:
            old = self._entries.get(workspace_id)
            if old is not None and old.stamp == read_stamp(workspace_id):
                return old
            with self._calm_memory():
                entry = _compile(workspace_id, old)
                self._entries[workspace_id] = entry
        self.poller.start()
        return entry

    @contextmanager
    def _calm_memory(self) -> Iterator[None]:
        """Keep the collector from walking thousands of compiled rules, while they are made and afterwards."""
        if not Periodic.enabled:
            yield
            return
        self._loads += 1
        gc.disable()
        try:
            yield
        finally:
            if self._loads % SWEEP_EVERY == 0:
                gc.unfreeze()
                gc.collect()
            gc.freeze()
            gc.enable()


def _compile(workspace_id: int, old: LiveRuleset | None) -> LiveRuleset:
    stamp, parsed, broken = _read(workspace_id, old.parsed if old else {})
    version = str(stamp)
    ruleset = Ruleset.compile(parsed.values(), version=version, base=old.ruleset if old else None)
    broken += [f"rule {rule.uuid} version {rule.version}: {rule.detail}" for rule in ruleset.broken]
    for fault in broken:
        log.error("A served rule of workspace %s is left out: %s", workspace_id, fault)
    return LiveRuleset(workspace_id, stamp, version, ruleset, parsed)


def _read(workspace_id: int, known: dict[int, Rule]) -> tuple[int, dict[int, Rule], list[str]]:
    """The rules of one stamp: read again when a change was committed in between.

    The stamp that counts was read before the rules. So where changes never end the rules may be newer than
    it says, never older, and the next turn of the poller reads them again.
    """
    for _ in range(READ_TRIES):
        stamp = read_stamp(workspace_id)
        parsed, broken = _read_rules(workspace_id, known)
        if stamp == read_stamp(workspace_id):
            break
        known = known | parsed
    return stamp, parsed, broken


def _read_rules(workspace_id: int, known: dict[int, Rule]) -> tuple[dict[int, Rule], list[str]]:
    """Rules by version id, with the rulings in force and the trials that are on.

    Versions are immutable, so only those not known yet are read and parsed.
    """
    trials = list_trials(workspace_id)
    served = list(dict.fromkeys([*list_served(workspace_id), *_beside(trials)]))
    fresh: dict[int, Rule] = {}
    broken: list[str] = []
    for row in load_versions([version_id for version_id in served if version_id not in known]):
        try:
            fresh[row.version_id] = served_rule(row, row.rule_uuid)
        except RuleError as error:
            broken.append(f"rule {row.rule_uuid} version {row.number}: {error}")
    rules = known | fresh
    parsed = {version_id: rules[version_id] for version_id in served if version_id in rules}
    parsed = with_effectiveness(parsed, list_effectiveness(workspace_id))
    parsed = with_trials(parsed, {row.version_id: _trial(row) for row in trials})
    return with_rulings(parsed, list_words(workspace_id, timezone.now())), broken


def _beside(trials: Iterable[ServedTrial]) -> Iterator[int]:
    """The versions that trials add to those served: candidates, and what promoted ones have replaced."""
    for row in trials:
        yield row.version_id
        if row.state == "holdout" and row.baseline_id is not None:
            yield row.baseline_id


def _trial(row: ServedTrial) -> Trial:
    return Trial(
        canary=row.canary, salt=row.salt, share=row.share, stage=row.stage, kept=tuple(row.kept),
        mode=MODES.get(row.state, "canary"),
    )  # fmt: skip


RULESETS = LiveRulesets()
ruleset_for = RULESETS.get
