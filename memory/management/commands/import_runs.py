"""``manage.py import_runs``: bring recorded runs in from files, like the page and the API do."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from memory.actions.importing import finish_import
from memory.actions.imports import ImportRefused, UploadTooLarge, apply_import, plan_import
from memory.actions.uploads import drop_upload
from memory.domain.importers import FORMATS
from memory.models import ImportJob, Workspace
from memory.permissions import system_actor

SHOWN = 20


class Command(BaseCommand):
    """Plan each file, and apply the plan unless told otherwise."""

    help = (
        "Import recorded runs. A broken line is reported and does not stop the rest; twice changes nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Files, the workspace, and what to do with them."""
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
        parser.add_argument("--workspace", required=True, metavar="SLUG")
        parser.add_argument("--format", choices=FORMATS, help="told from the file otherwise")
        parser.add_argument("--plan", action="store_true", help="only show what importing would do")
        parser.add_argument("--json", action="store_true", help="print one JSON document for each file")

    def handle(self, *args: Any, **options: Any) -> None:
        """Raises CommandError for a file or workspace that is not there, and when items were refused."""
        workspace = Workspace.objects.filter(slug=options["workspace"]).first()
        if workspace is None:
            raise CommandError(f"There is no workspace {options['workspace']!r}.")
        refused = 0
        for path in options["files"]:
            job = self._plan(workspace, path, options["format"])
            if options["plan"]:
                drop_upload(job.stored_as)
                job.delete()
            else:
                self._apply(job, quiet=options["json"])
            self._report(job, as_json=options["json"], applied=not options["plan"])
            refused += sum(job.result.get(name, 0) for name in ("conflict", "invalid"))
        if refused:
            raise CommandError(f"{refused} runs were not recorded; the reasons are above.")

    def _plan(self, workspace: Workspace, path: Path, format_name: str | None) -> ImportJob:
        try:
            with path.open("rb") as file:
                return plan_import(
                    workspace=workspace, file=file, file_name=path.name, format_name=format_name,
                    by=system_actor("import_runs"),
                )  # fmt: skip
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}") from error
        except (ImportRefused, UploadTooLarge) as refusal:
            raise CommandError(f"{path}: {refusal}") from refusal

    def _apply(self, job: ImportJob, *, quiet: bool) -> None:
        apply_import(job=job, by=system_actor("import_runs"))
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, disable=quiet) as bars:
            line = bars.add_task(job.file_name, total=job.total)
            finish_import(job=job, progress=lambda done, total: bars.update(line, completed=done))

    def _report(self, job: ImportJob, *, as_json: bool, applied: bool) -> None:
        if as_json:
            names = ("file_name", "format", "status", "plan", "result", "problems")
            self.stdout.write(json.dumps({name: getattr(job, name) for name in names}))
            return
        Console().print(plan_table(job))
        for error in job.plan["line_errors"][:SHOWN]:
            self.stdout.write(f"  line {error['line']}: {error['reason']}: {error['excerpt']}")
        if applied:
            said = ", ".join(
                f"{count} {name.replace('_', ' ')}" for name, count in sorted(job.result.items())
            )
            self.stdout.write(f"  {job.status}: {said}")
            for problem in job.problems[:SHOWN]:
                self.stdout.write(f"  line {problem['line']}: {problem['reason']}")


def plan_table(job: ImportJob) -> Table:
    """What is in the file, for a terminal."""
    plan = job.plan
    title = (
        f"{job.file_name} ({job.format}): runs {plan['runs']:,}, calls {plan['calls']:,}, "
        f"reported as failed {plan['errors']:,}"
    )
    table = Table("tool", "calls", "errors", title=title)
    for tool in plan["tools"][:SHOWN]:
        table.add_row(tool["tool"], f"{tool['calls']:,}", f"{tool['errors']:,}")
    return table
