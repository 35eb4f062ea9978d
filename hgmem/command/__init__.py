"""The ``hgmem`` command: for people who run agents."""
