"""Imports: a plan first, then every item once, whatever is killed or cancelled on the way."""

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest

from memory.actions import importing
from memory.actions.importing import batches, carry_on_import, carry_on_imports, drop_stale_uploads
from memory.actions.imports import ImportRefused, apply_import, cancel_import, plan_import
from memory.actions.uploads import UploadTooLarge, drop_upload, upload_path
from memory.domain.access import NotPermitted
from memory.domain.importers import Imported
from memory.models import AuditEvent, ImportJob, Task, ToolCall
from tests.conftest import Cast


def run_line(number: int, calls: int = 2) -> dict[str, Any]:
    """One run in the JSONL format, with one failing call."""
    steps = [
        {"tool": "book", "args": {"seat": seat}, "obs": "ok", "error": seat == 0} for seat in range(calls)
    ]
    return {
        "path_id": f"run-{number}", "source": "test", "run": "r", "model": "m", "domain": "air",
        "task_id": number, "attempt": 0, "goal": "Book a seat", "success": False, "reward": 0.0,
        "order": number, "gold": [], "steps": steps,
    }  # fmt: skip


def runs_file(count: int = 3, broken: str = "") -> bytes:
    """A file of runs, with a broken line at its end when asked."""
    lines = [json.dumps(run_line(number)) for number in range(count)]
    return ("\n".join([*lines, broken] if broken else lines) + "\n").encode()


def plan(cast: Cast, content: bytes, name: str = "runs.jsonl", **options: Any) -> ImportJob:
    """Plan it as the maintainer."""
    return plan_import(
        workspace=cast.workspace,
        file=io.BytesIO(content),
        file_name=name,
        by=cast.actor("maintainer"),
        **options,
    )


@pytest.fixture(autouse=True)
def _own_uploads(settings: Any, tmp_path: Path) -> None:
    settings.UPLOAD_DIR = tmp_path / "uploads"


def test_plan_import__good_and_broken_lines__says_what_it_would_do_and_records_nothing(cast: Cast) -> None:
    job = plan(cast, runs_file(3, broken='{"path_id": '))

    assert (job.format, job.status, job.total) == ("runs", "planned", 4)
    assert (job.plan["runs"], job.plan["calls"], job.plan["errors"]) == (3, 6, 3)
    assert job.plan["line_errors"][0]["line"] == 4
    assert not Task.objects.exists()
    assert AuditEvent.objects.get(verb="plan_import").new["runs"] == 3


@pytest.mark.parametrize(
    ("content", "options", "said"),
    [
        pytest.param(b"", {}, "does not tell its format", id="empty"),
        pytest.param(b"\n\n", {"format_name": "runs"}, "nothing in this file", id="blank-lines"),
        pytest.param(b"hello", {}, "does not tell its format", id="prose"),
        pytest.param(runs_file(1), {"format_name": "yaml"}, "There is no format 'yaml'", id="unknown-format"),
    ],
)
def test_plan_import__file_without_runs__is_refused_and_not_kept(
    cast: Cast, settings: Any, content: bytes, options: dict[str, str], said: str
) -> None:
    with pytest.raises(ImportRefused, match=said):
        plan(cast, content, **options)

    assert not ImportJob.objects.exists()
    assert not list(Path(settings.UPLOAD_DIR).iterdir())


def test_plan_import__larger_than_allowed__is_refused_and_not_kept(cast: Cast, settings: Any) -> None:
    settings.MAX_UPLOAD_BYTES = 1000

    with pytest.raises(UploadTooLarge, match="1,000 bytes"):
        plan(cast, runs_file(20))

    assert not list(Path(settings.UPLOAD_DIR).iterdir())


def test_plan_import__archive_that_unpacks_without_end__is_refused(cast: Cast, settings: Any) -> None:
    settings.MAX_UPLOAD_BYTES = 20_000
    bomb = gzip.compress(runs_file(1) + b" " * 5_000_000)

    with pytest.raises(UploadTooLarge, match="unpacks to more"):
        plan(cast, bomb, name="runs.jsonl.gz")


def test_plan_import__hostile_file_name__never_reaches_the_file_system(cast: Cast, settings: Any) -> None:
    job = plan(cast, runs_file(), name="../../etc/passwd")

    assert job.file_name == "passwd"
    assert upload_path(job.stored_as).parent == Path(settings.UPLOAD_DIR)
    assert "passwd" not in job.stored_as


def test_plan_import__viewer__is_refused(cast: Cast) -> None:
    with pytest.raises(NotPermitted, match="maintainer"):
        plan_import(workspace=cast.workspace, file=io.BytesIO(), file_name="x", by=cast.actor("viewer"))


def test_plan_import__member_of_another_workspace__is_refused(cast: Cast) -> None:
    with pytest.raises(NotPermitted, match="another workspace"):
        plan_import(workspace=cast.elsewhere, file=io.BytesIO(), file_name="x", by=cast.actor("owner"))


def test_carry_on_import__applied__records_every_run_and_drops_the_file(cast: Cast) -> None:
    job = apply_import(job=plan(cast, runs_file(3, broken="{")), by=cast.actor("maintainer"))

    finished = carry_on_import(job)

    assert finished
    assert (job.status, job.cursor, job.total) == ("done", 4, 4)
    assert job.result == {"created": 3, "calls_added": 6, "unread": 1}
    assert job.problems[0]["line"] == 4
    assert set(Task.objects.values_list("external_id", flat=True)) == {"run-0", "run-1", "run-2"}
    assert not upload_path(job.stored_as).exists()


def test_carry_on_import__not_applied__does_nothing(cast: Cast) -> None:
    job = plan(cast, runs_file())

    carry_on_import(job)

    assert (job.status, job.cursor) == ("planned", 0)


def test_carry_on_import__same_file_again__changes_nothing(cast: Cast) -> None:
    for _ in range(2):
        job = apply_import(job=plan(cast, runs_file()), by=cast.actor("maintainer"))
        carry_on_import(job)

    assert job.result == {"unchanged": 3, "calls_added": 0}
    assert ToolCall.objects.count() == 6


def test_carry_on_import__killed_before_the_cursor_moved__goes_on_without_doubles(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "BATCH_ITEMS", 1)
    job = apply_import(job=plan(cast, runs_file(4)), by=cast.actor("maintainer"))
    moved = importing._move_cursor
    monkeypatch.setattr(importing, "_move_cursor", kill_at(2, moved))
    with pytest.raises(KeyboardInterrupt):
        carry_on_import(job)
    monkeypatch.setattr(importing, "_move_cursor", moved)
    ImportJob.objects.update(beat_at=None)  # the lease of the dead worker ran out

    carry_on_imports()

    job.refresh_from_db()
    assert (job.status, job.cursor) == ("done", 4)
    assert job.result == {"created": 3, "unchanged": 1, "calls_added": 6}
    assert ToolCall.objects.count() == 8


def kill_at(turn: int, real: Any) -> Any:
    """The real thing, until the turn where the process dies."""
    turns = iter(range(1, 1000))

    def move(*args: Any) -> bool:
        if next(turns) == turn:
            raise KeyboardInterrupt
        return real(*args)

    return move


def test_carry_on_import__another_worker_is_at_it__leaves_it_alone(cast: Cast) -> None:
    job = apply_import(job=plan(cast, runs_file()), by=cast.actor("maintainer"))
    assert importing._claim(job)

    finished = carry_on_import(ImportJob.objects.get(pk=job.pk))

    assert not finished
    assert not Task.objects.exists()


def test_carry_on_import__no_time_left__hands_over_and_goes_on_next_time(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "BATCH_ITEMS", 1)
    job = apply_import(job=plan(cast, runs_file(3)), by=cast.actor("maintainer"))

    slices = 0
    while not carry_on_import(job, budget_s=0):
        slices += 1

    assert slices == 3
    assert (job.status, Task.objects.count()) == ("done", 3)


def test_cancel_import__running__stops_after_the_batch_and_can_go_on(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "BATCH_ITEMS", 1)
    by = cast.actor("maintainer")
    job = apply_import(job=plan(cast, runs_file(3)), by=by)

    def cancel(done: int, total: int) -> None:
        if done == 1:
            cancel_import(job=ImportJob.objects.get(pk=job.pk), by=by)

    assert carry_on_import(job, progress=cancel)
    assert (job.status, job.cursor) == ("cancelled", 2)
    carry_on_import(apply_import(job=job, by=by))
    assert Task.objects.count() == 3


def test_apply_import__done_already__is_refused_with_its_state(cast: Cast) -> None:
    job = apply_import(job=plan(cast, runs_file()), by=cast.actor("maintainer"))
    carry_on_import(job)

    with pytest.raises(ImportRefused, match="done already"):
        apply_import(job=job, by=cast.actor("maintainer"))


def test_carry_on_import__file_is_gone__fails_with_the_reason(cast: Cast) -> None:
    job = apply_import(job=plan(cast, runs_file()), by=cast.actor("maintainer"))
    upload_path(job.stored_as).unlink()

    carry_on_import(job)

    assert job.status == "failed"
    assert "gone" in job.result["reason"]


def test_drop_stale_uploads__old_plan__loses_its_file_a_fresh_one_does_not(cast: Cast) -> None:
    old, fresh = plan(cast, runs_file(1)), plan(cast, runs_file(2))
    path = upload_path(old.stored_as)
    ImportJob.objects.filter(pk=old.pk).update(created_at="2020-01-01T00:00:00Z")

    dropped = drop_stale_uploads()

    assert dropped == 1
    assert not path.exists()
    assert upload_path(fresh.stored_as).exists()


def test_drop_stale_uploads__applied_meanwhile__keeps_the_file(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    late, first = plan(cast, runs_file(1)), plan(cast, runs_file(2))
    ImportJob.objects.update(created_at="2020-01-01T00:00:00Z")

    def drop_and_somebody_applies_the_other(name: str) -> None:
        drop_upload(name)
        apply_import(job=late, by=cast.actor("maintainer"))

    monkeypatch.setattr(importing, "drop_upload", drop_and_somebody_applies_the_other)

    assert drop_stale_uploads() == 1
    assert upload_path(late.stored_as).exists()
    assert not upload_path(first.stored_as).exists()


@pytest.mark.parametrize(
    ("calls", "sizes"),
    [
        pytest.param([1] * 120, [50, 50, 20], id="by-items"),
        pytest.param([300, 300, 100], [1, 2], id="by-calls"),
        pytest.param([900, 1], [1, 1], id="one-over-the-limit-goes-alone"),
        pytest.param([], [], id="none"),
    ],
)
def test_batches__runs_of_many_sizes__stay_within_limits(calls: list[int], sizes: list[int]) -> None:
    items = [Imported(1, {"calls": [{}] * count}) for count in calls]

    assert [len(batch.items) for batch in batches(iter(items))] == sizes
