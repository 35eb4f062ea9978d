"""What the worker does: idempotent, re-runnable, from rows."""
