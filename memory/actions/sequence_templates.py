"""A winning sequence made a template path, once."""

from collections.abc import Sequence

from django.db import IntegrityError, transaction
from django.utils import timezone

from memory.actions.paths import PathExistsError, accepted, facts_of, newest_under
from memory.domain.access import Actor, check_may
from memory.domain.insights.sequence_paths import template_name, template_of
from memory.domain.paths.checking import write_path_document
from memory.domain.paths.keys import lineage_key
from memory.events import record_event
from memory.live.index import draft_entries
from memory.models import Path, ToolSequence
from memory.writer.paths import NewPath, store_paths


class TemplateExistsError(PathExistsError):
    """The sequence is a template already. ``path`` is its newest version."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.args = (f"This sequence is a template path already: {path.key}.",)


def template_key(sequence: ToolSequence) -> str:
    """The key of the lineage of a sequence's template."""
    return lineage_key("template", template_name(sequence.kind.name, tuple(sequence.tools)))


def template_made(sequence: ToolSequence) -> Path | None:
    """The newest version of the template that was made of a sequence."""
    return newest_under(sequence.workspace_id, template_key(sequence))


def make_sequence_template(*, sequence: ToolSequence, goal: str, tags: Sequence[str] = (), by: Actor) -> Path:
    """A template path with the sequence's tools as its nodes. It is recalled where nothing real is found.

    Raises NotPermitted, InvalidPathError for a goal or tags that no path can have, and
    :class:`TemplateExistsError`.
    """
    check_may(by, "write_path", within=sequence.workspace_id)
    key = template_key(sequence)
    _refuse_second(sequence.workspace_id, key)
    draft = template_of(tuple(sequence.tools), goal=goal.strip(), tags=tuple(dict.fromkeys(tags)))
    doc = accepted(sequence.workspace_id, write_path_document(draft))
    new = NewPath(
        lineage_key=key, doc=doc, origin="template", created_by=by.name, drafts=draft_entries([doc])
    )
    try:
        with transaction.atomic():
            path = store_paths(sequence.workspace_id, [new], now=timezone.now())[0]
            record_event(
                by=by, workspace=sequence.workspace, verb="make_template", subject=path,
                new=facts_of(path) | {"sequence": list(sequence.tools), "kind": sequence.kind.name},
            )  # fmt: skip
    except IntegrityError:  # somebody made it in this moment
        _refuse_second(sequence.workspace_id, key)
        raise
    return path


def _refuse_second(workspace_id: int, key: str) -> None:
    made = newest_under(workspace_id, key)
    if made is not None:
        raise TemplateExistsError(made)
