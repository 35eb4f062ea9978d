"""What to change so that a workspace's rules are what files say. Pure: it changes nothing."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from corrections.domain.diff import Change, diff_documents
from corrections.domain.documents import body_of, check_window, read_document
from corrections.domain.lifecycle import LIVE
from corrections.domain.rule_files.faults import Fault, RuleFileError
from corrections.domain.rule_files.reading import FileRule
from hgmem.rules import RuleError

Verb = Literal["create", "edit", "enable", "disable", "retire", "wait", "keep"]
VERBS: tuple[Verb, ...] = ("create", "edit", "enable", "disable", "retire", "wait", "keep")
SERVED = "active"
ENDED = ("retired", "deleted")


@dataclass(frozen=True)
class KeptRule:
    """A rule as the workspace has it. ``live_body`` is None while nothing is served.

    ``waiting`` holds the kinds of its undecided change requests (``edit``, ``disable`` ...), of those that
    would serve a version only what serves the latest.
    """

    uuid: str
    name: str
    status: str
    latest: int
    latest_body: dict[str, Any]
    live: int | None = None
    live_body: dict[str, Any] | None = None
    waiting: frozenset[str] = frozenset()

    @property
    def state(self) -> str:
        """Where it stands, in words: what a plan was made from."""
        serving = f", version {self.live} is served" if self.live else ""
        return f"{self.status}, version {self.latest}{serving}"

    @property
    def wanted_body(self) -> dict[str, Any]:
        """What a file says of it: what is served; of a rule that is not served, what was written last."""
        return self.live_body if self.status in LIVE and self.live_body is not None else self.latest_body

    @property
    def file_status(self) -> str:
        """What a file says of its status: one on trial is to be served, an expired one is not."""
        if self.status in LIVE:
            return SERVED
        return self.status if self.status == "draft" else "disabled"

    @property
    def tool(self) -> str:
        """The tool its scope names."""
        return str(self.wanted_body.get("applies_to", {}).get("tool", ""))

    @property
    def point(self) -> str:
        """When it is asked."""
        return str(self.wanted_body.get("applies_to", {}).get("point", ""))


@dataclass(frozen=True)
class PlannedChange:
    """One rule of the plan. ``file`` is None for a retirement, ``kept`` for a new rule.

    ``writes`` tells whether a version has to be written; ``changes`` are its differences from what is served
    (or, of a rule that is not served, from its latest version).
    """

    verb: Verb
    name: str
    tool: str
    file: FileRule | None
    kept: KeptRule | None
    changes: tuple[Change, ...] = ()
    writes: bool = False

    @property
    def serves(self) -> bool:
        """Whether the file wants it to be served."""
        return self.file is not None and self.file.status == SERVED

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "verb": self.verb,
            "rule": self.kept.uuid if self.kept else None,
            "name": self.name,
            "tool": self.tool,
            "place": self.file.place if self.file else "",
            "status": self.file.status if self.file else "retired",
            "changes": [change.to_dict() for change in self.changes],
        }


@dataclass(frozen=True)
class Counts:
    """How many rules each verb has."""

    create: int
    edit: int
    enable: int
    disable: int
    retire: int
    wait: int
    keep: int


@dataclass(frozen=True)
class Plan:
    """What would be done, and ``digest``: the same files and the same rules have the same."""

    changes: tuple[PlannedChange, ...]
    digest: str

    @property
    def work(self) -> tuple[PlannedChange, ...]:
        """What is to be done: neither right already nor waiting for an approval."""
        return tuple(change for change in self.changes if change.verb not in ("keep", "wait"))

    @property
    def base(self) -> dict[str, str]:
        """Where each rule of the plan stood, by uuid: :func:`describe_moves` says what moved since."""
        return {change.kept.uuid: change.kept.state for change in self.changes if change.kept}

    @property
    def counts(self) -> Counts:
        """How many rules each verb has."""
        verbs = [change.verb for change in self.changes]
        return Counts(**{verb: verbs.count(verb) for verb in VERBS})


def plan_changes(
    files: Sequence[FileRule], kept: Sequence[KeptRule], *, prune: bool = False, now: datetime | None = None
) -> Plan:
    """Match each file rule by uuid, else by name, tool and point; ``prune`` retires rules no file names.

    With ``now``, a version that would be written and whose window has ended is a fault.
    Raises :class:`RuleFileError` when two files mean one rule, a name fits several, or a rule has ended.
    """
    pairs, faults = _match(files, kept)
    if faults:
        raise RuleFileError(faults)
    changes = [_compare(file, rule) for file, rule in pairs]
    if now is not None and (ended := [fault for change in changes for fault in _ended(change, now)]):
        raise RuleFileError(ended)
    if prune:
        named = {rule.uuid for _, rule in pairs if rule}
        left = (rule for rule in kept if rule.uuid not in named and rule.status not in ENDED)
        changes += [_prune(rule) for rule in left]
    changes.sort(key=lambda change: (VERBS.index(change.verb), change.tool, change.name))
    return Plan(tuple(changes), _digest(changes))


def describe_moves(base: Mapping[str, str], kept: Iterable[KeptRule]) -> list[str]:
    """What became of the rules a plan was made from: a sentence for each that is not where it was."""
    now = {rule.uuid: rule for rule in kept}
    moves = []
    for uuid, then in base.items():
        rule = now.get(uuid)
        if rule is None:
            moves.append(f"Rule {uuid} is gone.")
        elif rule.state != then:
            moves.append(f"{rule.name} was {then}; now it is {rule.state}.")
    return moves


def _match(
    files: Sequence[FileRule], kept: Iterable[KeptRule]
) -> tuple[list[tuple[FileRule, KeptRule | None]], list[Fault]]:
    by_uuid = {rule.uuid: rule for rule in kept}
    claimed = {file.uuid for file in files if file.uuid in by_uuid}
    by_name: dict[tuple[str, str, str], list[KeptRule]] = {}
    for each in by_uuid.values():
        if each.status not in ENDED and each.uuid not in claimed:
            by_name.setdefault((each.name, each.tool, each.point), []).append(each)
    pairs: list[tuple[FileRule, KeptRule | None]] = []
    faults: list[Fault] = []
    taken: dict[str, FileRule] = {}
    for file in files:
        rule = by_uuid.get(file.uuid)
        if rule is None:
            namesakes = by_name.get((file.name, file.tool, str(file.body["applies_to"]["point"])), [])
            rule = namesakes[0] if len(namesakes) == 1 else None
            if len(namesakes) > 1:
                faults.append(
                    _fault(file, "uuid", f"{len(namesakes)} rules have this name and tool: give a uuid.")
                )
        if rule is not None:
            if rule.status in ENDED:
                faults.append(
                    _fault(file, "uuid", f"This rule is {rule.status}: take the uuid out to make it anew.")
                )
            if (other := taken.setdefault(rule.uuid, file)) is not file:
                faults.append(_fault(file, "name", f"{other.place} means the same rule."))
        pairs.append((file, rule))
    return pairs, faults


def _fault(file: FileRule, field: str, detail: str) -> Fault:
    return Fault(file.place, None, file.name, field, detail)


def _compare(file: FileRule, rule: KeptRule | None) -> PlannedChange:
    if rule is None:
        return PlannedChange(
            "create", file.name, file.tool, file, None, tuple(diff_documents({}, file.body)), True
        )
    differs = tuple(_differences(rule.wanted_body, file.body))
    writes = bool(_differences(rule.latest_body, file.body))
    verb = _verb(file, rule, differs=bool(differs), writes=writes)
    return PlannedChange(
        verb, file.name, file.tool, file, rule, differs, writes and verb not in ("keep", "wait")
    )


def _differences(stored: dict[str, Any], wanted: dict[str, Any]) -> list[Change]:
    """Against the stored document as it would be written today: it may be of an earlier release."""
    changes = diff_documents(stored, wanted)
    if not changes:
        return changes
    try:
        return diff_documents(body_of(read_document(stored, author="human")), wanted)
    except RuleError:
        return changes


def _ended(change: PlannedChange, now: datetime) -> list[Fault]:
    until = change.file.body.get("valid_until") if change.file else None
    if change.file is None or until is None or not (change.writes or change.verb == "enable"):
        return []
    try:
        check_window(datetime.fromisoformat(until), now)
    except RuleError as error:
        return [_fault(change.file, "valid_until", error.details)]
    return []


def _verb(file: FileRule, rule: KeptRule, *, differs: bool, writes: bool) -> Verb:
    is_served = rule.status in LIVE
    if file.status != SERVED:
        if is_served:
            return "wait" if "disable" in rule.waiting and not writes else "disable"
        return "edit" if differs else "keep"
    if is_served and not differs:
        return "keep"
    if not writes and rule.waiting & {"create", "edit", "enable"}:
        return "wait"
    return "edit" if is_served else "enable"


def _prune(rule: KeptRule) -> PlannedChange:
    verb: Verb = "wait" if "retire" in rule.waiting else "retire"
    return PlannedChange(verb, rule.name, rule.tool, None, rule)


def _digest(changes: Iterable[PlannedChange]) -> str:
    """Of what is wanted and of what it was compared with: whatever moves meanwhile changes it."""
    seen = [
        [
            change.verb,
            change.file and [change.file.uuid, change.file.status, change.file.body],
            change.kept and [change.kept.uuid, change.kept.state],
        ]
        for change in changes
    ]
    return hashlib.sha256(json.dumps(seen, sort_keys=True).encode()).hexdigest()[:32]
