"""Pure rules about experience: no Django, no clock, no I/O."""
