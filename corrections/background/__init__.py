"""What the worker does for corrections: idempotent, re-runnable."""
