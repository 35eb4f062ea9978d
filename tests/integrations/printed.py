"""Quickstarts of ``docs/integrations``: the program of a page, the rule it shows, and what it prints."""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "integrations"
LIMIT_S = 60.0
END = "\0\n"
_RUNNER = """
import runpy, sys
for _line in sys.stdin:
    runpy.run_path(sys.argv[1], run_name="__main__")
    print("\\0", flush=True)
"""
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Page:
    """``program`` begins with ``# agent.py``; it prints ``before``, and with ``rule`` ``after``."""

    program: str
    rule: dict[str, Any]
    before: str
    after: str


def read_page(name: str) -> Page:
    """The page's program, rule and outputs, exactly as printed. Raises ValueError for a page without them."""
    blocks = _BLOCK.findall((PAGES / f"{name}.md").read_text())
    (program,) = (text for kind, text in blocks if kind == "python" and text.startswith("# agent.py\n"))
    (rule,) = (text for kind, text in blocks if kind == "json")
    before, after = (text for kind, text in blocks if kind == "text")
    return Page(program, json.loads(rule), before, after)


class Program:
    """The program of a page in a process of its own, run any number of times: imports are paid for once."""

    def __init__(self, page: Page, folder: Path, python: str, *, url: str, key: str) -> None:
        path = folder / "agent.py"
        path.write_text(page.program)
        environment = {
            "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "HOME": str(folder),
            "HGMEM_URL": url, "HGMEM_KEY": key, "HGMEM_HOME": str(folder / "hgmem"),
        }  # fmt: skip
        self._errors = folder / "errors"
        with self._errors.open("wb") as errors:
            self._process = subprocess.Popen(
                [python, "-c", _RUNNER, str(path)], cwd=folder, env=environment, text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
            )  # fmt: skip
        self._watch = Timer(LIMIT_S, self._process.kill)
        self._watch.start()

    def run(self) -> str:
        """Run it; what it printed. Raises AssertionError, with its errors, where it fails."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        printed = ""
        while (line := self._process.stdout.readline()) != END:
            assert line, self._errors.read_text()
            printed += line
        return printed

    def __enter__(self) -> "Program":
        return self

    def __exit__(self, *_error: object) -> None:
        """Let it end as a program does, so that it delivers what it recorded."""
        self._process.communicate()
        self._watch.cancel()


def second_python() -> str:
    """The interpreter of the second environment; empty where there is none."""
    named = os.environ.get("HGMEM_TEST_AGENTS_PYTHON", "")
    beside = Path(f"{sys.prefix}-agents") / "bin" / "python"
    return named or (str(beside) if beside.exists() else "")
