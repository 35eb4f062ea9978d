"""Backup and restore of the embedded profile, through real processes and a real file."""

import os
import subprocess
import sys
from pathlib import Path

from tests.architecture.tree import ROOT

COUNT = "from memory.models import User; print(User.objects.count())"
ADD = "from memory.models import User; User.objects.create(username='later')"


def manage(var: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command on the installation in ``var``."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return subprocess.run(
        [sys.executable, "manage.py", *arguments], cwd=ROOT, env=kept | {"HGMEM_VAR": str(var)},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def test_restore__after_a_backup__brings_back_what_was_there(tmp_path: Path) -> None:
    var, file = tmp_path / "var", tmp_path / "night.zip"
    manage(var, "migrate", "--verbosity", "0")
    key = (var / "secret_key").read_text()

    backed_up = manage(var, "backup", str(file))
    manage(var, "shell", "-v", "0", "-c", ADD)
    (var / "secret_key").write_text("another")
    refused = manage(var, "restore", str(file))
    restored = manage(var, "restore", str(file), "--replace")

    assert backed_up.returncode == 0, backed_up.stderr
    assert file.stat().st_mode & 0o777 == 0o600
    assert refused.returncode == 1
    assert "--replace" in refused.stderr
    assert restored.returncode == 0, restored.stderr
    assert (var / "secret_key").read_text() == key
    assert manage(var, "shell", "-v", "0", "-c", COUNT).stdout.strip() == "0"


def test_restore__something_else__leaves_the_database_alone(tmp_path: Path) -> None:
    var, file = tmp_path / "var", tmp_path / "night.zip"
    manage(var, "migrate", "--verbosity", "0")
    before = (var / "hgmem.sqlite3").read_bytes()
    file.write_bytes(b"not an archive")

    result = manage(var, "restore", str(file), "--replace")

    assert result.returncode == 1
    assert "not a backup" in result.stderr
    assert (var / "hgmem.sqlite3").read_bytes() == before
