"""``locate_paths``: which whole path fits a goal. The question an agent asks before it starts.

Every answer is kept as a Localization; one in ten is reviewed by people, see
:mod:`memory.domain.locating.sampling`.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import msgspec
from django.db import transaction
from django.utils import timezone

from memory.background.rewriting import Wish, want_rewrite
from memory.background.verifying import verify
from memory.domain.access import Actor, check_may
from memory.domain.locating.answers import (
    LeftOutPath,
    LocatedAnswer,
    LocatedPath,
    PromptText,
    kind_of,
    named,
    parts_of,
    shares_of,
)
from memory.domain.locating.entries import goal_key
from memory.domain.locating.policy import LocatePolicy, read_policy
from memory.domain.locating.question import Question, read_question
from memory.domain.locating.sampling import is_sampled
from memory.domain.locating.shapes import Scored
from memory.domain.locating.warnings import went_wrong
from memory.domain.paths.document import PathDoc
from memory.domain.paths.prompt import render_prompt
from memory.live.matching import Matched, match_paths
from memory.models import Localization, Path, Workspace
from memory.queries.path_documents import read_paths
from memory.writer.redactors import scrub_for

LEFT_OUT_SHOWN = 30


@dataclass(frozen=True)
class Tried:
    """An answer that was not stored, with the candidates that are not in it, best first, and why."""

    answer: LocatedAnswer
    left_out: list[LeftOutPath]


def locate_paths(*, workspace_id: int, query: Question | Mapping[str, Any], by: Actor) -> LocatedAnswer:
    """The whole paths that fit, stored as a Localization.

    Call it outside a transaction. Raises NotPermitted, and InvalidQuestionError naming the field.
    """
    check_may(by, "locate_paths", within=workspace_id)
    question = query if isinstance(query, Question) else read_question(query)
    started = time.perf_counter()
    policy = read_policy(Workspace.objects.values_list("settings", flat=True).get(pk=workspace_id))
    found = _Found(workspace_id, question, policy)
    answer = found.answer((time.perf_counter() - started) * 1000)
    return _store(workspace_id, question, answer, found, by)


def try_locating(
    *, workspace_id: int, query: Question | Mapping[str, Any], by: Actor, policy: LocatePolicy | None = None
) -> Tried:
    """The same answer without a trace, with what was left out of it; ``policy`` instead of the workspace's.

    Raises NotPermitted, and InvalidQuestionError naming the field.
    """
    check_may(by, "locate_paths", within=workspace_id)
    question = query if isinstance(query, Question) else read_question(query)
    started = time.perf_counter()
    if policy is None:
        policy = read_policy(Workspace.objects.values_list("settings", flat=True).get(pk=workspace_id))
    found = _Found(workspace_id, question, policy)
    return Tried(found.answer((time.perf_counter() - started) * 1000), found.left_out())


class _Found:
    """What the ranking (and a model, where the workspace wants one) says, with the rows it speaks of."""

    def __init__(self, workspace_id: int, question: Question, policy: LocatePolicy) -> None:
        self._question, self._policy = question, policy
        self._matched: Matched = match_paths(workspace_id, question, policy)
        answer = self._matched.answer
        ranked = [*answer.found, *answer.avoid, *answer.templates]
        rows = Path.objects.filter(workspace=workspace_id, pk__in=[scored.id for scored in ranked])
        self.rows: dict[int, Path] = {path.pk: path for path in rows}
        paths = list(self.rows.values())
        self._docs: dict[int, PathDoc] = dict(zip(self.rows, read_paths(paths), strict=True)) if paths else {}
        self._notes = list(self._matched.notes)
        self.paths = self._located(answer.found)
        self.avoid = self._located(answer.avoid, failed=True)
        self.templates = self._located(answer.templates)
        if policy.verify_localizations and self.paths:
            self.paths, note = verify(question.goal, self.paths)
            self._notes += [note] if note else []

    def answer(self, took_ms: float) -> LocatedAnswer:
        """All of it, not stored yet."""
        question, policy = self._question, self._policy
        return LocatedAnswer(
            localization="",
            kind=kind_of(self.paths, self.templates),
            paths=self.paths,
            avoid=self.avoid,
            templates=self.templates,
            notes=self._notes,
            weights=self._weights(),
            min_score=policy.min_score if question.min_score is None else question.min_score,
            embedder=self._matched.embedder,
            took_ms=round(took_ms, 2),
            prompt=self._prompt(),
        )

    def left_out(self) -> list[LeftOutPath]:
        """The best candidates that are not in the answer. One query."""
        rest = [scored for scored in self._matched.answer.rest if scored.left_out][:LEFT_OUT_SHOWN]
        rows = {path.pk: path for path in Path.objects.filter(pk__in=[scored.id for scored in rest])}
        return [
            LeftOutPath(
                path=str(row.uuid), key=row.key, goal=row.goal, result=row.result, reward=row.reward,
                score=round(scored.score, 4), parts=parts_of(scored), reason=scored.left_out,
            )
            for scored in rest
            if (row := rows.get(scored.id)) is not None
        ]  # fmt: skip

    def _located(self, ranked: Sequence[Scored], *, failed: bool = False) -> list[LocatedPath]:
        """A path that went away since it was ranked is left out."""
        return [
            _located(scored, self.rows[scored.id], self._docs[scored.id], failed=failed)
            for scored in ranked
            if scored.id in self._docs
        ]

    def _weights(self) -> dict[str, float]:
        question = self._question
        shares = self._policy.weights.shares().over(
            tags=bool(question.tags), semantic=bool(question.goal), structure=bool(question.nodes)
        )
        return shares_of(shares)

    def _prompt(self) -> PromptText | None:
        best = [*self.paths, *self.templates][:1]
        if not best or self._question.prompt_tokens is None:
            return None
        prompt = render_prompt(best[0].document, tokens=self._question.prompt_tokens)
        return PromptText(prompt.text, prompt.tokens, prompt.left_out)


def _located(scored: Scored, row: Path, doc: PathDoc, *, failed: bool) -> LocatedPath:
    return LocatedPath(
        path=str(row.uuid),
        key=row.key,
        version=row.version,
        score=round(scored.score, 4),
        parts=parts_of(scored),
        goal=row.goal,
        tags=row.tags,
        result=row.result,
        reward=round(row.reward, 4),
        level=row.level,
        uses=row.use_count,
        successes=row.success_count,
        document=doc,
        went_wrong=went_wrong(doc) if failed else [],
    )


def _store(
    workspace_id: int, question: Question, answer: LocatedAnswer, found: _Found, by: Actor
) -> LocatedAnswer:
    """One row, without secrets; and a wish where the best there is for this very goal has failed."""
    uuid = uuid4()
    kept, _ = scrub_for(workspace_id).redactor.redact(question.document())
    goal = kept.pop("goal", "")
    kept.pop("task", None)
    row = Localization(
        uuid=uuid,
        workspace_id=workspace_id,
        goal=goal,
        query=kept,
        candidates=[named(path) for path in (answer.paths or answer.templates)],
        avoid=[named(path) for path in answer.avoid],
        kind=answer.kind,
        embedder=answer.embedder,
        weights=answer.weights,
        took_ms=answer.took_ms,
        task_name=question.task,
        sampled=is_sampled(uuid),
        asked_by=by.name[:200],
        asked_at=timezone.now(),
    )
    failing = _failing(question, answer)
    if failing is None:
        row.save(force_insert=True)  # one statement needs no transaction of its own
    else:
        with transaction.atomic():
            row.save(force_insert=True)
            _want_rewrite(row, failing)
    return msgspec.structs.replace(answer, localization=str(uuid))


def _failing(question: Question, answer: LocatedAnswer) -> LocatedPath | None:
    """The best failed path of this very goal, when nothing else was found for it."""
    asked = goal_key(question.goal)
    if any(goal_key(path.goal) == asked for path in answer.paths):
        return None
    return next((path for path in answer.avoid if goal_key(path.goal) == asked), None)


def _want_rewrite(row: Localization, failing: LocatedPath) -> None:
    path = Path.objects.select_related("lineage", "container").get(uuid=failing.path)
    reason = f"It was asked for again, and it failed: {failing.went_wrong[-1]}"
    want_rewrite(path, trigger="located", wish=Wish(reason=reason), localization=row)
