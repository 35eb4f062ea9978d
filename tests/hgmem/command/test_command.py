"""The command against a real server: what it says, and its exit codes."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from hgmem.api.errors import ConnectionFailed
from hgmem.api.settings import Settings
from hgmem.command.main import main
from hgmem.command.terminal import printable
from hgmem.recording.recorder import Recorder
from hgmem.runtime.client import Client
from memory.domain.access import Scope
from memory.models import Task
from tests.agents import URL, InProcess
from tests.conftest import Cast, api_client, make_key
from tests.corrections.builders import make_rule

AWAY = "http://127.0.0.1:9"


@pytest.fixture
def secret(cast: Cast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A key of a server in this process; the address ``AWAY`` is one where nobody listens."""
    key = make_key(cast.workspace)
    for name, value in {"URL": URL, "KEY": key, "HOME": str(tmp_path)}.items():
        monkeypatch.setenv(f"HGMEM_{name}", value)

    def make(url: str | None, *more: Any, **settings: Any) -> Client:
        away = os.environ["HGMEM_URL"] == AWAY
        return Client(url, *more, transport=None if away else InProcess(), **settings)

    monkeypatch.setattr("hgmem.command.terminal.Client", make)
    return key


def findings(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    return {row["what"]: row["state"] for row in json.loads(capsys.readouterr().out)}


def test_doctor__all_is_well__says_so(cast: Cast, secret: str, capsys: pytest.CaptureFixture[str]) -> None:
    make_rule(cast.workspace)
    code = main(["doctor"])
    said = capsys.readouterr().out
    assert code == 0, said
    assert "1 rules, fetched now" in said
    assert "decides here in" in said
    assert secret not in said


def test_doctor__key_lacks_a_scope__warns(
    cast: Cast, secret: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HGMEM_KEY", make_key(cast.workspace, Scope.RULES_READ, name="asks"))
    assert main(["doctor", "--json"]) == 0
    assert findings(capsys)["key"] == "warn"


@pytest.mark.parametrize(
    ("variable", "value", "what"),
    [
        ("HGMEM_KEY", "hgm_unknown", "key"),
        ("HGMEM_URL", AWAY, "server"),
        ("HGMEM_HOME", "/proc/nowhere", "folder"),
    ],
)
def test_doctor__something_is_broken__says_what(
    variable: str, value: str, what: str, secret: str, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setenv(variable, value)
    assert main(["doctor", "--json"]) == 1
    assert findings(capsys)[what] == "fail"


def test_command__nothing_configured__says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("HGMEM_URL", raising=False)
    monkeypatch.delenv("HGMEM_KEY", raising=False)
    assert main(["doctor"]) == 1
    assert "set HGMEM_URL and HGMEM_KEY" in capsys.readouterr().err


def test_tail__hostile_text__cannot_reach_the_terminal(
    secret: str, capsys: pytest.CaptureFixture[str]
) -> None:
    call = {
        "tool": "search\x1b[2J",
        "input": {"q": "x\r\ny"},
        "status": "error",
        "error": {"message": "\x9b no"},
    }
    api_client(secret).post("/api/v1/experiences", {"external_id": "t\x1b]0;a\x07", "calls": [call]})
    assert main(["tail", "--once"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("x ")
    assert all(character.isprintable() or character == "\n" for character in said)
    assert "no" in said


def test_tail__filters__choose_calls(secret: str, capsys: pytest.CaptureFixture[str]) -> None:
    calls = [{"tool": "a", "status": "ok"}, {"tool": "b", "status": "error"}]
    api_client(secret).post("/api/v1/experiences", {"external_id": "t", "agent": "x", "calls": calls})
    main(["tail", "--once", "--failures", "--json"])
    (line,) = capsys.readouterr().out.splitlines()
    assert (json.loads(line)["tool"], json.loads(line)["task"]) == ("b", "t")
    main(["tail", "--once", "--agent", "nobody"])
    assert capsys.readouterr().out == ""


def test_import__plan_only__records_nothing(
    secret: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", "--plan", str(runs(tmp_path))]) == 0
    assert "runs" in capsys.readouterr().out
    assert not Task.objects.exists()


def test_import__nobody_to_ask__asks_for_yes(
    secret: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    assert main(["import", str(runs(tmp_path))]) == 1
    assert "--yes" in capsys.readouterr().err
    assert main(["import", str(tmp_path / "none")]) == 1
    assert "there is no file" in capsys.readouterr().err


def test_spool__refused_and_waiting__can_be_seen_retried_and_dropped(
    secret: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Settings(url=URL, key=secret, home=tmp_path).folder / "refused"
    folder.mkdir(parents=True)
    row = {
        "kind": "experience",
        "reason": {"status": "invalid"},
        "item": {"external_id": "late", "calls": []},
    }
    (folder / "refused.jsonl").write_text(json.dumps(row) + "\n{cut off")
    assert main(["spool"]) == 0
    assert "refused: 1" in capsys.readouterr().out
    assert main(["spool", "refused"]) == 0
    assert "invalid" in capsys.readouterr().out
    assert main(["spool", "retry"]) == 0
    assert "all is delivered" in capsys.readouterr().out
    assert Task.objects.get().external_id == "late"
    assert main(["spool", "drop"]) == 0


def test_spool__key_was_changed__takes_over_what_waits_for_the_old_one(
    secret: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = Settings(url=URL, key="hgm_old00000-and-so-on", home=tmp_path)
    left = Recorder(old.folder, old.spool_bytes, away, away)
    left.record({"external_id": "late", "calls": []})
    left.close(0.0)
    assert main(["spool"]) == 0
    assert "wait for other servers or keys" in capsys.readouterr().out
    assert main(["spool", "deliver"]) == 0
    assert not Task.objects.exists()
    assert main(["spool", "deliver", "--from-key", old.key_prefix]) == 0
    assert "1 files of hgm_old0" in capsys.readouterr().out
    assert Task.objects.get().external_id == "late"


def away(_items: Any) -> Any:
    raise ConnectionFailed("away")


def test_proxy__which_server__has_to_be_said(secret: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp-proxy"]) == 1
    assert "say which server" in capsys.readouterr().err


def test_printable__long_and_odd__is_one_short_line() -> None:
    assert printable("a\tb\u202e") == "a\\tb\\u202e"
    assert printable("c" * 50, 12) == "c" * 11 + "…"


def runs(folder: Path) -> Path:
    path = folder / "runs.jsonl"
    step = {"tool": "search", "args": {"q": "x"}, "obs": "found", "error": None}
    row = {"path_id": "p1", "task_id": "t1", "goal": "find", "success": True, "steps": [step]}
    path.write_text(json.dumps(row) + "\n")
    return path
