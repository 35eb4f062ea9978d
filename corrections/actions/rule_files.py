"""Making a workspace's rules what files say: change requests in one batch, all or nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID, uuid4

from django.db import transaction
from django.utils import timezone

from corrections.actions.changes import Wanted, approve_batch, approves_alone, request_changes
from corrections.actions.versions import author_kind, write_version
from corrections.domain.changes import SERVES
from corrections.domain.documents import read_document
from corrections.domain.lifecycle import check_step
from corrections.domain.rule_files import (
    Plan,
    PlannedChange,
    SourceFile,
    describe_moves,
    plan_changes,
    read_rule_files,
)
from corrections.models import ChangeRequest, Rule
from corrections.queries.rule_files import list_kept
from memory.actions import Event, record_events
from memory.domain.access import Actor, check_may
from memory.queries.workspaces import get_workspace


class StalePlan(ValueError):
    """The rules are not what the plan was made from; ``moves`` says what became of them."""

    def __init__(self, moves: list[str]) -> None:
        self.moves = moves
        what = " ".join(moves[:5]) or "The files or the rules are not those of the plan."
        super().__init__(f"The plan no longer holds: look at it again. {what}")


@dataclass(frozen=True)
class Applied:
    """What was done. ``changes`` are the requests of the batch, ``written`` new versions nobody is served."""

    plan: Plan
    batch: UUID | None = None
    changes: list[ChangeRequest] = field(default_factory=list)
    written: list[Rule] = field(default_factory=list)

    @property
    def published(self) -> int:
        """How many are in force."""
        return sum(change.status == "published" for change in self.changes)

    @property
    def waiting(self) -> int:
        """How many wait for an approval."""
        return len(self.changes) - self.published


def plan_rule_files(
    *, workspace_id: int, files: Sequence[SourceFile], by: Actor, prune: bool = False
) -> Plan:
    """What would be done. Writes nothing.

    Raises :class:`NotPermitted`, :class:`corrections.domain.rule_files.RuleFileError` with every fault.
    """
    check_may(by, "draft_rule", within=workspace_id)
    wanted = read_rule_files(files)
    return plan_changes(wanted, list_kept(workspace_id), prune=prune, now=timezone.now())


@transaction.atomic
def apply_rule_files(
    *, workspace_id: int, files: Sequence[SourceFile], digest: str, by: Actor, prune: bool = False,
    base: Mapping[str, str] | None = None, reason: str = "",
) -> Applied:  # fmt: skip
    """Do what the plan of that ``digest`` says: versions and change requests, all or none.

    The actor's own approval counts as the workspace's policy says, for the whole batch. Applying the same
    files again does nothing. ``base`` is :attr:`Plan.base`, to tell what moved since.
    Raises :class:`NotPermitted`, :class:`StalePlan`, :class:`corrections.domain.rule_files.RuleFileError`,
    and what approving raises; then nothing is kept.
    """
    check_may(by, "draft_rule", within=workspace_id)
    wanted = read_rule_files(files)
    locked = Rule.objects.select_for_update().filter(workspace_id=workspace_id).order_by("pk")
    rules = {str(rule.uuid): rule for rule in locked}
    kept = list_kept(workspace_id)
    plan = plan_changes(wanted, kept, prune=prune, now=timezone.now())
    if not plan.work:  # applied before, or by somebody else meanwhile
        return Applied(plan)
    if plan.digest != digest:
        raise StalePlan(describe_moves(base or {}, kept))
    work = _Work(workspace_id, by, reason, rules)
    for change in plan.work:
        work.take(change)
    return work.finish(plan)


class _Work:
    """What is collected while the plan is walked, to be asked for at once."""

    def __init__(self, workspace_id: int, by: Actor, reason: str, rules: Mapping[str, Rule]) -> None:
        self._workspace, self._by, self._reason = get_workspace(workspace_id), by, reason
        self._rules = rules
        self._wanted: list[Wanted] = []
        self._written: list[Rule] = []
        self._events: list[Event] = []

    def take(self, change: PlannedChange) -> None:
        """Write the version, if there is one to write, and note what to ask for."""
        rule = self._rules[change.kept.uuid] if change.kept else None
        if change.writes:
            rule = self._write(change, rule)
        if rule is None:
            raise LookupError(f"Nothing to do for {change.name}.")
        if change.serves or change.verb in ("disable", "retire"):
            self._wanted.append(Wanted(rule, change.verb))
        if change.writes and not change.serves:
            self._written.append(rule)

    def finish(self, plan: Plan) -> Applied:
        """Ask for everything in one batch; approve it where the actor's approval counts for all of it."""
        record_events(by=self._by, events=self._events)
        self._revise_open()
        batch = uuid4() if self._wanted else None
        changes: list[ChangeRequest] = []
        if batch is not None:
            changes = request_changes(wanted=self._wanted, by=self._by, reason=self._reason, batch=batch)
            if all(approves_alone(change, self._by) for change in changes):
                changes = approve_batch(batch=batch, by=self._by, note=self._reason)
        return Applied(plan, batch, changes, self._written)

    def _write(self, change: PlannedChange, rule: Rule | None) -> Rule:
        if change.file is None:
            raise LookupError(f"No file says anything of {change.name}.")
        parsed = read_document(change.file.body, author=author_kind(self._by))
        if rule is not None:
            check_step(rule.status, "edit")
        else:
            now, by = timezone.now(), self._by
            rule = Rule.objects.create(
                workspace=self._workspace, name=change.name[:200], created_at=now, updated_at=now,
                created_by=by.name[:200], created_by_kind=author_kind(by),
            )  # fmt: skip
        version = write_version(rule, parsed, by=self._by, note=self._reason)
        verb = "edit_rule" if version.number > 1 else "draft_rule"
        new = {"version": version.number, "document": version.body}
        self._events.append(
            Event(workspace=self._workspace, verb=verb, subject=rule, new=new, reason=self._reason)
        )
        return rule

    def _revise_open(self) -> None:
        """A request to serve a rule that the files only wrote anew serves the new version, once approved."""
        ids = [rule.pk for rule in self._written]
        rows = ChangeRequest.objects.undecided().filter(rule__in=ids, kind__in=SERVES)
        asked = set(rows.values_list("rule_id", flat=True))
        open_ones = [Wanted(rule, "edit") for rule in self._written if rule.pk in asked]
        if open_ones:
            request_changes(wanted=open_ones, by=self._by, reason=self._reason)
