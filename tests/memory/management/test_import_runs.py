"""``manage.py import_runs``."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from memory.models import ImportJob, Task
from tests.conftest import Cast
from tests.memory.actions.test_imports import runs_file


@pytest.fixture(autouse=True)
def _own_uploads(settings: Any, tmp_path: Path) -> None:
    settings.UPLOAD_DIR = tmp_path / "uploads"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Three runs and a broken line."""
    path = tmp_path / "night.jsonl"
    path.write_bytes(runs_file(3, broken='{"path_id"'))
    return path


def run(*arguments: object) -> str:
    """The command's output."""
    out = StringIO()
    call_command("import_runs", *map(str, arguments), "--workspace", "acme", stdout=out)
    return out.getvalue()


def test_import_runs__file__is_recorded_and_reported(cast: Cast, file: Path) -> None:
    out = run(file)

    assert Task.objects.filter(workspace=cast.workspace).count() == 3
    assert "line 4" in out
    assert "3 created" in out


def test_import_runs__plan_only__records_nothing_and_keeps_nothing(cast: Cast, file: Path) -> None:
    out = json.loads(run(file, "--plan", "--json"))

    assert (out["plan"]["runs"], out["plan"]["line_error_count"]) == (3, 1)
    assert not Task.objects.exists()
    assert not ImportJob.objects.exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(["nowhere.jsonl", "--workspace", "acme"], "No such file", id="no-file"),
        pytest.param([__file__, "--workspace", "acme"], "does not tell its format", id="no-format"),
        pytest.param([__file__, "--workspace", "nobody"], "no workspace 'nobody'", id="no-workspace"),
    ],
)
def test_import_runs__wrong_arguments__end_with_a_sentence(
    cast: Cast, arguments: list[str], said: str
) -> None:
    with pytest.raises(CommandError, match=said):
        call_command("import_runs", *arguments)


def test_import_runs__contradicting_run__fails_and_records_the_rest(cast: Cast, file: Path) -> None:
    run(file)
    changed = json.loads(file.read_text().splitlines()[0])
    changed["goal"] = "Another goal"
    file.write_text(json.dumps(changed) + "\n" + json.dumps(changed | {"path_id": "new"}) + "\n")

    with pytest.raises(CommandError, match="1 runs were not recorded"):
        run(file)

    assert Task.objects.filter(external_id="new").exists()
