"""The pages: translate in, one domain call, translate out."""
