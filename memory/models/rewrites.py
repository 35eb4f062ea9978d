"""Proposals to rewrite a path, and the alerts that ask a person to look."""

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import Q

from memory.domain.lifecycle import PROPOSAL_STATUSES
from memory.domain.rewriting.triggers import TRIGGERS
from memory.models.accounts import Workspace
from memory.models.experience import Task
from memory.models.failures import Failure
from memory.models.localizations import Localization
from memory.models.paths import Lineage, Path


class RewriteProposal(models.Model):
    """A wish to rewrite a path, drafted by a rewriter and decided by a person (or an explicit policy).

    ``dedupe`` makes the same wish one row (path, trigger and its cause). ``request`` is what the rewriter was
    given (reason, new goal or observation); ``guard`` what the guard said; ``proposal`` the JSON document
    of the rewrite (action, new_nodes, new_edges, new_tags, reason, keep_old), ``edited`` what a person
    made of it. ``touched`` lists the nodes that other paths use too, with those paths. ``transcript``
    keeps what a model was asked and said, ``cost`` its tokens and price. ``attempt`` and ``claimed_at``
    are the drafting worker's.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, related_name="rewrites", db_index=False
    )
    lineage = models.ForeignKey(Lineage, on_delete=models.CASCADE, related_name="proposals")
    path = models.ForeignKey(Path, on_delete=models.CASCADE, related_name="rewrites")
    trigger = models.CharField(max_length=12)
    dedupe = models.CharField(max_length=64)
    task = models.ForeignKey(Task, on_delete=models.SET_NULL, null=True, related_name="+")
    failure = models.ForeignKey(Failure, on_delete=models.SET_NULL, null=True, related_name="+")
    localization = models.ForeignKey(Localization, on_delete=models.SET_NULL, null=True, related_name="+")
    request = models.JSONField(default=dict)
    guard = models.JSONField(default=dict)
    rewriter = models.CharField(max_length=12, blank=True)
    status = models.CharField(max_length=12, default="queued")
    proposal = models.JSONField(null=True)
    edited = models.JSONField(null=True)
    touched = models.JSONField(default=list)
    transcript = models.JSONField(default=list)
    cost = models.JSONField(default=dict)
    attempt = models.PositiveIntegerField(default=0)
    claimed_at = models.DateTimeField(null=True)
    last_error = models.TextField(blank=True)
    new_path = models.ForeignKey(Path, on_delete=models.SET_NULL, null=True, related_name="made_by")
    revision = models.PositiveIntegerField(default=1)
    requested_by = models.CharField(max_length=200, blank=True)
    requested_at = models.DateTimeField()
    decided_by = models.CharField(max_length=200, blank=True)
    decided_at = models.DateTimeField(null=True)
    decision_reason = models.TextField(blank=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["workspace", "dedupe"], name="rewrite_asked_once"),
            models.CheckConstraint(condition=Q(status__in=PROPOSAL_STATUSES), name="rewrite_status_known"),
            models.CheckConstraint(condition=Q(trigger__in=TRIGGERS), name="rewrite_trigger_known"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["workspace", "status", "-id"], name="rewrite_by_status"),
            models.Index(fields=["id"], condition=Q(status="queued"), name="rewrite_backlog"),
        ]

    def __str__(self) -> str:
        return f"rewrite of {self.path_id} ({self.status})"


class Alert(models.Model):
    """Something a person should look at. Open until somebody says that they have.

    ``kind`` names what it is (``rewrite_storm``), ``dedupe`` keeps one open alert for one cause, ``detail``
    holds the numbers it was raised on.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="alerts", db_index=False)
    kind = models.CharField(max_length=40)
    dedupe = models.CharField(max_length=200)
    title = models.CharField(max_length=300)
    detail = models.JSONField(default=dict)
    lineage = models.ForeignKey(Lineage, on_delete=models.CASCADE, null=True, related_name="alerts")
    raised_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True)
    closed_by = models.CharField(max_length=200, blank=True)
    note = models.TextField(blank=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["workspace", "dedupe"], condition=Q(closed_at=None), name="alert_open_once"
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["workspace", "-id"], name="alert_newest")]

    def __str__(self) -> str:
        return self.title
