"""What `pip install hgmem` brings, and what importing it costs."""

import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import hgmem

ROOT = Path(__file__).parents[2]


def test_wheel__built_from_the_project__holds_the_library_alone(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "manage.py"):
        shutil.copy(ROOT / name, source)
    for name in ("hgmem", "hgmem_site", "memory", "corrections"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    command = [
        *(sys.executable, "-m", "pip", "wheel", str(source), "--no-deps", "--no-build-isolation", "-q"),
        *("-w", str(tmp_path), "--disable-pip-version-check"),
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"hgmem"}
    assert "hgmem/py.typed" in names
    assert not [name for name in names if "site" in name.split("/")[0]]


def test_dependencies__of_the_library__are_few() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = {text.split(">")[0] for text in project["dependencies"]}
    assert named == {"cel-expr-python", "httpx", "jsonschema", "protobuf", "pydantic", "python-jsonpath"}


def test_import__the_package_alone__loads_nothing_heavy() -> None:
    heavy = ("httpx", "pydantic", "cel_expr_python", "google.protobuf", "jsonschema", "asyncio", "hgmem.api")
    code = f"import sys, hgmem; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"


def test_names__all_public_ones__can_be_had() -> None:
    for name in hgmem.__all__:
        assert getattr(hgmem, name) is not None
    assert set(hgmem.__all__) <= set(dir(hgmem))
