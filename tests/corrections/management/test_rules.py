"""``manage.py rules``: exit codes and words that a pipeline can use."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from corrections.models import ChangeRequest, Rule
from tests.conftest import Cast
from tests.corrections.builders import make_rule


def run(*words: str) -> str:
    out = StringIO()
    call_command("rules", *words, "--workspace", "acme", stdout=out)
    return out.getvalue()


@pytest.mark.parametrize("name", ["rules.yaml", "rules.json", "folder/"])
def test_export__then_plan__has_nothing_to_do(cast: Cast, tmp_path: Path, name: str) -> None:
    make_rule(cast.workspace)
    make_rule(cast.workspace, name="second", active=False)
    path = tmp_path / name
    run("export", str(path), *(["--folder"] if name.endswith("/") else []))
    assert run("plan", str(path), "--prune").startswith("Nothing to do (2 keep)")


def test_export__a_renamed_rule__leaves_no_old_file(cast: Cast, tmp_path: Path) -> None:
    rule = make_rule(cast.workspace)
    (tmp_path / "notes.yaml").write_text("mine")
    run("export", str(tmp_path))
    Rule.objects.filter(pk=rule.pk).update(name="another name")
    run("export", str(tmp_path))
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["notes.yaml", f"weather-api--another-name--{str(rule.uuid)[:8]}.yaml"]


def test_plan__changes__exits_with_2_and_shows_them(
    cast: Cast, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_rule(cast.workspace)
    path = tmp_path / "rules.yaml"
    path.write_text(run("export", "-").replace("Shanghai", "Beijing"))
    out = StringIO()
    with pytest.raises(SystemExit) as stopped:
        call_command("rules", "plan", str(path), "--workspace", "acme", stdout=out)
    assert stopped.value.code == 2
    assert "~ edit    Default city" in out.getvalue()
    assert "default_value: Shanghai → Beijing" in out.getvalue()


def test_apply__in_a_persons_name__waits_for_another(cast: Cast, tmp_path: Path) -> None:
    make_rule(cast.workspace)
    path = tmp_path / "rules.yaml"
    path.write_text(run("export", "-").replace("Shanghai", "Beijing"))
    assert "0 in force, 1 wait for an approval" in run(
        "apply", str(path), "--by", "maintainer", "--reason", "why"
    )
    change = ChangeRequest.objects.get(status="open")
    assert (change.requested_by, change.description) == ("maintainer", "why")
    assert "1 wait" in run("apply", str(path), "--by", "maintainer")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        pytest.param(["plan", "nowhere.yaml"], "No such file", id="no file"),
        pytest.param(["plan", "bad.yaml"], "bad.yaml:1: rule 1: A rule is an object", id="faults"),
        pytest.param(["plan", "empty"], "no file of rules here", id="empty folder"),
        pytest.param(["plan", "latin.yaml"], "not UTF-8", id="encoding"),
        pytest.param(["apply", "good.yaml"], "needs --by", id="nobody"),
        pytest.param(["apply", "good.yaml", "--by", "outsider"], "is no member", id="outsider"),
        pytest.param(["apply", "good.yaml", "--by", "viewer"], "at least reviewer", id="viewer"),
    ],
)
def test_command__refused__says_why(
    cast: Cast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], why: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.yaml").write_text("- 5")
    (tmp_path / "good.yaml").write_text("[]")
    (tmp_path / "latin.yaml").write_bytes(b"- \xff")
    (tmp_path / "empty").mkdir()
    with pytest.raises(CommandError, match=why):
        run(*words)


def test_command__unknown_workspace__says_so(db: None) -> None:
    with pytest.raises(CommandError, match="no workspace 'acme'"):
        run("export", "-")
