"""Benchmarks: every figure is measured beside its floor and its peers in the same run."""
