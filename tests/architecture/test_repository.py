"""What is tracked is ours, names no machine, and says only what is true."""

import re
from pathlib import Path

import pytest
from django.core.management import get_commands

from tests.architecture.tree import ROOT, tracked_files

TEXT = {".py", ".md", ".toml", ".txt", ".html", ".js", ".css", ".yaml", ".yml", ".json", ".po", ""}
# Written apart so that this file does not find itself.
FOREIGN_HOSTS = [
    "py" + "pi.org",
    "python" + "hosted.org",
    "npm" + "js.org",
    "npm" + "js.com",
    "deb" + "ian.org",
]
MACHINE_PATHS = ["/" + "work/", "/" + "root/", "/" + "tmp/v", "/" + "opt/"]
DOCS = [path for path in tracked_files() if path.suffix == ".md"]


def texts() -> list[tuple[Path, str]]:
    """Tracked text files with their content."""
    paths = [path for path in tracked_files() if path.suffix in TEXT]
    return [(path, (ROOT / path).read_text(encoding="utf-8")) for path in paths]


@pytest.mark.parametrize("needle", [*FOREIGN_HOSTS, *MACHINE_PATHS])
def test_tracked_files__hosts_and_paths_of_a_machine__are_not_named(needle: str) -> None:
    found = [str(path) for path, text in texts() if needle in text]

    assert not found


def test_tracked_files__merges__left_no_conflict_marks() -> None:
    marks = re.compile(r"^(<{7} |>{7} |={7}$)", re.MULTILINE)

    assert not [str(path) for path, text in texts() if marks.search(text)]


def test_tracked_files__scripts_and_styles__are_written_by_us() -> None:
    assets = [path for path in tracked_files() if path.suffix in {".js", ".css", ".woff", ".woff2", ".map"}]
    minified = [
        str(path)
        for path in assets
        if ".min." in path.name
        or path.suffix in {".woff", ".woff2", ".map"}
        or max(map(len, (ROOT / path).read_text(encoding="utf-8").splitlines()), default=0) > 300
    ]

    assert not minified


def test_templates__every_page__has_no_inline_script_or_handler() -> None:
    inline = re.compile(r"<script(?![^>]*\bsrc=)[^>]*>|\son[a-z]+\s*=|javascript:", re.IGNORECASE)
    allowed = re.compile(r'<script[^>]*type="application/json"')

    found = [
        f"{path}: {match.group(0)}"
        for path, text in texts()
        if path.suffix == ".html"
        for match in inline.finditer(text)
        if not allowed.match(match.group(0))
    ]

    assert not found


@pytest.mark.parametrize("path", DOCS, ids=str)
def test_docs__commands_they_show__exist(path: Path) -> None:
    text = (ROOT / path).read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"```.*?```|`[^`\n]+`", text, re.DOTALL))
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))

    made = set(re.findall(r"(?<![\w-])make ([a-z]+)", code))
    managed = set(re.findall(r"manage\.py ([a-z_]+)", code))
    modules = set(re.findall(r"python -m (benchmarks[\w.]*)", code))

    assert made <= targets
    assert managed <= set(get_commands())
    assert [m for m in modules if not _module_exists(m)] == []


@pytest.mark.parametrize("path", DOCS, ids=str)
def test_docs__links_to_files__lead_somewhere(path: Path) -> None:
    text = (ROOT / path).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text)

    broken = [
        link
        for link in links
        if not re.match(r"[a-z]+:", link) and not (ROOT / path.parent / link).resolve().exists()
    ]

    assert not broken


def _module_exists(name: str) -> bool:
    path = ROOT.joinpath(*name.split("."))
    return path.with_suffix(".py").is_file() or (path / "__main__.py").is_file()
