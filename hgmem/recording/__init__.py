"""Recording that is never in the way: a spool on disk, and a thread that delivers it."""
