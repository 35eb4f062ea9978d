"""Rule proposals: their life in one table, and when two of them are the same rule."""

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from corrections.domain.documents import body_of, read_document
from hgmem.rules import Rule
from memory.domain.lifecycle import Transition, check_transition, statuses

SOURCES = ("inducer", "agent", "llm")
"""Who proposed a rule: the inducer from evidence, an agent over the API, a language model from a pattern."""

PROPOSAL_INITIAL = "proposed"
PROPOSAL_TRANSITIONS: Mapping[str, Transition] = {
    "accept": Transition(("proposed",), "accepted", "accepted"),
    "reject": Transition(("proposed",), "rejected", "rejected"),
    "withdraw": Transition(("proposed",), "withdrawn", "withdrawn"),
    "propose_again": Transition(("withdrawn", "rejected"), "proposed", "proposed again"),
    "draft": Transition(("queued",), "proposed", "proposed by a model"),
    "give_up": Transition(("queued",), "given_up", "given up"),
    "try_again": Transition(("given_up",), "queued", "asked of a model again"),
}
PROPOSAL_STATUSES = statuses(PROPOSAL_INITIAL, PROPOSAL_TRANSITIONS)

IDENTITY = ("applies_to", "condition", "action_type", "action_detail")
"""What makes a rule the same rule: where, when and what. Its name, words and window do not count."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
HIDDEN = "[redacted"
"""Stands in stored evidence for what was removed: a live call never has it."""


def check_proposal(status: str, step: str) -> str:
    """The status after ``step``; raises :class:`memory.domain.lifecycle.TransitionError`."""
    return check_transition(PROPOSAL_TRANSITIONS, step, status)


def read_proposed(document: Any) -> Rule:
    """A proposed document, checked; raises :class:`hgmem.rules.RuleError` with the paths of its faults."""
    return read_document(document, author="agent")


def rule_key(rule: Rule) -> str:
    """The same 32 hex digits for rules of the same tool, condition and action, however they are written."""
    body = body_of(rule)
    named = {name: body.get(name) for name in IDENTITY}
    named["condition"] = " ".join(str(named["condition"] or "true").split())
    encoded = msgspec.json.encode(named, order="deterministic")
    return hashlib.blake2b(encoded, digest_size=16).hexdigest()


def is_about_hidden(rule: Rule) -> bool:
    """Whether the condition compares with something that was removed from the evidence."""
    return HIDDEN in (rule.condition or "")


def cursor_of(moment: datetime) -> int:
    """A moment as microseconds since 1970."""
    return (moment - EPOCH) // MICROSECOND


def moment_of(cursor: int) -> datetime:
    """The other way round."""
    return EPOCH + cursor * MICROSECOND
