"""What the analysis says. Plain data."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

Verdict = Literal["conflict", "not_proven"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding about a rule (``rule_b`` empty) or about two.

    ``kind``: contradictory, redundant, subsumed, shadowed, dead, always_on, interference, loop or can_error.
    ``subsumed``: ``rule_a`` fires only where ``rule_b`` does the same. ``shadowed``: ``rule_a`` never wins
    against ``rule_b``. ``interference``: ``rule_a`` writes what ``rule_b`` reads. ``loop``: ``detail["rules"]``.
    ``witness`` is a context the real engine confirmed (none for ``dead``, and where nothing is proven);
    ``detail``: ``now`` (the moment it was decided at), ``obeys_schema``, ``first`` (the uuid that prevails) and
    what each rule alone (``a``, ``b``) and both together (``both``) make of the witness. ``reason`` says in a
    sentence why, or what stood in the way of a proof.
    """

    kind: str
    verdict: Verdict
    rule_a: str
    rule_b: str = ""
    field: str = ""
    witness: dict[str, Any] | None = None
    detail: dict[str, Any] = dataclasses.field(default_factory=dict)
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known beside the rules: the moment, and each tool's JSON Schema of its input."""

    now: datetime
    schemas: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)


@dataclass(slots=True)
class Analysis:
    """The findings, and how many pairs were looked at: ``disjoint`` proved never to fire together,
    ``unrelated`` have actions that have nothing to do with each other, ``harmless`` fire together without harm,
    ``conflicts`` have a finding with a witness, ``not_proven`` one without. ``rows`` of the rules are done."""

    findings: list[Finding] = dataclasses.field(default_factory=list)
    disjoint: int = 0
    unrelated: int = 0
    harmless: int = 0
    conflicts: int = 0
    not_proven: int = 0
    rows: int = 0
    stopped: bool = False

    @property
    def pairs(self) -> int:
        """The pairs looked at."""
        return self.disjoint + self.unrelated + self.harmless + self.conflicts + self.not_proven
