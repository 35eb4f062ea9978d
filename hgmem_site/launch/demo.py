"""The demo: real runs from files where there are some, else the tools of BFCL, played live."""

import logging
from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from memory.actions.importing import finish_import
from memory.actions.imports import apply_import, plan_import
from memory.actions.record import record_experience
from memory.background.analyse import analyse_backlog
from memory.background.paths import build_backlog, waiting_builds
from memory.models import ImportJob, Task, Workspace
from memory.permissions import system_actor

BY = system_actor("demo")
BATCH = 50
SLICE_S = 0.5
LABELS = ".labels.jsonl.gz"
log = logging.getLogger(__name__)


def demo_files() -> list[Path]:
    """The airline runs and one SQL stream; of an unknown folder its first two streams, the smallest first.

    A stream is a ``NAME.jsonl.gz`` beside its ``NAME.labels.jsonl.gz``. Labels are never read.
    """
    folder = Path(settings.DEMO_DATA) if settings.DEMO_DATA else settings.BASE_DIR.parent / "shared" / "data"
    streams = [
        path
        for path in sorted(folder.glob("*.jsonl.gz"), key=lambda path: path.stat().st_size)
        if path.with_name(path.name.removesuffix(".jsonl.gz") + LABELS).exists()
    ]
    known = [path for name in ("tau_airline", "sql_") for path in streams if path.name.startswith(name)]
    return (known or streams)[:2]


def load_demo(workspace: Workspace) -> str:
    """Record the demo's runs with a progress bar. Returns a sentence about what is there.

    What was loaded before is not loaded again, and what was interrupted goes on where it stopped.
    """
    files = demo_files()
    with progress_bars() as bars:
        for path in files:
            _import_file(workspace, path, _shown(bars, f"Importing {path.name}"))
        if not files:
            _play_bfcl(workspace, _shown(bars, "Playing BFCL's tools"))
        _analyse(workspace, _shown(bars, "Looking for failures"))
        _build_paths(workspace, _shown(bars, "Building paths"))
    if files:
        return f"The demo shows real runs from {', '.join(path.name for path in files)}."
    return "The demo shows BFCL's tools, played with one step left out of each task."


def progress_bars() -> Progress:
    """Progress bars as every command shows them."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns)


def _shown(bars: Progress, title: str) -> Callable[[int, int], None]:
    line = bars.add_task(title, total=None)
    return lambda done, total: bars.update(line, completed=done, total=total)


def _import_file(workspace: Workspace, path: Path, progress: Callable[[int, int], None]) -> None:
    job = ImportJob.objects.filter(workspace=workspace, file_name=path.name, created_by=BY.name).first()
    if job is None:
        with path.open("rb") as file:
            job = plan_import(workspace=workspace, file=file, file_name=path.name, by=BY)
    if job.status == "planned":
        job = apply_import(job=job, by=BY)
    finish_import(job=job, take_over=True, progress=progress)  # no worker runs yet
    progress(job.cursor, job.total)


def _analyse(workspace: Workspace, progress: Callable[[int, int], None]) -> None:
    """What the worker would do, so that the first page that is opened has something to show."""
    tasks = Task.objects.filter(workspace=workspace)
    total = tasks.count()
    while (waiting := tasks.unanalysed().count()) and analyse_backlog(SLICE_S):
        progress(total - waiting, total)
    progress(total - tasks.unanalysed().count(), total)


def _build_paths(workspace: Workspace, progress: Callable[[int, int], None]) -> None:
    """The paths of those tasks, for the same reason."""
    waiting = waiting_builds().filter(task__workspace=workspace)
    total = waiting.count()
    while (left := waiting.count()) and build_backlog(SLICE_S):
        progress(total - left, total)
    progress(total - waiting.count(), total)


def _play_bfcl(workspace: Workspace, progress: Callable[[int, int], None]) -> None:
    # Imported here: its tool classes are wanted only where there are no files.
    from benchmarks.bfcl import load_tasks, play, variants

    plans = list(variants(load_tasks()))
    last = play(plans[-1]).to_document()["external_id"]
    if not Task.objects.filter(workspace=workspace, external_id=last).exists():
        for start in range(0, len(plans), BATCH):
            documents = [play(plan).to_document() for plan in plans[start : start + BATCH]]
            record_experience(workspace_id=workspace.pk, documents=documents, by=BY)
            progress(min(start + BATCH, len(plans)), len(plans))
    progress(len(plans), len(plans))
