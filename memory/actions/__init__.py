"""Writes: atomic, keyword-only, `by=` required, an audit event in the same transaction."""

from memory.events import record_event

__all__ = ["record_event"]
