"""Paths: what an agent did, as a graph a person can read and another agent can follow. Pure."""
