"""Process-wide state of a serving process: compiled rulesets, the receipt buffer, their threads."""
