"""Writes: atomic, keyword-only, `by=` required, an audit event in the same transaction."""
