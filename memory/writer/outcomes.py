"""An outcome that is said about a stored task, apart from any document."""

from datetime import datetime

import msgspec
from django.db.models import F

from memory.domain.experience import ExperienceDoc, OutcomeDoc
from memory.domain.merge import effective_outcome
from memory.domain.records import normalize
from memory.models import Outcome, Task
from memory.writer.redactors import scrub_for
from memory.writer.stored import outcome_record

AGAIN = ":"
"""Divides the digest of a statement from its count, when its source says the same a second time later."""


def append_outcome(*, task_id: int, said: OutcomeDoc, actor: str, now: datetime) -> bool:
    """Append it unless its source said the same last; whether something changed. Inside a transaction.

    Unlike a document that is sent again, a statement is made now: whoever changes their mind back is heard.
    """
    task = Task.objects.select_for_update().get(pk=task_id)
    scrub = scrub_for(task.workspace_id)
    document = ExperienceDoc(external_id=task.external_id, outcome=said)
    record = normalize(document, redactor=scrub.redactor, key=scrub.key).outcome
    assert record is not None  # noqa: S101 - the document has one
    stored = [outcome_record(row) for row in Outcome.objects.filter(task=task).order_by("id")]
    latest = next((item for item in reversed(stored) if item.by == record.by), None)
    if latest is not None and latest.digest.split(AGAIN)[0] == record.digest:
        return False
    before = sum(item.digest.split(AGAIN)[0] == record.digest for item in stored)
    if before:
        record = msgspec.structs.replace(record, digest=f"{record.digest}{AGAIN}{before}")
    Outcome.objects.create(
        task=task, result=record.result, reward=record.reward, by=record.by, actor=actor[:200],
        note=record.note, digest=record.digest, said_at=now,
    )  # fmt: skip
    counts = effective_outcome((*stored, record)) or record
    Task.objects.filter(pk=task_id).update(
        outcome=counts.result,
        reward=counts.reward,
        outcome_by=counts.by,
        updated_at=now,
        revision=F("revision") + 1,
        analysed_at=None,
    )
    return True
