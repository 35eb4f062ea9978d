"""What an approval does: the next version, what else changes with it, and who decided, in one transaction."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from memory.background.storms import watch_lineage
from memory.domain.access import Actor
from memory.domain.lifecycle import PROPOSAL_TRANSITIONS, check_transition
from memory.domain.paths.checking import check_path
from memory.domain.paths.document import PathDoc, node_key
from memory.domain.rewriting.accepting import CHECKED, accept
from memory.domain.rewriting.carrying import NodeChange, carry_along, changed_nodes
from memory.domain.rewriting.policy import safe_policy
from memory.domain.rewriting.proposal import InvalidRewriteError, read_rewrite
from memory.events import record_event
from memory.live.index import draft_entries
from memory.models import Lineage, Path, RewriteProposal
from memory.queries.path_documents import read_path, read_paths
from memory.queries.rewrites import OPEN_STATUSES, same_nodes
from memory.writer.entries import EntryDraft
from memory.writer.paths import (
    NewPath,
    StaleVersionError,
    add_version,
    change_reward,
    set_status,
)

Entries = Mapping[str, EntryDraft]


class StaleRewriteError(ValueError):
    """Somebody else changed or decided meanwhile; the text says what."""


class UnknownCarryError(ValueError):
    """A path to carry along that the rewrite does not touch, or that is not active any more."""


def approve_locked(
    proposal: RewriteProposal,
    *,
    by: Actor,
    now: datetime,
    revision: int | None = None,
    carry: Collection[UUID] = (),
    reason: str = "",
    entries: Entries | None = None,
) -> Path:
    """Make the next version; the new version. Call it inside a transaction.

    ``revision`` is the proposal's that was seen, ``carry`` the other paths that get the same change,
    ``entries`` what :func:`prepare_entries` made before the transaction. Raises
    :class:`StaleRewriteError`, :class:`UnknownCarryError`, TransitionError, InvalidRewriteError.
    """
    others = _others(proposal, carry)
    lineages = _lock_lineages([proposal.lineage_id, *(path.lineage_id for path in others)])
    locked = lock_proposal(proposal, revision)
    status = check_transition(PROPOSAL_TRANSITIONS, "approve", locked.status)
    lineage, old = lineages[locked.lineage_id], locked.path
    document = locked.edited or locked.proposal or {}
    rewrite = read_rewrite(document)
    before = read_path(old)
    after = accept(before, rewrite)
    step = _Step(by, now, entries or {})
    new = step.next_version(lineage, old, after)
    if not rewrite.keep_old:
        old.refresh_from_db()
        set_status(old, "retire", now=now)
    penalty = safe_policy(locked.workspace.settings).penalty
    change_reward(old, old.reward - penalty, cause="penalty", now=now, reason=f"Replaced by {new.key}.")
    carried = _carry(step, others, lineages, changed_nodes(before, after))
    lineage.fruitless_rewrites += 1
    lineage.save(update_fields=["fruitless_rewrites"])
    _supersede_others(locked, new, now)
    decide(locked, status, by=by, reason=reason, now=now, new_path=new)
    record_event(
        by=by, workspace=locked.workspace, verb="approve_rewrite", subject=locked,
        old={"path": old.key, "version": old.version},
        new={"path": new.key, "version": new.version, "carried": [path.key for path in carried]},
        reason=reason,
    )  # fmt: skip
    watch_lineage(lineage, now=now)
    return new


def prepare_entries(
    proposal: RewriteProposal, carry: Collection[UUID] = (), document: Mapping[str, Any] | None = None
) -> Entries:
    """The index entries of what an approval would make. A model may be asked: never inside a transaction.

    Nothing is raised: what cannot be applied is refused by the approval itself.
    """
    try:
        rewrite = read_rewrite(document or proposal.edited or proposal.proposal or {})
        before = read_path(proposal.path)
        after = accept(before, rewrite)
        others = _others(proposal, carry)
    except (InvalidRewriteError, UnknownCarryError):
        return {}
    carried = [doc for _, doc in _carried(others, changed_nodes(before, after)) if doc is not None]
    return draft_entries([after, *carried])


def lock_proposal(proposal: RewriteProposal, revision: int | None = None) -> RewriteProposal:
    """The proposal, locked, at the revision that was seen. Raises :class:`StaleRewriteError`.

    Whoever also locks its lineage does that first.
    """
    rows = RewriteProposal.objects.select_for_update(of=("self",)).select_related("workspace", "path")
    locked = rows.get(pk=proposal.pk)
    if revision is not None and locked.revision != revision:
        said = f"Somebody else changed this proposal meanwhile: it is {locked.status}"
        if locked.decided_by:
            said += f", decided by {locked.decided_by}"
        raise StaleRewriteError(f"{said} (revision {locked.revision}, you have seen {revision}).")
    return locked


def decide(
    proposal: RewriteProposal,
    status: str,
    *,
    by: Actor,
    reason: str,
    now: datetime,
    new_path: Path | None = None,
) -> None:
    """Write down who decided what. The proposal is locked."""
    proposal.status, proposal.new_path = status, new_path
    proposal.decided_by, proposal.decided_at, proposal.decision_reason = by.name[:200], now, reason
    proposal.revision += 1
    proposal.save(
        update_fields=["status", "new_path", "decided_by", "decided_at", "decision_reason", "revision"]
    )


def _others(proposal: RewriteProposal, carry: Collection[UUID]) -> list[Path]:
    """The paths to carry along. Only what the proposal says it touches, and only what is active still."""
    wanted = {str(uuid) for uuid in carry}
    offered = {path["uuid"] for node in proposal.touched for path in node["paths"]}
    rows = Path.objects.active().filter(workspace=proposal.workspace_id, uuid__in=wanted & offered)
    found = list(rows.select_related("lineage").order_by("pk"))
    missing = sorted(wanted - {str(path.uuid) for path in found})
    if missing:
        raise UnknownCarryError(f"Not touched by this rewrite, or not active any more: {', '.join(missing)}.")
    return found


def _lock_lineages(ids: Sequence[int]) -> dict[int, Lineage]:
    """In one order for everybody."""
    rows = Lineage.objects.select_for_update(of=("self",), no_key=True).select_related("workspace")
    return {row.pk: row for row in rows.filter(pk__in=ids).order_by("pk")}


def _carry(
    step: "_Step", others: Sequence[Path], lineages: Mapping[int, Lineage], changes: Sequence[NodeChange]
) -> list[Path]:
    """The same change in other paths, each a new version of its own."""
    made = []
    for path, carried in _carried(others, changes):
        if carried is None:
            raise UnknownCarryError(f"{path.key}: nothing would be left of it, or it would fall apart.")
        made.append(step.next_version(lineages[path.lineage_id], path, carried))
    return made


def _carried(others: Sequence[Path], changes: Sequence[NodeChange]) -> Iterator[tuple[Path, PathDoc | None]]:
    """Each path with what would become of it; None where that is no path."""
    documents = read_paths(others)
    keys = [change.key for change in changes]
    keys += [node_key(node) for document in documents for node in document.nodes]
    same = same_nodes(others[0].workspace_id, keys) if others else {}
    for path, document in zip(others, documents, strict=True):
        carried = carry_along(document, changes, same)
        is_whole = carried is not None and not any(
            error.field.startswith(CHECKED) for error in check_path(carried)
        )
        yield path, carried if is_whole else None


@dataclass(frozen=True)
class _Step:
    """Who makes new versions, when, and their index entries."""

    by: Actor
    now: datetime
    entries: Entries

    def next_version(self, lineage: Lineage, old: Path, doc: PathDoc) -> Path:
        """Raises :class:`StaleRewriteError` where ``old`` is not active any more."""
        new = NewPath(
            doc=doc,
            origin="rewrite",
            source_id=old.source_id,
            rewrite_count=old.rewrite_count + 1,
            created_by=self.by.name,
            drafts=self.entries,
        )
        try:
            return add_version(lineage=lineage, new=new, now=self.now, base=old)
        except StaleVersionError as error:
            raise StaleRewriteError(f"{error} This proposal is about {old.key}.") from error


def _supersede_others(proposal: RewriteProposal, new: Path, now: datetime) -> None:
    """What else was proposed for this lineage was about a version that is history now."""
    rows = RewriteProposal.objects.filter(lineage=proposal.lineage_id, status__in=OPEN_STATUSES)
    rows = rows.select_for_update().exclude(pk=proposal.pk).order_by("pk")
    for row in rows:
        row.status = check_transition(PROPOSAL_TRANSITIONS, "supersede", row.status)
        row.decided_at, row.decision_reason = now, f"Another rewrite made version {new.version}."
        row.revision += 1
        row.save(update_fields=["status", "decided_at", "decision_reason", "revision"])
