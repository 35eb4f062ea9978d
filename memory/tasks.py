"""Celery tasks that continue a write: ids or nothing in, one call into ``background``."""

from celery import shared_task

from memory.background import analyse, drafting, paths, reindexing


@shared_task(name="memory.analyse_backlog")
def analyse_backlog() -> None:
    """Look at everything that was recorded lately, and build the paths of what ended."""
    analyse.analyse_backlog()
    paths.build_backlog()
    reindexing.embed_backlog()


@shared_task(name="memory.draft_rewrites")
def draft_rewrites() -> None:
    """Draft the rewrites that somebody asked for."""
    drafting.draft_backlog()
