"""Counting what the recorded tasks say: each finished task once, its old share taken away when it changes."""
