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
