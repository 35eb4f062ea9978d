"""``manage.py reindex``: index entries of paths and vectors of texts anew, with this embedder."""

from argparse import ArgumentParser
from typing import Any

from django.core.management import BaseCommand, CommandError
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

from memory.background.embedding import BATCH
from memory.background.reindexing import plan_reindex, reindex
from memory.background.texts import collect_pattern_texts, reindex_texts, waiting_texts
from memory.background.turns import turn
from memory.live.embedders import EMBEDDERS, Embedder, EmbedderError, get_embedder
from memory.models import Workspace


class Command(BaseCommand):
    """Entries that are of this embedder already are left alone, so it may be stopped and started again."""

    help = (
        "Make the index entries of paths and the vectors of rules and error patterns anew, with the embedder "
        "that is set up (HGMEM_EMBEDDER). May be stopped at any time and goes on where it was; agents are "
        "answered meanwhile."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Which paths, with what, how many at a time."""
        parser.add_argument("--workspace", metavar="SLUG", help="only this workspace")
        parser.add_argument("--embedder", choices=EMBEDDERS, help="instead of the one that is set up")
        parser.add_argument("--batch", type=int, default=BATCH, metavar="N", help="paths of one transaction")

    def handle(self, *args: Any, **options: Any) -> None:
        """Raises CommandError for an unknown workspace, a silly batch, an embedder that does not answer."""
        if not 1 <= options["batch"] <= 1_000:
            raise CommandError("--batch must lie between 1 and 1000.")
        home = self._home(options["workspace"])
        try:
            with turn("reindex") as mine:
                if not mine:
                    raise CommandError("Another reindex is running on this machine.")
                self._run(get_embedder(options["embedder"]), home, options["batch"])
        except EmbedderError as error:
            raise CommandError(f"{error} What was done stays; run it again to go on.") from error

    def _home(self, slug: str | None) -> int | None:
        if slug is None:
            return None
        workspace = Workspace.objects.filter(slug=slug).first()
        if workspace is None:
            raise CommandError(f"There is no workspace {slug!r}.")
        return workspace.pk

    def _run(self, embedder: Embedder, home: int | None, batch: int) -> None:
        plan = plan_reindex(embedder, home)
        columns = (
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
            TaskProgressColumn(show_speed=True), TimeRemainingColumn(),
        )  # fmt: skip
        collect_pattern_texts()
        with Progress(*columns, console=Console(stderr=True)) as bars:
            line = bars.add_task(plan.name, total=plan.waiting)
            done = reindex(
                embedder, workspace_id=home, batch=batch, progress=lambda count: bars.advance(line, count)
            )
            line = bars.add_task("texts", total=waiting_texts(embedder.name, home).count())
            texts = reindex_texts(
                embedder, workspace_id=home, progress=lambda count: bars.advance(line, count)
            )
        self.stdout.write(f"{done:,} paths are indexed with {plan.name} now; nothing waits.")
        self.stdout.write(f"{texts:,} texts have new vectors.")
