"""What a reviewer needs beside a proposal: both paths, whether it is stale, the failure, what comes next."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count

from memory.domain.paths.document import PathDoc
from memory.domain.rewriting.proposal import InvalidRewriteError, Rewrite, apply, read_rewrite
from memory.models import Alert, Path, RewriteProposal, Workspace
from memory.queries.path_documents import read_path
from memory.queries.rewrites import OPEN_STATUSES, WAITING_STATUSES, rewrite_rows

MAX_CHOSEN = 50
"""So many proposals may be decided together."""


@dataclass(frozen=True)
class Standing:
    """Where a proposal stands: the version that it rewrites, and the one that is active now (or none)."""

    base: Path
    active: Path | None

    @property
    def is_stale(self) -> bool:
        """Whether another version is active, so that this proposal cannot be approved."""
        return self.active is None or self.active.pk != self.base.pk


@dataclass(frozen=True)
class Review:
    """A proposal with both paths. ``new`` is None where nothing is proposed yet or it cannot be applied;
    ``problem`` then says why, if there is a document.
    """

    proposal: RewriteProposal
    old: PathDoc
    new: PathDoc | None
    rewrite: Rewrite | None
    problem: str
    standing: Standing
    storm: Alert | None


def find_rewrite(workspace_id: int, uuid: UUID) -> RewriteProposal | None:
    """The proposal with what it is about, or None for an unknown or foreign one."""
    rows = rewrite_rows(workspace_id).select_related(
        "path__source", "failure__call", "failure__pattern", "failure__task", "lineage__workspace"
    )
    return rows.filter(uuid=uuid).first()


def review_of(proposal: RewriteProposal) -> Review:
    """Everything to decide by. A flat number of queries."""
    old = read_path(proposal.path)
    rewrite, new, problem = applied(old, proposal.edited or proposal.proposal)
    active = proposal.lineage.versions.filter(status="active", span_start=None).first()
    alerts = Alert.objects.filter(lineage=proposal.lineage, closed_at=None)
    return Review(proposal, old, new, rewrite, problem, Standing(proposal.path, active), alerts.first())


def applied(old: PathDoc, document: object) -> tuple[Rewrite | None, PathDoc | None, str]:
    """What a document makes of the path, or the sentence that says why it cannot."""
    if not isinstance(document, dict):
        return None, None, ""
    try:
        rewrite = read_rewrite(document)
        return rewrite, apply(old, rewrite), ""
    except InvalidRewriteError as error:
        return None, None, str(error)


def count_waiting(workspace: Workspace) -> dict[str, int]:
    """How many proposals wait in each status that is still open; all of these, with 0 where none does."""
    rows = RewriteProposal.objects.filter(workspace=workspace, status__in=OPEN_STATUSES)
    counted = dict(rows.order_by().values_list("status").annotate(n=Count("pk")))
    return {status: counted.get(status, 0) for status in ("proposed", "needs_human", "queued", "given_up")}


def next_to_decide(proposal: RewriteProposal) -> RewriteProposal | None:
    """The next older one that waits for a person, or the newest of all; None when the queue is empty."""
    waiting = RewriteProposal.objects.filter(
        workspace=proposal.workspace_id, status__in=WAITING_STATUSES
    ).exclude(pk=proposal.pk)
    older = waiting.filter(pk__lt=proposal.pk).order_by("-pk").first()
    return older or waiting.order_by("-pk").first()


def previous_to_decide(proposal: RewriteProposal) -> RewriteProposal | None:
    """The next newer one that waits for a person."""
    waiting = RewriteProposal.objects.filter(workspace=proposal.workspace_id, status__in=WAITING_STATUSES)
    return waiting.filter(pk__gt=proposal.pk).order_by("pk").first()


def chosen_rewrites(workspace_id: int, uuids: Iterable[UUID]) -> list[RewriteProposal]:
    """The proposals that there are, newest first; at most ``MAX_CHOSEN``."""
    rows = rewrite_rows(workspace_id).defer("transcript").filter(uuid__in=list(uuids)[:MAX_CHOSEN])
    return list(rows.order_by("-pk"))
