"""What insights are counted from and into. Only the insight pass writes these tables."""

from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from memory.models.accounts import Workspace
from memory.models.experience import Task


class TaskInsight(models.Model):
    """The outbox of the insights: a finished, analysed task that is to be counted, or counted again.

    ``counted_revision`` is the revision of the task that the tables show; the row waits while it is behind.
    ``contribution`` is what the task added to each counter's table (packed, see
    :mod:`memory.domain.insights.contributions`), so that it can be taken away again. ``error`` says which
    counters could not read the task.
    """

    task = models.OneToOneField(Task, on_delete=models.CASCADE, primary_key=True, related_name="insight")
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+", db_index=False)
    wanted_revision = models.PositiveIntegerField()
    counted_revision = models.PositiveIntegerField(default=0)
    contribution = models.BinaryField(default=bytes)
    error = models.TextField(blank=True)

    class Meta:
        indexes: ClassVar = [
            models.Index(
                fields=["workspace", "task"],
                condition=Q(counted_revision__lt=F("wanted_revision")),
                name="task_insight_backlog",
            ),
            models.Index(fields=["workspace", "task"], name="task_insight_home"),
            models.Index(fields=["task"], condition=~Q(error=""), name="task_insight_error"),
        ]

    def __str__(self) -> str:
        return f"insights of task {self.task_id}"


class SpeedCell(models.Model):
    """How long one tool took on one day (UTC), called with parameters of one shape; all of them under "".

    ``timed`` of the ``n`` calls said how long they took; ``buckets`` is their histogram
    (:mod:`memory.domain.insights.histograms`), ``failed`` counts calls with anything wrong.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+", db_index=False)
    day = models.DateField()
    tool = models.CharField(max_length=200)
    shape = models.CharField(max_length=200, blank=True)
    n = models.IntegerField(default=0)
    failed = models.IntegerField(default=0)
    timed = models.IntegerField(default=0)
    ms_sum = models.FloatField(default=0.0)
    buckets = models.JSONField(default=dict)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["workspace", "tool", "day", "shape"], name="speed_cell_once"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["workspace", "day"], condition=Q(shape=""), name="speed_cell_of_tools"),
        ]

    def __str__(self) -> str:
        return f"{self.tool}{self.shape} on {self.day}"


class WayCell(models.Model):
    """How one way to a result of ``tool`` did in one situation, in one month (its first day).

    ``way`` is a call of the tool with parameters of one shape, or a short sequence of tools that ends in it.
    The situation: the tool just ``before``, the environment's ``domain``, the task's ``tags`` (JSON list,
    sorted). ``key`` is the digest of tool, way and situation. ``n`` attempts with known times, ``succeeded``
    of them; sums of their times, of the squares, and of the times of those that succeeded (ms, ms squared).
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+", db_index=False)
    month = models.DateField()
    tool = models.CharField(max_length=200)
    key = models.CharField(max_length=32)
    before = models.CharField(max_length=200, blank=True)
    domain = models.CharField(max_length=200, blank=True)
    tags = models.TextField(default="[]")
    way = models.TextField()
    n = models.IntegerField(default=0)
    succeeded = models.IntegerField(default=0)
    ms_sum = models.FloatField(default=0.0)
    ms_squares = models.FloatField(default=0.0)
    ms_succeeded = models.FloatField(default=0.0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["workspace", "key", "month"], name="way_cell_once"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["workspace", "tool", "month"], name="way_cell_by_tool"),
        ]

    def __str__(self) -> str:
        return f"{self.way} in {self.month:%Y-%m}"


class RetryCell(models.Model):
    """What retries of one tool cost on one day (UTC); after failures of one error pattern, or (0) after any.

    A retry is a call of a tool that failed earlier in the task and has not worked since. ``calls`` and ``ms``
    are all of the tool's and stand only under pattern 0. ``given_up``: tasks that retried and got nowhere.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+", db_index=False)
    day = models.DateField()
    tool = models.CharField(max_length=200)
    pattern = models.BigIntegerField(default=0)
    calls = models.IntegerField(default=0)
    ms = models.FloatField(default=0.0)
    failures = models.IntegerField(default=0)
    retries = models.IntegerField(default=0)
    retry_ms = models.FloatField(default=0.0)
    recovered = models.IntegerField(default=0)
    given_up = models.IntegerField(default=0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["workspace", "day", "tool", "pattern"], name="retry_cell_once"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["workspace", "tool", "day"], name="retry_cell_by_tool"),
        ]

    def __str__(self) -> str:
        return f"retries of {self.tool} on {self.day}"


class RepeatCell(models.Model):
    """Calls and failures of one tool by one agent on one day (UTC), of one error pattern or all.

    ``repeats`` are failures whose pattern an earlier task had met. Pattern 0 stands for all; calls stand only
    there.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+", db_index=False)
    day = models.DateField()
    tool = models.CharField(max_length=200, blank=True)
    agent = models.CharField(max_length=200, blank=True)
    pattern = models.BigIntegerField(default=0)
    calls = models.IntegerField(default=0)
    failures = models.IntegerField(default=0)
    repeats = models.IntegerField(default=0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["workspace", "day", "tool", "agent", "pattern"], name="repeat_cell_once"
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["workspace", "tool", "pattern", "day"], name="repeat_cell_by_tool"),
            models.Index(fields=["workspace", "pattern", "day"], name="repeat_cell_by_pattern"),
        ]

    def __str__(self) -> str:
        return f"repeats of {self.tool} on {self.day}"
