"""Small files, small functions, and no drawer for what nobody could name."""

from pathlib import Path

import pytest

from tests.architecture.tree import ROOT, body_lines, functions, python_files

FILE_LINES = 400
TEST_FILE_LINES = 500
FUNCTION_LINES = 50
VIEW_LINES = 20
NAMELESS = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "managers"}


def test_files__every_source__stays_under_the_limit() -> None:
    lengths = {path: len((ROOT / path).read_text(encoding="utf-8").splitlines()) for path in python_files()}

    long = {
        str(path): lines
        for path, lines in lengths.items()
        if lines > (TEST_FILE_LINES if path.parts[0] == "tests" else FILE_LINES)
    }

    assert not long


def test_functions__every_source__stay_under_the_limit() -> None:
    long = {
        f"{path}:{node.lineno} {node.name}": body_lines(node)
        for path in python_files()
        for node in functions(path)
        if body_lines(node) > FUNCTION_LINES
    }

    assert not long


@pytest.mark.parametrize("app", ["memory", "corrections"])
def test_views__every_page__stays_under_the_limit(app: str) -> None:
    long = {
        f"{path}:{node.lineno} {node.name}": body_lines(node)
        for path in python_files()
        if path.parts[:2] == (app, "web")
        for node in functions(path)
        if any("workspace_page" in _name(decorator) for decorator in node.decorator_list)
        and body_lines(node) > VIEW_LINES
    }

    assert not long


def test_modules__every_source__has_a_name_that_says_something() -> None:
    nameless = [str(path) for path in python_files() if {*path.parts[:-1], path.stem} & NAMELESS]

    assert not nameless


def test_tests__every_module__holds_functions_named_by_the_pattern() -> None:
    wrong = [
        f"{path}: {node.name}"
        for path in python_files()
        if path.parts[0] == "tests"
        for node in functions(path)
        if node.name.startswith("test_") and node.name.count("__") < 2
    ]

    assert not wrong


def _name(decorator: object) -> str:
    target = getattr(decorator, "func", decorator)
    return str(getattr(target, "id", getattr(target, "attr", "")))


def test_migrations__every_app__are_numbered_once() -> None:
    for app in ("memory", "corrections"):
        files = Path(ROOT, app, "migrations").glob("0*.py")
        numbers = [path.name[:4] for path in files if "_squashed_" not in path.name]
        assert len(numbers) == len(set(numbers))
