"""The demo that plays itself: a scripted agent over the real HTTP API, and the page to watch it."""
