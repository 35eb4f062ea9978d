"""Rules that nobody has approved yet: what the inducer, an agent or a model proposes, with the evidence."""

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import Q

from corrections.domain.proposing import PROPOSAL_STATUSES, SOURCES
from corrections.models.changes import ChangeRequest
from corrections.models.rules import Rule

RUNS_FOR_PEOPLE = 2
"""Tasks in which the inducer must have met a mistake before it asks a person. One is often chance, and one
long stream gives a thousand such proposals: nobody would read the rest."""


class RuleProposalQuerySet(models.QuerySet["RuleProposal"]):
    """Filters that read as adjectives."""

    def waiting(self) -> "RuleProposalQuerySet":
        """A person is to decide: what somebody proposed, and what the inducer met in several tasks."""
        return self.filter(status="proposed").exclude(source="inducer", runs__lt=RUNS_FOR_PEOPLE)

    def met_once(self) -> "RuleProposalQuerySet":
        """What the inducer met in too few tasks to ask a person about it; it waits for more."""
        return self.filter(status="proposed", source="inducer", runs__lt=RUNS_FOR_PEOPLE)


class RuleProposal(models.Model):
    """One proposed rule. The same rule proposed again is this row with more evidence.

    ``key`` names the tool, condition and action; ``document`` is the rule. ``caught`` of ``failures`` past
    failing calls and ``hit`` of ``good`` past good calls are its backtest; ``ProposalCall`` lists them.
    ``rule`` and ``change`` are what accepting it made; of a withdrawn one, ``rule`` is the rule that says the
    same. ``status`` ``queued`` waits for a model: ``attempt`` and ``claimed_at`` are the worker's lease,
    ``last_error`` says what went wrong.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(
        "memory.Workspace", on_delete=models.CASCADE, related_name="rule_proposals", db_index=False
    )
    key = models.CharField(max_length=64)
    source = models.CharField(max_length=8)
    status = models.CharField(max_length=10, default="proposed")
    name = models.CharField(max_length=200)
    tool = models.CharField(max_length=200)
    action_type = models.CharField(max_length=40)
    document = models.JSONField(default=dict)
    caught = models.PositiveIntegerField(default=0)
    failures = models.PositiveIntegerField(default=0)
    hit = models.PositiveIntegerField(default=0)
    good = models.PositiveIntegerField(default=0)
    runs = models.PositiveIntegerField(default=0)
    times_proposed = models.PositiveIntegerField(default=1)
    patterns = models.ManyToManyField("memory.ErrorPattern", related_name="rule_proposals", blank=True)
    reason = models.TextField(blank=True)
    transcript = models.JSONField(default=list)
    cost = models.JSONField(default=dict)
    attempt = models.PositiveSmallIntegerField(default=0)
    claimed_at = models.DateTimeField(null=True)
    last_error = models.TextField(blank=True)
    proposed_by = models.CharField(max_length=200)
    proposed_by_uuid = models.CharField(max_length=36, blank=True)
    proposed_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    decided_by = models.CharField(max_length=200, blank=True)
    decided_at = models.DateTimeField(null=True)
    decision_reason = models.TextField(blank=True)
    rule = models.ForeignKey(Rule, null=True, on_delete=models.SET_NULL, related_name="proposals")
    change = models.ForeignKey(ChangeRequest, null=True, on_delete=models.SET_NULL, related_name="proposals")

    objects = RuleProposalQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["workspace", "key"], name="proposal_once"),
            models.CheckConstraint(
                condition=Q(status__in=PROPOSAL_STATUSES), name="rule_proposal_status_known"
            ),
            models.CheckConstraint(condition=Q(source__in=SOURCES), name="rule_proposal_source_known"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["workspace", "status", "-id"], name="rule_proposal_by_status"),
            models.Index(fields=["workspace", "status", "-caught", "-id"], name="rule_proposal_by_caught"),
            models.Index(fields=["id"], condition=Q(status="queued"), name="rule_proposal_backlog"),
        ]

    def __str__(self) -> str:
        return self.name


class ProposalCall(models.Model):
    """A call in a proposal's backtest. The newest of each ``role`` are kept; the proposal has the counts."""

    proposal = models.ForeignKey(RuleProposal, on_delete=models.CASCADE, related_name="calls")
    call = models.ForeignKey("memory.ToolCall", on_delete=models.CASCADE, related_name="+", db_index=False)
    role = models.CharField(max_length=6)  # caught | missed | hit

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["proposal", "call"], name="proposal_call_once"),
        ]

    def __str__(self) -> str:
        return f"{self.call_id} {self.role}"


class Induction(models.Model):
    """How far the inducer has read a workspace's evidence.

    ``cursor`` is the moment (microseconds since 1970) up to which finished tasks that were analysed were
    read, ``calls`` how many calls that were. ``claimed_by`` is the process that reads, until its lease is up.
    """

    workspace = models.OneToOneField("memory.Workspace", on_delete=models.CASCADE, related_name="induction")
    cursor = models.PositiveBigIntegerField(default=0)
    calls = models.PositiveBigIntegerField(default=0)
    claimed_at = models.DateTimeField(null=True)
    claimed_by = models.CharField(max_length=64, blank=True)
    updated_at = models.DateTimeField(null=True)
    last_error = models.TextField(blank=True)

    def __str__(self) -> str:
        return f"induction up to {self.cursor}"
