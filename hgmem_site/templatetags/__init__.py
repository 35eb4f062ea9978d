"""Template tags of the shell."""
