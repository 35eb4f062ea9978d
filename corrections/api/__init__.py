"""The API: translate in, one domain call, translate out."""
