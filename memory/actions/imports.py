"""Bring recorded runs in: first a plan, then item by item through ``record_experience``."""

from dataclasses import asdict
from pathlib import PurePath
from typing import Any, BinaryIO

from django.db import transaction

from memory.actions.uploads import UploadTooLarge, drop_upload, keep_upload, upload_head, upload_pieces
from memory.domain.access import Actor, check_may
from memory.domain.importers import FORMATS, ImportPlan, detect_format, read, summarise
from memory.domain.plain_json import storable
from memory.events import record_event
from memory.models import ImportJob, Workspace

__all__ = ["ImportRefused", "UploadTooLarge", "apply_import", "cancel_import", "plan_import"]

STARTABLE = ("planned", "failed", "cancelled")


class ImportRefused(ValueError):
    """The file or the moment is wrong. ``str()`` is the sentence the page, the API and the command show."""


def plan_import(
    *, workspace: Workspace, file: BinaryIO, file_name: str, by: Actor, format_name: str | None = None
) -> ImportJob:
    """Keep the file and say what importing it would do; nothing is recorded yet.

    Without ``format_name`` the format is told from the file's beginning. Raises NotPermitted, UploadTooLarge,
    and ImportRefused for a format that is unknown or a file without anything in it.
    """
    check_may(by, "import_runs", within=workspace.pk)
    name, size = keep_upload(file)
    try:
        chosen = _choose_format(format_name, upload_head(name))
        plan = summarise(read(chosen, upload_pieces(name), source=source_name(file_name)))
        if not plan.documents and not plan.line_error_count:
            raise ImportRefused("There is nothing in this file.")
    except BaseException:
        drop_upload(name)
        raise
    with transaction.atomic():
        job = ImportJob.objects.create(
            workspace=workspace, file_name=_shown_name(file_name), stored_as=name, size_bytes=size,
            format=chosen, plan=plan_document(plan), total=plan.documents + plan.line_error_count,
            created_by=by.name,
        )  # fmt: skip
        new = {"file": job.file_name, "format": chosen, "runs": plan.runs, "calls": plan.calls}
        record_event(by=by, workspace=workspace, verb="plan_import", subject=job, new=new)
    return job


@transaction.atomic
def apply_import(*, job: ImportJob, by: Actor) -> ImportJob:
    """Let the worker import it, from where it was left. Raises NotPermitted, ImportRefused."""
    check_may(by, "import_runs", within=job.workspace_id)
    changed = ImportJob.objects.filter(pk=job.pk, status__in=STARTABLE).update(status="running", beat_at=None)
    if not changed:
        job.refresh_from_db()
        raise ImportRefused(f"This import is {job.status} already.")
    record_event(by=by, workspace=job.workspace, verb="apply_import", subject=job)
    job.refresh_from_db()
    return job


@transaction.atomic
def cancel_import(*, job: ImportJob, by: Actor) -> ImportJob:
    """Stop it after the batch in hand; what is recorded stays. Raises NotPermitted, ImportRefused."""
    check_may(by, "import_runs", within=job.workspace_id)
    changed = ImportJob.objects.filter(pk=job.pk, status__in=("planned", "running")).update(
        status="cancelled"
    )
    job.refresh_from_db()
    if not changed:
        raise ImportRefused(f"This import is {job.status} already.")
    new = {"items": job.cursor, "of": job.total}
    record_event(by=by, workspace=job.workspace, verb="cancel_import", subject=job, new=new)
    return job


def source_name(file_name: str) -> str:
    """A file's name without its endings: it starts the external ids of runs that do not name themselves."""
    return PurePath(file_name).name.split(".")[0][:80] or "upload"


def _shown_name(file_name: str) -> str:
    printable = "".join(char for char in PurePath(file_name).name if char.isprintable())
    return printable[:200] or "upload"


def plan_document(plan: ImportPlan) -> dict[str, Any]:
    """The plan as JSON values."""
    document = asdict(plan)
    for name in ("first_at", "last_at"):
        document[name] = document[name].isoformat() if document[name] else None
    document["notes"] = [{"line": line, "note": note} for line, note in plan.notes]
    kept: dict[str, Any] = storable(document)
    return kept


def _choose_format(asked: str | None, head: bytes) -> str:
    known = ", ".join(FORMATS)
    if asked:
        if asked not in FORMATS:
            raise ImportRefused(f"There is no format {asked!r}. Known are: {known}.")
        return asked
    found = detect_format(head)
    if found is None:
        raise ImportRefused(f"The beginning of the file does not tell its format. Name one of: {known}.")
    return found
