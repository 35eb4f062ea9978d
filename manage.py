#!/usr/bin/env python
"""Django's command line for HGMem."""

import os
import sys


def main() -> None:
    """Run a management command with HGMem's settings."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hgmem_site.settings")
    try:
        from django.core.management import execute_from_command_line
    except ImportError as error:
        raise SystemExit(
            "Django is not installed for this Python. Try .venv/bin/python manage.py, after make setup."
        ) from error
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
