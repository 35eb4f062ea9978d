"""What becomes of one wish for a rewrite: the guard first, then the rewriters in order. Writes nothing."""

from typing import Any

import msgspec
from django.db.models import Max

from memory.background.draft_writing import Draft
from memory.background.rewriters.port import Drafted, DraftRequest, RewriterFailed, Transcript
from memory.background.rewriters.registry import choose_rewriters
from memory.domain.paths.document import PathDoc
from memory.domain.rewriting.accepting import accept
from memory.domain.rewriting.failing import Hint, find_failure
from memory.domain.rewriting.guard import GuardFacts, Verdict, guard
from memory.domain.rewriting.policy import RewritePolicy, safe_policy
from memory.domain.rewriting.proposal import InvalidRewriteError
from memory.live.index import Filters, Question, embed_question, find_near
from memory.models import Failure, Lineage, Path, RewriteProposal
from memory.queries.path_documents import read_path
from memory.queries.rewrite_memory import load_memory

NEAR = 20
"""Paths of nearby goals that a rewriter is shown."""


def look(row: RewriteProposal) -> Draft:
    """The draft for a claimed row. Slow; call it outside of any transaction."""
    path = Path.objects.select_related("lineage", "workspace").get(pk=row.path_id)
    if path.status != "active":
        return Draft(step="supersede", said=f"Version {path.version} is not the active one any more.")
    policy = safe_policy(path.workspace.settings)
    verdict = judge(path, policy, str(row.request.get("overruled_by", "")))
    if not verdict.passed:
        return Draft(step="hand_over", said=verdict.said, verdict=verdict)
    return _ask_rewriters(row, path, policy, verdict)


def judge(path: Path, policy: RewritePolicy, overruled_by: str = "") -> Verdict:
    """The guard's verdict on rewriting this path now."""
    lineage = Lineage.objects.get(pk=path.lineage_id)
    newest = lineage.versions.aggregate(newest=Max("version"))["newest"] or path.version
    facts = GuardFacts(
        version=newest,
        reward=path.reward,
        fruitless=lineage.fruitless_rewrites,
        paused=(lineage.pause_reason or "somebody paused it.") if lineage.automatic_paused_at else "",
        overruled_by=overruled_by,
    )
    return guard(facts, policy)


def _ask_rewriters(row: RewriteProposal, path: Path, policy: RewritePolicy, verdict: Verdict) -> Draft:
    request = build_request(row, path)
    transcript: Transcript = []
    said: list[str] = []
    cost: dict[str, Any] = {}
    for name, rewriter in choose_rewriters(policy, str(row.request.get("rewriter", ""))):
        if rewriter is None:
            said.append(f"{name}: not configured.")
            continue
        try:
            drafted = rewriter.draft(request)
            if drafted is not None:
                accept(request.old, drafted.rewrite)
        except RewriterFailed as failed:
            said.append(f"{name}: {failed}")
            transcript, cost = [*transcript, *failed.transcript], failed.cost or cost
            continue
        except InvalidRewriteError as error:
            said.append(f"{name}: what it proposed cannot be applied ({error}).")
            continue
        if drafted is not None:
            return _drafted(drafted, name, verdict, transcript, cost)
        said.append(f"{name}: nothing that is known would help.")
    return Draft(step="give_up", said=" ".join(said), verdict=verdict, transcript=transcript, cost=cost)


def _drafted(
    drafted: Drafted, name: str, verdict: Verdict, transcript: Transcript, cost: dict[str, Any]
) -> Draft:
    return Draft(
        step="propose",
        rewrite=drafted.rewrite,
        rewriter=name,
        verdict=verdict,
        transcript=[*transcript, *drafted.transcript],
        cost=drafted.cost or cost,
        confidence=drafted.confidence,
    )


def build_request(row: RewriteProposal, path: Path) -> DraftRequest:
    """What the rewriters are given."""
    document = read_path(path)
    failures = Failure.objects.select_related("call", "pattern")
    failure = failures.get(pk=row.failure_id) if row.failure_id else None
    point = find_failure(document, _hint(path, failure))
    tool = _tool_of(document, point.node) if point else ""
    said = {name: str(row.request.get(name, "")) for name in ("reason", "new_goal", "observation")}
    if point and not point.message:
        point = msgspec.structs.replace(point, message=said["observation"] or said["reason"])
    nearby = _near(path.workspace_id, said["new_goal"] or path.goal)
    memory = load_memory(path, tool, said["new_goal"], nearby)
    return DraftRequest(workspace_id=path.workspace_id, old=document, failure=point, memory=memory, **said)


def _near(workspace_id: int, goal: str) -> list[int]:
    """Ids of successful paths whose goals are near this one, nearest first."""
    question = Question(
        workspace_id=workspace_id,
        vectors=embed_question(workspace_id, goal).vectors,
        filters=Filters(results=("success",)),
        limit=NEAR,
    )
    found = sorted(find_near(question), key=lambda near: (-near.goal_cosine, -near.path_id))
    return [near.path_id for near in found[:NEAR] if near.goal_cosine > 0]


def _hint(path: Path, failure: Failure | None) -> Hint | None:
    """The failure that started it; its call is one of the path where the path is its task's own."""
    if failure is None:
        return None
    is_own = failure.call is not None and path.source_id == failure.task_id
    return Hint(
        tool=failure.call.tool if failure.call else "",
        message=failure.message,
        error_type=failure.error_type,
        template=failure.pattern.template,
        seq=failure.call.seq if is_own and failure.call else None,
    )


def _tool_of(document: PathDoc, name: str) -> str:
    return next((node.tool for node in document.nodes if node.name == name), "")
