"""Rewriting a path: proposals, repairs without a model, and when to stop."""
