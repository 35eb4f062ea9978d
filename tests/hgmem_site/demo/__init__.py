"""The demo that plays itself."""
