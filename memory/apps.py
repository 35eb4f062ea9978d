"""Experience: workspaces, tasks, calls, failures, patterns."""

from django.apps import AppConfig


class MemoryConfig(AppConfig):
    """The memory app."""

    name = "memory"
    verbose_name = "Memory"
