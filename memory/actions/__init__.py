"""Writes: atomic, keyword-only, `by=` required, an audit event in the same transaction."""

from memory.events import Event, record_event, record_events

__all__ = ["Event", "record_event", "record_events"]
