"""``manage.py backup FILE``: a consistent copy while everything runs."""

import os
import sqlite3
import tempfile
import zipfile
from argparse import ArgumentParser
from contextlib import closing
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandError
from django.db import connection

DATABASE, KEY = "hgmem.sqlite3", "secret_key"


class Command(BaseCommand):
    """Database and generated signing key of the embedded profile, in one file."""

    help = "Write the SQLite database and the generated signing key into FILE (a zip archive)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Where to."""
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        """Raises CommandError for PostgreSQL, which has its own tools, and for a file that exists."""
        if connection.vendor != "sqlite":
            raise CommandError(
                "This installation uses PostgreSQL: back it up with pg_dump, and keep SECRET_KEY."
            )
        path: Path = options["file"]
        try:
            handle = os.open(
                path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600
            )  # it holds every secret there is
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}") from error
        with os.fdopen(handle, "wb") as file, tempfile.TemporaryDirectory() as folder:
            copy = Path(folder, DATABASE)
            with closing(sqlite3.connect(copy)) as target:
                connection.ensure_connection()
                connection.connection.backup(target)
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.write(copy, DATABASE)
                key = Path(settings.VAR_DIR, KEY)
                if key.exists():
                    archive.write(key, KEY)
        self.stdout.write(f"{path}: {path.stat().st_size:,} bytes. It holds secrets; keep it like one.")
