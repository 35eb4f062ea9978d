"""Tests: behaviour, real parts, both databases."""
