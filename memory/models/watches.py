"""Tasks that another room wants to hear of."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from memory.models.accounts import Workspace


class TaskWatch(models.Model):
    """A name whose tasks somebody watches: the task called so, and those whose root task it is.

    ``has_news`` is set in the transaction of every analysis of such a task, and taken away by whoever acts
    on it.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+", db_index=False)
    unit = models.CharField(max_length=200)
    has_news = models.BooleanField(default=False)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["workspace", "unit"], name="task_watch_once")
        ]
        indexes: ClassVar = [models.Index(fields=["id"], condition=Q(has_news=True), name="task_watch_news")]

    def __str__(self) -> str:
        return self.unit
