"""Reads: `get_x`, `list_x`, `x_snapshot`. No writes."""
