"""Backup and restore of the embedded profile, through real processes and a real file."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from uuid import uuid4

from tests.architecture.tree import ROOT


def slugs(var: Path, *added: str) -> list[str]:
    """The workspaces in the file, after adding some."""
    with closing(sqlite3.connect(var / "hgmem.sqlite3")) as database:
        for slug in added:
            database.execute(
                "INSERT INTO memory_workspace (slug, name, uuid, settings, created_at) "
                "VALUES (?, ?, ?, '{}', '2026-01-01')",
                (slug, slug, uuid4().hex),
            )
        database.commit()
        return [row[0] for row in database.execute("SELECT slug FROM memory_workspace ORDER BY slug")]


def manage(var: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command on the installation in ``var``."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return subprocess.run(
        [sys.executable, "manage.py", *arguments], cwd=ROOT, env=kept | {"HGMEM_VAR": str(var)},
        capture_output=True, text=True, timeout=180, check=False,
    )  # fmt: skip


def test_restore__after_a_backup__brings_back_what_was_there(tmp_path: Path) -> None:
    var, file = tmp_path / "var", tmp_path / "night.zip"
    manage(var, "migrate", "--verbosity", "0")
    key = (var / "secret_key").read_text()
    slugs(var, "before")

    backed_up = manage(var, "backup", str(file))
    slugs(var, "later")
    (var / "secret_key").write_text("another")
    refused = manage(var, "restore", str(file))
    restored = manage(var, "restore", str(file), "--replace")

    assert backed_up.returncode == 0, backed_up.stderr
    assert file.stat().st_mode & 0o777 == 0o600
    assert refused.returncode == 1
    assert "--replace" in refused.stderr
    assert restored.returncode == 0, restored.stderr
    assert (var / "secret_key").read_text() == key
    assert slugs(var) == ["before"]


def test_restore__while_a_process_has_it_open__is_refused(tmp_path: Path) -> None:
    var, file = tmp_path / "var", tmp_path / "night.zip"
    manage(var, "migrate", "--verbosity", "0")
    manage(var, "backup", str(file))

    with closing(sqlite3.connect(var / "hgmem.sqlite3")) as running:
        running.execute("SELECT count(*) FROM memory_workspace").fetchone()
        refused = manage(var, "restore", str(file), "--replace")
    restored = manage(var, "restore", str(file), "--replace")

    assert refused.returncode == 1
    assert "Stop it first" in refused.stderr
    assert restored.returncode == 0, restored.stderr


def test_restore__something_else__leaves_the_database_alone(tmp_path: Path) -> None:
    var, file = tmp_path / "var", tmp_path / "night.zip"
    var.mkdir()
    (var / "hgmem.sqlite3").write_bytes(b"what is there")
    before = (var / "hgmem.sqlite3").read_bytes()
    file.write_bytes(b"not an archive")

    result = manage(var, "restore", str(file), "--replace")

    assert result.returncode == 1
    assert "not a backup" in result.stderr
    assert (var / "hgmem.sqlite3").read_bytes() == before
