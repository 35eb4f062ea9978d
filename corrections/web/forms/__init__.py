"""Forms of the rule pages. Nothing is required here: the engine says what is missing, in one place."""
