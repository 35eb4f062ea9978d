"""Formats of one language."""
