"""``record_experience``: the one call behind the API, the importer, the page and the demo.

Experience is evidence, not a governed change: it writes no audit rows. Every row says when it was received,
every outcome who said so.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Literal
from uuid import UUID

import msgspec
from django.db import transaction
from django.utils import timezone

from memory.background.bell import ring
from memory.domain.access import Actor, NotPermitted, check_may
from memory.domain.experience import ExperienceDoc
from memory.domain.intake import DocumentError, FieldError, read_document
from memory.writer.gate import GATE, Job
from memory.writer.merging import Written
from memory.writer.prepare import Prepared, prepare
from memory.writer.redactors import scrub_for


class ItemResult(msgspec.Struct, frozen=True):
    """What became of one document of the batch, in the batch's order.

    ``uuid`` is null for an invalid one; ``errors`` name the fields of an invalid or conflicting one.
    """

    index: int
    external_id: str
    status: Literal["created", "updated", "unchanged", "conflict", "invalid"]
    uuid: UUID | None = None
    calls_added: int = 0
    errors: tuple[FieldError, ...] = ()


Document = ExperienceDoc | DocumentError | Mapping[str, Any]


def record_experience(*, workspace_id: int, documents: Iterable[Document], by: Actor) -> list[ItemResult]:
    """Validate, redact, merge and commit; then wake the worker. One result for each document.

    A bad document never spoils the others, and what is stored is committed when this returns (or with the
    caller's own transaction). Raises NotPermitted; database errors are the caller's to translate.
    """
    check_may(by, "record_experience", within=workspace_id)
    scrub = scrub_for(workspace_id)
    prepared: dict[int, Prepared] = {}
    results: dict[int, ItemResult] = {}
    for index, document in enumerate(documents):
        doc = document if isinstance(document, ExperienceDoc | DocumentError) else read_document(document)
        doc = _refuse_borrowed_voice(index, doc, by)
        item = doc if isinstance(doc, DocumentError) else prepare(index, doc, scrub)
        if isinstance(item, DocumentError):
            results[index] = ItemResult(index, item.external_id, "invalid", errors=item.errors)
        else:
            prepared[index] = item
    results |= _store(workspace_id, prepared, by)
    return [results[index] for index in sorted(results)]


def _refuse_borrowed_voice(
    index: int, doc: ExperienceDoc | DocumentError, by: Actor
) -> ExperienceDoc | DocumentError:
    """An agent must not be able to outrank its evaluators by calling itself human."""
    if isinstance(doc, DocumentError) or doc.outcome is None or doc.outcome.by != "human":
        return doc
    try:
        check_may(by, "speak_for_people")
    except NotPermitted as refusal:
        return DocumentError(index, doc.external_id, (FieldError("outcome.by", str(refusal)),))
    return doc


def _store(workspace_id: int, prepared: dict[int, Prepared], by: Actor) -> dict[int, ItemResult]:
    if not prepared:
        return {}
    job = Job(workspace_id, list(prepared.values()), actor=by.name, now=timezone.now())
    written = dict(zip(prepared, GATE.write(job), strict=True))
    if any(item.status in {"created", "updated"} for item in written.values()):
        transaction.on_commit(ring)
    return {index: _result(index, prepared[index], item) for index, item in written.items()}


def _result(index: int, item: Prepared, written: Written) -> ItemResult:
    return ItemResult(
        index=index,
        external_id=item.record.external_id,
        status=written.status,
        uuid=written.uuid,
        calls_added=written.calls_added,
        errors=written.errors,
    )
