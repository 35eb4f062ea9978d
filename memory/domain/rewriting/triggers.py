"""Why a rewrite is asked for."""

TRIGGERS = ("located", "reuse", "environment", "person", "api")
"""A failed path was located, a task that reused it failed, the environment changed, somebody asked."""
