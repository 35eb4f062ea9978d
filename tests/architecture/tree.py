"""What the repository tracks: the files that the architecture tests look at."""

import ast
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def tracked_files() -> tuple[Path, ...]:
    """Files that are, or are about to be, part of the repository; paths relative to its root."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    return tuple(Path(name) for name in sorted(names) if name and (ROOT / name).is_file())


def python_files() -> list[Path]:
    """Python sources, without generated migrations."""
    return [path for path in tracked_files() if path.suffix == ".py" and "migrations" not in path.parts]


@cache
def parse(path: Path) -> ast.Module:
    """The syntax tree of a tracked file."""
    return ast.parse((ROOT / path).read_text(encoding="utf-8"))


def functions(path: Path) -> Iterator[FunctionNode]:
    """Every function and method of a file."""
    for node in ast.walk(parse(path)):
        if isinstance(node, FunctionNode):
            yield node


def body_lines(node: FunctionNode) -> int:
    """Lines from the signature to the end, the docstring not counted."""
    first = node.body[0]
    is_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    docstring = first.end_lineno - first.lineno + 1 if is_docstring else 0
    return node.end_lineno - node.lineno + 1 - docstring
