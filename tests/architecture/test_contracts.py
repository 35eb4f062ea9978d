"""The import contracts bite: a module that belongs nowhere, and an import that goes up, break the build."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.tree import ROOT

ROOMS = ("hgmem_site", "corrections", "memory", "hgmem", "benchmarks")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The sources and the contracts, apart from the checkout."""
    skip = shutil.ignore_patterns("__pycache__", "static", "*.pyc")
    for room in ROOMS:
        shutil.copytree(ROOT / room, tmp_path / room, ignore=skip)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run import-linter there."""
    code = "import sys; sys.path.insert(0, '.'); from importlinter.cli import lint_imports_command as c; c()"
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )


def test_contracts__sources_as_they_are__are_kept(copy: Path) -> None:
    result = lint(copy)

    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize(
    ("module", "text", "said"),
    [
        pytest.param("memory/helpers.py", "", "memory.helpers", id="module-without-a-layer"),
        pytest.param(
            "memory/queries/up.py", "import memory.actions.accounts", "memory.queries", id="query-acts"
        ),
        pytest.param("hgmem/shortcut.py", "import django", "django", id="library-uses-django"),
        pytest.param("memory/domain/late.py", "import memory.models", "memory.models", id="domain-uses-rows"),
        pytest.param("memory/web/rest.py", "import rest_framework", "rest_framework", id="page-uses-drf"),
        pytest.param("memory/web/up.py", "import corrections.models", "corrections", id="memory-goes-up"),
        pytest.param("corrections/queries/x.py", "import memory.models", "memory.models", id="past-the-door"),
        pytest.param("hgmem/rules/x.py", "import cel_expr_python", "cel_expr_python", id="cel-elsewhere"),
        pytest.param("memory/queries/x.py", "import networkx", "networkx", id="graphs-outside-domain"),
    ],
)
def test_contracts__a_wrong_module__breaks_the_build(copy: Path, module: str, text: str, said: str) -> None:
    Path(copy, module).write_text(f'"""Wrong on purpose."""\n\n{text}\n')

    result = lint(copy)

    assert result.returncode != 0
    assert said in result.stdout
