"""What ``manage.py up`` does, one module a step: port, first run, demo, processes."""
