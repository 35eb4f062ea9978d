"""The import pages: upload, plan, apply, progress, without JavaScript and with."""

from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse

from memory.actions.importing import carry_on_imports
from memory.actions.imports import apply_import
from memory.models import ImportJob
from tests.conftest import Cast, page_client
from tests.memory.actions.test_imports import runs_file


@pytest.fixture(autouse=True)
def _own_uploads(settings: Any, tmp_path: Path) -> None:
    settings.UPLOAD_DIR = tmp_path / "uploads"


def upload(cast: Cast, content: bytes, name: str = "runs.jsonl") -> HttpResponse:
    """Hand in a file as the maintainer and follow to its page."""
    data = {"file": SimpleUploadedFile(name, content), "format": ""}
    return page_client(cast.maintainer).post("/w/acme/imports/", data, follow=True)


def test_imports__upload_plan_apply__ends_with_the_runs_recorded(cast: Cast) -> None:
    client = page_client(cast.maintainer)
    planned = upload(cast, runs_file(3, broken="{")).content.decode()
    job = ImportJob.objects.get()
    page = f"/w/acme/imports/{job.uuid}/"

    running = client.post(f"{page}apply/", follow=True).content.decode()
    carry_on_imports()
    done = client.get(page).content.decode()

    assert "Nothing is recorded yet" in planned
    assert "Lines that are left out" in planned
    assert 'hx-trigger="every 1s"' in running
    assert "3 created" in done
    assert "hx-trigger" not in done


def test_imports__file_of_no_format__says_so_beside_the_field(cast: Cast) -> None:
    answer = upload(cast, b"just prose")

    assert answer.status_code == 422
    assert "does not tell its format" in answer.content.decode()


def test_import__hostile_names_and_lines__are_shown_as_text(cast: Cast) -> None:
    hostile = '<script>alert(1)</script>{{ 7|add:"7" }}'

    page = upload(cast, runs_file(1, broken=hostile), name="<b>x.jsonl").content.decode()

    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page
    assert "<b>x" not in page


def test_import__asked_by_htmx__answers_the_progress_alone(cast: Cast) -> None:
    upload(cast, runs_file())
    job = ImportJob.objects.get()

    part = page_client(cast.maintainer).get(f"/w/acme/imports/{job.uuid}/", headers={"HX-Request": "true"})

    assert part.content.decode().lstrip().startswith("<section")


def test_import__finished_while_watched__reloads_the_whole_page(cast: Cast) -> None:
    upload(cast, runs_file())
    job = apply_import(job=ImportJob.objects.get(), by=cast.actor("maintainer"))
    client, page = page_client(cast.maintainer), f"/w/acme/imports/{job.uuid}/"

    running = client.get(page, headers={"HX-Request": "true"})
    carry_on_imports()
    done = client.get(page, headers={"HX-Request": "true"})

    assert "HX-Refresh" not in running
    assert done["HX-Refresh"] == "true"


def test_imports__cancel__stops_it(cast: Cast) -> None:
    upload(cast, runs_file())
    job = ImportJob.objects.get()

    page_client(cast.maintainer).post(f"/w/acme/imports/{job.uuid}/cancel/")

    job.refresh_from_db()
    assert job.status == "cancelled"


@pytest.mark.parametrize(("person", "status"), [("viewer", 403), ("reviewer", 403), ("outsider", 404)])
def test_imports__who_may_not__is_kept_out(cast: Cast, person: str, status: int) -> None:
    client = page_client(getattr(cast, person))

    assert client.get("/w/acme/imports/").status_code == status


def test_imports__more_rows__ask_no_more_queries(cast: Cast, django_assert_max_num_queries: Any) -> None:
    for number in range(12):
        upload(cast, runs_file(1), name=f"{number}.jsonl")
    client = page_client(cast.maintainer)
    client.get("/w/acme/imports/")

    with django_assert_max_num_queries(8):
        client.get("/w/acme/imports/")
