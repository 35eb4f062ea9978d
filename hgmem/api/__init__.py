"""Typed calls of the HTTP API, sync and async: they raise where something went wrong, and wait as told."""
