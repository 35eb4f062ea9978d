"""Pure rules about corrections: no Django, no clock, no I/O."""
