"""``manage.py recount_insights``: count every finished task again."""

from argparse import ArgumentParser
from typing import Any

from django.core.management import BaseCommand, CommandError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from memory.background.insights.recounting import count_all, count_waiting, want_all
from memory.background.turns import turn
from memory.models import Workspace


class Command(BaseCommand):
    """What a task added before is exchanged, so the pages are right at any moment of it."""

    help = (
        "Count the insights of every finished task again, after a counter was added. May be stopped at any "
        "time: the worker goes on with what is left, or --go-on does."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Which workspace, and whether only what still waits."""
        parser.add_argument("--workspace", metavar="SLUG", help="only this workspace")
        parser.add_argument(
            "--go-on", action="store_true", help="only what still waits, after a run that was stopped"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Raises CommandError for an unknown workspace and while another process counts on this machine."""
        rows = Workspace.objects.order_by("pk")
        if options["workspace"]:
            rows = rows.filter(slug=options["workspace"])
            if not rows.exists():
                raise CommandError(f"There is no workspace {options['workspace']!r}.")
        console = Console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        total = 0
        with turn("insights") as mine, Progress(*columns, console=console) as bars:
            if not mine:
                raise CommandError("The worker is counting just now; try again in a moment.")
            for row in rows:
                waiting = count_waiting(row.pk) if options["go_on"] else want_all(row.pk)
                line = bars.add_task(row.slug, total=waiting)
                total += count_all(row.pk, lambda done, line=line: bars.advance(line, done))  # type: ignore[misc]
        self.stdout.write(f"{total:,} tasks were counted.")
