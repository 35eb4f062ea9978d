"""Settings: every variable is documented, the defaults are safe, secrets may live in files."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from corrections.schedule import BEAT as CORRECTIONS_BEAT
from hgmem_site.schedule import BEAT as SITE_BEAT
from memory.schedule import BEAT as MEMORY_BEAT
from tests.architecture.tree import ROOT, tracked_files

OPERATIONS = ROOT / "docs/operations.md"
READ = re.compile(r"""env\.\w+\(\s*["']([A-Z_]+)["']""")
USED = re.compile(r"\$\{([A-Z_]+)")


def test_variables__those_that_are_read__are_those_that_are_documented() -> None:
    sources = [path for path in tracked_files() if path.parts[0] == "hgmem_site" and path.suffix == ".py"]
    read = {name for path in sources for name in READ.findall((ROOT / path).read_text())}
    read |= set(USED.findall((ROOT / "Procfile").read_text()))

    documented = re.findall(r"^\| `([A-Z_]+)` \|", OPERATIONS.read_text(), re.MULTILINE)

    assert sorted(documented) == sorted(read)


def setting(expression: str, var: Path, **environment: str) -> str:
    """The value of an expression over the settings of a process with that environment."""
    code = f"from django.conf import settings; print({expression})"
    kept = {
        "PATH": os.environ["PATH"],
        "HGMEM_VAR": str(var),
        "DJANGO_SETTINGS_MODULE": "hgmem_site.settings",
    }
    result = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=kept | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return result.stdout.strip()


SAFE = "[getattr(settings, name) for name in ('DEBUG', 'SESSION_COOKIE_SECURE', 'SECURE_SSL_REDIRECT')]"


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        pytest.param({}, "[False, True, True]", id="nothing-set"),
        pytest.param({"HGMEM_URL": "https://a.example"}, "[False, True, True]", id="public"),
        pytest.param({"HGMEM_URL": "http://a.example"}, "[False, True, True]", id="public-without-tls"),
        pytest.param({"HGMEM_URL": "http://127.0.0.1:8000"}, "[False, False, False]", id="loopback"),
    ],
)
def test_settings__by_address__are_safe_unless_on_this_machine(
    tmp_path: Path, environment: dict[str, str], expected: str
) -> None:
    assert setting(SAFE, tmp_path, **environment) == expected


def test_secret_key__first_and_second_process__agree_on_a_private_file(tmp_path: Path) -> None:
    first, second = (setting("settings.SECRET_KEY", tmp_path) for _ in range(2))

    assert first == second
    assert len(first) > 60
    assert (tmp_path / "secret_key").stat().st_mode & 0o777 == 0o600


def test_secret_key__in_a_file_of_its_own__is_read_from_there(tmp_path: Path) -> None:
    secret = tmp_path / "mounted"
    secret.write_text("from-the-container")

    assert setting("settings.SECRET_KEY", tmp_path, SECRET_KEY_FILE=str(secret)) == "from-the-container"


def test_clock__every_task_it_starts__is_documented() -> None:
    documented = set(re.findall(r"`((?:memory|corrections|hgmem_site)\.[a-z_]+)`", OPERATIONS.read_text()))

    assert documented == {entry["task"] for entry in (MEMORY_BEAT | CORRECTIONS_BEAT | SITE_BEAT).values()}
