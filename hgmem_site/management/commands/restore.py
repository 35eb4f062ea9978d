"""``manage.py restore FILE``: back to what ``backup`` wrote."""

import os
import sqlite3
import zipfile
from argparse import ArgumentParser
from contextlib import closing
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandError, call_command
from django.db import connection

from hgmem_site.management.commands.backup import DATABASE, KEY


class Command(BaseCommand):
    """Replace the database and the signing key by those of a backup."""

    help = "Replace database and signing key by those in FILE. Stop HGMem first."
    requires_system_checks: list[str] = []  # noqa: RUF012 - Django's own type

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Where from, and that it is meant."""
        parser.add_argument("file", type=Path)
        parser.add_argument("--replace", action="store_true", help="yes, replace the database that is there")

    def handle(self, *args: Any, **options: Any) -> None:
        """Raises CommandError for PostgreSQL, a file that is no backup, and a database that would be lost."""
        if connection.vendor != "sqlite":
            raise CommandError("This installation uses PostgreSQL: restore it with pg_restore.")
        target = Path(str(connection.settings_dict["NAME"]))
        if target.exists() and not options["replace"]:
            raise CommandError(f"{target} exists. Say --replace if it may be replaced.")
        connection.close()
        _check_stopped(target)
        try:
            with zipfile.ZipFile(options["file"]) as archive:
                _put(archive, DATABASE, target)
                if KEY in archive.namelist():
                    _put(archive, KEY, Path(settings.VAR_DIR, KEY))
        except (OSError, KeyError, zipfile.BadZipFile, sqlite3.DatabaseError) as error:
            raise CommandError(f"{options['file']} is not a backup of HGMem: {error}") from error
        call_command("migrate", verbosity=0, interactive=False)
        self.stdout.write("Restored. Start HGMem again.")


def _check_stopped(target: Path) -> None:
    """Raise CommandError while a process has the database open: what it wrote from now on would be lost.

    SQLite leaves the write-ahead mode only when nobody else is connected; the next start enters it again.
    """
    if not target.exists():
        return
    with closing(sqlite3.connect(target, timeout=1)) as database:
        try:
            database.execute("PRAGMA journal_mode=DELETE")
        except sqlite3.OperationalError as error:
            raise CommandError(f"HGMem is running on {target} ({error}). Stop it first.") from error
        except sqlite3.DatabaseError:
            return  # no database: nobody can be using it


def _put(archive: zipfile.ZipFile, name: str, target: Path) -> None:
    """Whole or not at all: written beside the target, looked at, then moved over it."""
    draft = target.with_name(f".{target.name}.restored")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as file, archive.open(name) as source:
        while piece := source.read(1024 * 1024):
            file.write(piece)
    if name == DATABASE:
        with closing(sqlite3.connect(draft)) as database:
            database.execute("SELECT count(*) FROM django_migrations").fetchone()
        for suffix in ("-wal", "-shm"):
            target.with_name(target.name + suffix).unlink(missing_ok=True)
    draft.replace(target)
