"""The first start creates somebody who may sign in and a key; the second changes nothing."""

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import authenticate
from django.utils import timezone

from hgmem_site.launch.demo import demo_files, load_demo
from hgmem_site.launch.first_run import welcome
from memory.actions.accounts import revoke_key
from memory.models import ApiKey, ErrorPattern, Member, Task, User, Workspace
from memory.permissions import SYSTEM
from tests.conftest import make_user
from tests.memory.actions.test_imports import runs_file


@pytest.fixture(autouse=True)
def _own_folder(settings: Any, tmp_path: Path) -> None:
    settings.VAR_DIR = tmp_path
    settings.UPLOAD_DIR = tmp_path / "uploads"


def test_welcome__empty_installation__creates_an_owner_and_a_key_that_work(db: None) -> None:
    greeting = welcome()

    admin = authenticate(request=None, username="admin", password=greeting.password)
    assert admin is not None
    assert Member.objects.get(user=admin).role == "owner"
    assert ApiKey.objects.usable(timezone.now()).count() == 1
    assert greeting.key.startswith("hgm_")


def test_welcome__second_start__shows_the_key_and_no_password(db: None) -> None:
    first, second = welcome(), welcome()

    assert (second.password, second.key) == ("", first.key)
    assert ApiKey.objects.count() == 1


def test_welcome__key_revoked__shows_none_and_makes_none(db: None) -> None:
    welcome()
    revoke_key(key=ApiKey.objects.get(), by=SYSTEM)

    assert welcome().key == ""
    assert ApiKey.objects.count() == 1


def test_welcome__installation_in_use__adds_nothing(db: None) -> None:
    make_user("somebody")
    Workspace.objects.create(slug="ours", name="Ours")

    greeting = welcome()

    assert (greeting.workspace, greeting.password, greeting.key) == (None, "", "")
    assert User.objects.count() == 1


def test_load_demo__folder_with_streams__imports_them_once_and_analyses(
    db: None, settings: Any, tmp_path: Path
) -> None:
    settings.DEMO_DATA = str(tmp_path)
    (tmp_path / "night.jsonl.gz").write_bytes(runs_file(3))
    (tmp_path / "night.labels.jsonl.gz").write_bytes(b"never read")
    (tmp_path / "other.jsonl.gz").write_bytes(b"no labels beside it")
    workspace = welcome().workspace

    said = [load_demo(workspace) for _ in range(2)]

    assert [path.name for path in demo_files()] == ["night.jsonl.gz"]
    assert said[0] == said[1]
    assert "night.jsonl.gz" in said[0]
    assert Task.objects.count() == 3
    assert not Task.objects.unanalysed().exists()
    assert ErrorPattern.objects.exists()


def test_load_demo__no_streams__plays_real_failures(db: None, settings: Any, tmp_path: Path) -> None:
    settings.DEMO_DATA = str(tmp_path / "nowhere")

    said = load_demo(welcome().workspace)

    assert "BFCL" in said
    assert Task.objects.count() > 1000
    assert ErrorPattern.objects.count() > 20
