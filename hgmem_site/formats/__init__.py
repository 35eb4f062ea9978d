"""Date formats by language."""
