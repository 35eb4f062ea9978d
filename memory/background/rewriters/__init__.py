"""The rewriters: a port, and what stands behind it. None of them writes anything."""
