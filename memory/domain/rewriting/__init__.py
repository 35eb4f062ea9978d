"""Rewriting a path that failed: guard, storm watch, rewriters that need no model. Pure."""
