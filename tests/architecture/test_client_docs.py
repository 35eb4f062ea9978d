"""The examples and tables of the library's documentation are true."""

import os
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import hgmem
from hgmem.api.settings import _VARIABLES, Settings
from hgmem.command.main import build_parser

ROOT = Path(__file__).parents[2]
CLIENT = (ROOT / "docs/client.md").read_text()


def test_client__every_example__runs(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", CLIENT, re.DOTALL)
    assert len(blocks) >= 2
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HGMEM_")}
    for block in blocks:
        subprocess.run(
            [sys.executable, "-c", block], check=True, capture_output=True, cwd=ROOT, timeout=60,
            env={**environment, "HOME": str(tmp_path)},
        )  # fmt: skip


def test_client__table_of_settings__is_whole() -> None:
    section = CLIENT.partition("### Settings")[2].partition("\n## ")[0]
    told = set(re.findall(r"`([a-z_]+)`", section))
    assert {item.name for item in fields(Settings)} - {"framework"} <= told
    assert {variable for variable, _ in _VARIABLES.values()} <= set(re.findall(r"`(HGMEM_\w+)`", section))


def test_client__table_of_errors__is_whole() -> None:
    section = CLIENT.partition("## Errors")[2].partition("\n## ")[0]
    errors = {
        name
        for name in hgmem.__all__
        if isinstance(getattr(hgmem, name), type) and issubclass(getattr(hgmem, name), Exception)
    }
    assert errors <= set(re.findall(r"`(\w+)`", section))


def test_command__document__names_every_command_and_option() -> None:
    text = (ROOT / "docs/command.md").read_text()
    (commands,) = (action for action in build_parser()._actions if action.dest == "command")
    for name, parser in commands.choices.items():
        assert f"## `hgmem {name}`" in text
        section = text.partition(f"## `hgmem {name}`")[2].partition("\n## ")[0]
        for action in parser._actions:
            for option in action.option_strings[-1:]:
                if option != "--help":
                    assert f"`{option}" in section, (name, option)
