"""What an approval does: the next version, what else changes with it, and who decided, in one transaction."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from uuid import UUID

from memory.background.storms import watch_lineage
from memory.domain.access import Actor
from memory.domain.lifecycle import PROPOSAL_TRANSITIONS, check_transition
from memory.domain.paths.document import PathDoc, node_key
from memory.domain.rewriting.carrying import NodeChange, carry_along, changed_nodes
from memory.domain.rewriting.policy import safe_policy
from memory.domain.rewriting.proposal import apply, read_rewrite
from memory.events import record_event
from memory.models import Lineage, Path, RewriteProposal
from memory.queries.path_documents import read_path, read_paths
from memory.queries.rewrites import OPEN_STATUSES, same_nodes
from memory.writer.paths import (
    NewPath,
    StaleVersionError,
    active_version,
    add_version,
    change_reward,
    set_status,
)


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
) -> Path:
    """Make the next version; the new version. Call it inside a transaction.

    ``revision`` is the proposal's that was seen, ``carry`` the other paths that get the same change. Raises
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
    after = apply(before, rewrite)
    new = _next_version(lineage, old, after, by=by, now=now)
    if not rewrite.keep_old:
        old.refresh_from_db()
        set_status(old, "retire", now=now)
    penalty = safe_policy(locked.workspace.settings).penalty
    change_reward(old, old.reward - penalty, cause="penalty", now=now, reason=f"Replaced by {new.key}.")
    carried = _carry(others, lineages, changed_nodes(before, after), by=by, now=now)
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


def _next_version(lineage: Lineage, old: Path, doc: PathDoc, *, by: Actor, now: datetime) -> Path:
    try:
        new = NewPath(doc=doc, origin="rewrite", rewrite_count=old.rewrite_count + 1, created_by=by.name)
        return add_version(lineage=lineage, new=new, now=now, base=old)
    except StaleVersionError as error:
        raise StaleRewriteError(f"{error} This proposal rewrites version {old.version}.") from error


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
    rows = Lineage.objects.select_for_update(of=("self",)).select_related("workspace")
    return {row.pk: row for row in rows.filter(pk__in=ids).order_by("pk")}


def _carry(
    others: Sequence[Path],
    lineages: Mapping[int, Lineage],
    changes: Sequence[NodeChange],
    *,
    by: Actor,
    now: datetime,
) -> list[Path]:
    if not others:
        return []
    documents = read_paths(others)
    keys = [change.key for change in changes]
    keys += [node_key(node) for document in documents for node in document.nodes]
    same = same_nodes(others[0].workspace_id, keys)
    made = []
    for path, document in zip(others, documents, strict=True):
        lineage = lineages[path.lineage_id]
        carried = carry_along(document, changes, same)
        active = active_version(lineage)
        if carried is None or active is None or active.pk != path.pk:
            raise UnknownCarryError(f"{path.key} was changed meanwhile, or nothing of it would be left.")
        made.append(_next_version(lineage, path, carried, by=by, now=now))
    return made


def _supersede_others(proposal: RewriteProposal, new: Path, now: datetime) -> None:
    """What else was proposed for this lineage was about a version that is history now."""
    rows = RewriteProposal.objects.filter(lineage=proposal.lineage_id, status__in=OPEN_STATUSES)
    rows = rows.select_for_update().exclude(pk=proposal.pk).order_by("pk")
    for row in rows:
        row.status = check_transition(PROPOSAL_TRANSITIONS, "supersede", row.status)
        row.decided_at, row.decision_reason = now, f"Another rewrite made version {new.version}."
        row.revision += 1
        row.save(update_fields=["status", "decided_at", "decision_reason", "revision"])
