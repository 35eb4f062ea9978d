"""Path memory: nodes, lineages of path versions, sub-paths under their path, and the index row of each.

A path version is immutable but for what is said *about* it (result, reward, status, counts). A correction, a
rewrite and a carried-along node are new versions.
"""

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from memory.domain.paths.document import NODE_KINDS, PATH_LEVELS, PATH_ORIGINS, PATH_RESULTS, PATH_STATUSES
from memory.models.accounts import Workspace
from memory.models.experience import Task


class Node(models.Model):
    """Entity layer: one meaningful thing an agent did, decided or met, shared by the paths that contain it.

    ``key`` names what it is (:func:`memory.domain.paths.document.node_key`), so it never changes.
    ``observation`` and ``occurred_at`` are of the first time it was seen. ``merged_into`` points to the node
    that people said is the same; it is followed when nodes are compared and drawn, and can be undone.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+", db_index=False)
    key = models.CharField(max_length=32)
    kind = models.CharField(max_length=8)
    content = models.TextField(blank=True)
    tool = models.CharField(max_length=200, blank=True)
    params = models.JSONField(default=dict)
    observation = models.JSONField(null=True)
    occurred_at = models.DateTimeField(null=True)
    merged_into = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="merged")
    created_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["workspace", "key"], name="node_once"),
            models.CheckConstraint(condition=Q(kind__in=NODE_KINDS), name="node_kind_known"),
            models.CheckConstraint(
                condition=Q(merged_into=None) | ~Q(merged_into=F("id")), name="node_not_into_itself"
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["workspace", "tool", "-id"], name="node_by_tool")]

    def __str__(self) -> str:
        return (self.content or self.tool or self.key)[:120]


class Lineage(models.Model):
    """All versions of one path. The row to lock when a version is added or switched.

    ``key`` is its name in the workspace; for a path from a run it is made of the task and the variant.
    ``automatic_paused_at`` is set while a storm (or a person) keeps rewrites from happening by themselves.
    ``fruitless_rewrites`` counts rewrites in a row after which no reuse succeeded.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, related_name="lineages", db_index=False
    )
    key = models.CharField(max_length=260)
    fruitless_rewrites = models.PositiveIntegerField(default=0)
    automatic_paused_at = models.DateTimeField(null=True)
    pause_reason = models.TextField(blank=True)
    retired_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["workspace", "key"], name="lineage_key")]

    def __str__(self) -> str:
        return self.key


class PathQuerySet(models.QuerySet["Path"]):
    """Filters that read as adjectives."""

    def active(self) -> "PathQuerySet":
        """The versions that are recalled."""
        return self.filter(status="active")

    def whole(self) -> "PathQuerySet":
        """Paths that are no piece of another one; that of a nested task is whole, too."""
        return self.filter(span_start=None)


class Path(models.Model):
    """Path layer: one version of a path.

    ``parent`` is the version it was made from, ``container`` the path it is a part of (``span_start`` to
    ``span_end`` are the positions of the container's nodes that it covers, ``part_position`` its place
    among the parts). ``key`` is lineage and version, for people. ``reward`` lies between 0 and 1.
    ``env``, ``agent`` and ``tools`` are for filters. ``digest`` is over what was done, so that writing
    the same again is noticed.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="paths", db_index=False)
    lineage = models.ForeignKey(Lineage, on_delete=models.CASCADE, related_name="versions", db_index=False)
    version = models.PositiveIntegerField(default=1)
    key = models.CharField(max_length=280)
    parent = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="children")
    container = models.ForeignKey("self", on_delete=models.CASCADE, null=True, related_name="parts")
    part_position = models.PositiveIntegerField(default=0)
    span_start = models.PositiveIntegerField(null=True)
    span_end = models.PositiveIntegerField(null=True)
    goal = models.TextField(blank=True)
    tags = models.JSONField(default=list)
    agent = models.CharField(max_length=200, blank=True)
    env = models.JSONField(default=dict)
    tools = models.JSONField(default=list)
    level = models.CharField(max_length=8, default="task")
    origin = models.CharField(max_length=8, default="run")
    result = models.CharField(max_length=8, default="pending")
    reward = models.FloatField(default=0.0)
    status = models.CharField(max_length=10, default="active")
    rewrite_count = models.PositiveIntegerField(default=0)
    use_count = models.PositiveIntegerField(default=0)
    success_count = models.PositiveIntegerField(default=0)
    node_count = models.PositiveIntegerField(default=0)
    source = models.ForeignKey(Task, on_delete=models.SET_NULL, null=True, related_name="paths")
    digest = models.CharField(max_length=32)
    created_at = models.DateTimeField()
    created_by = models.CharField(max_length=200, blank=True)
    updated_at = models.DateTimeField()

    objects = PathQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["lineage", "version"], name="path_version_once"),
            models.UniqueConstraint(
                fields=["lineage"], condition=Q(status="active"), name="path_one_active_version"
            ),
            models.CheckConstraint(condition=Q(version__gte=1), name="path_version_positive"),
            models.CheckConstraint(condition=Q(result__in=PATH_RESULTS), name="path_result_known"),
            models.CheckConstraint(condition=Q(status__in=PATH_STATUSES), name="path_status_known"),
            models.CheckConstraint(condition=Q(level__in=PATH_LEVELS), name="path_level_known"),
            models.CheckConstraint(condition=Q(origin__in=PATH_ORIGINS), name="path_origin_known"),
            models.CheckConstraint(condition=Q(reward__gte=0.0, reward__lte=1.0), name="path_reward_0_to_1"),
            models.CheckConstraint(
                condition=Q(container=None) | ~Q(container=F("id")), name="path_not_in_itself"
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["workspace", "-id"], name="path_newest"),
            models.Index(fields=["workspace", "status", "result", "-id"], name="path_by_result"),
            models.Index(fields=["workspace", "digest"], name="path_by_digest"),
        ]

    def __str__(self) -> str:
        return self.key

    @property
    def is_piece(self) -> bool:
        """Whether it covers a span of its container, and goes with it."""
        return self.container_id is not None and self.span_start is not None


class PathNode(models.Model):
    """A node at its place in a path. ``name`` is what the edges call it there.

    ``observation`` is what came back in this path, ``details`` what was folded into it (attempts, errors,
    ms).
    """

    path = models.ForeignKey(Path, on_delete=models.CASCADE, related_name="steps", db_index=False)
    position = models.PositiveIntegerField()
    name = models.CharField(max_length=120)
    node = models.ForeignKey(Node, on_delete=models.PROTECT, related_name="places", db_index=False)
    observation = models.JSONField(null=True)
    details = models.JSONField(default=dict)
    occurred_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["path_id", "position"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["path", "position"], name="path_node_place"),
            models.UniqueConstraint(fields=["path", "name"], name="path_node_name"),
        ]
        indexes: ClassVar = [models.Index(fields=["node", "-path"], name="path_node_by_node")]

    def __str__(self) -> str:
        return self.name


class PathEdge(models.Model):
    """From one node of a path to another; ``condition`` says when ("" for always)."""

    path = models.ForeignKey(Path, on_delete=models.CASCADE, related_name="edges", db_index=False)
    position = models.PositiveIntegerField()
    source = models.ForeignKey(PathNode, on_delete=models.CASCADE, related_name="+", db_index=False)
    target = models.ForeignKey(PathNode, on_delete=models.CASCADE, related_name="+", db_index=False)
    condition = models.TextField(blank=True)
    label = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering: ClassVar = ["path_id", "position"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["path", "position"], name="path_edge_place")]

    def __str__(self) -> str:
        return f"edge {self.position}"


class PathEntry(models.Model):
    """Semantic layer: what a path is found by. Written in the transaction of its path.

    ``entry`` holds the encoded text features (:mod:`memory.domain.locating.entries`), ``goal_vector`` and
    ``actions_vector`` little-endian float32 unit vectors of ``embedder`` with ``dims`` numbers each; they
    are empty while a reindex has not reached the row. ``revision`` goes up whenever the entry or what is
    said about the path (status, result, reward, tags) changes: processes that hold the index in memory
    follow it.
    """

    path = models.OneToOneField(Path, on_delete=models.CASCADE, primary_key=True, related_name="entry")
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+", db_index=False)
    embedder = models.CharField(max_length=80, blank=True)
    dims = models.PositiveIntegerField(default=0)
    entry = models.BinaryField(default=bytes)
    goal_vector = models.BinaryField(default=bytes)
    actions_vector = models.BinaryField(default=bytes)
    revision = models.PositiveBigIntegerField(default=0)

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["workspace", "revision"], name="entry_by_revision"),
            models.Index(fields=["embedder", "path"], name="entry_by_embedder"),
        ]

    def __str__(self) -> str:
        return f"entry of path {self.path_id}"


class PathBuild(models.Model):
    """The outbox of path building: a finished task whose paths are to be made, or made again.

    ``built_revision`` is the revision of the task that its paths show. The row waits while it is behind.
    """

    task = models.OneToOneField(Task, on_delete=models.CASCADE, primary_key=True, related_name="path_build")
    wanted_revision = models.PositiveIntegerField()
    built_revision = models.PositiveIntegerField(default=0)
    error = models.TextField(blank=True)

    class Meta:
        indexes: ClassVar = [
            models.Index(
                fields=["task"],
                condition=Q(built_revision__lt=F("wanted_revision")),
                name="path_build_backlog",
            ),
            models.Index(fields=["task"], condition=~Q(error=""), name="path_build_error"),
        ]

    def __str__(self) -> str:
        return f"paths of task {self.task_id}"


class RewardChange(models.Model):
    """Why a path's reward is what it is. Append-only."""

    path = models.ForeignKey(Path, on_delete=models.CASCADE, related_name="reward_changes")
    old = models.FloatField()
    new = models.FloatField()
    cause = models.CharField(max_length=12)  # built | use | penalty | rollback | person
    reason = models.TextField(blank=True)
    task = models.ForeignKey(Task, on_delete=models.SET_NULL, null=True, related_name="+")
    changed_at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return f"{self.old:g} to {self.new:g} ({self.cause})"
