"""HGMem in this process on a database of its own: the very actions that the API and the pages call."""

import atexit
import os
import shutil
import tempfile
import time
from dataclasses import dataclass
from typing import Any

from benchmarks.one_shot import Correction
from benchmarks.streams import Call, Run

HISTORY = 20


@dataclass(frozen=True)
class Asked:
    """The rules that spoke up, those that could not be evaluated, the receipt, and how long it took."""

    rules: tuple[str, ...]
    errors: tuple[str, ...]
    receipt: str
    seconds: float


def start() -> None:
    """Set Django up on a temporary SQLite database. Once a process; the folder goes when the process ends."""
    folder = tempfile.mkdtemp(prefix="hgmem-bench-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ.update(HGMEM_VAR=folder, HGMEM_URL="http://127.0.0.1", LOG_LEVEL="ERROR")
    for name in ("DATABASE_URL", "REDIS_URL"):
        os.environ.pop(name, None)
    os.environ["DJANGO_SETTINGS_MODULE"] = "hgmem_site.settings"
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)


class Product:
    """One workspace, used the way an agent (``ask``, ``tell``) and a person (``file``) would."""

    def __init__(self, name: str) -> None:
        from corrections.actions.asking import get_corrections
        from corrections.actions.canaries import set_canary_policy
        from corrections.actions.rules import activate_rule, draft_rule
        from corrections.live.rulesets import RULESETS
        from memory.actions.accounts import create_workspace
        from memory.actions.record import record_experience
        from memory.background.analyse import analyse_backlog
        from memory.domain.access import Actor, Role, Scope
        from memory.permissions import SYSTEM

        self._get_corrections, self._record_experience = get_corrections, record_experience
        self._analyse_backlog = analyse_backlog
        self._draft_rule, self._activate_rule, self._rulesets = draft_rule, activate_rule, RULESETS
        RULESETS.forget()  # this process may have served another database before
        workspace = create_workspace(slug=name, name=name, owner=None, by=SYSTEM)
        self._workspace_id = workspace.pk
        # What is filed is served at once: a benchmark measures rules, not how they come to be trusted.
        set_canary_policy(workspace_id=workspace.pk, changes={"start": "never"}, by=SYSTEM)
        scopes = frozenset({Scope.RULES_READ, Scope.EXPERIENCE_WRITE})
        self._agent = Actor("key", "agent", workspace.pk, scopes=scopes)
        self._person = Actor("user", "reviewer", workspace.pk, role=Role.MAINTAINER)
        self._approver = Actor("system", "benchmark", workspace.pk)

    def ask(self, context: dict[str, Any]) -> Asked:
        """``get_corrections``: what an agent is told before the call."""
        started = time.perf_counter()
        answer = self._get_corrections(context=context, by=self._agent)
        seconds = time.perf_counter() - started
        spoke = [row["rule"] for row in (*answer["block"], *answer["ask"])]
        errors = tuple(str(row) for row in answer["errors"])
        return Asked(tuple(_uuid_of(rule) for rule in spoke), errors, answer["receipt"], seconds)

    def tell(self, run: Run, seq: int, call: Call, receipt: str) -> None:
        """``record_experience``: one more call of the run, and how it went."""
        document = {
            "tool": call.tool, "input": call.args, "output": call.obs, "seq": seq, "receipt": receipt,
            "status": "error" if call.failed else "ok",
        }  # fmt: skip
        if call.failed:
            document["error"] = call.obs if isinstance(call.obs, str) else repr(call.obs)
        self._record(run, {"calls": [document]})

    def end(self, run: Run) -> None:
        """``record_experience``: the run is over, and only now it is said how it ended."""
        outcome: dict[str, Any] = {"by": "evaluator", "result": "unknown"}
        if run.success is not None:
            outcome["result"] = "success" if run.success else "failure"
        if run.reward is not None:
            outcome["reward"] = run.reward
        self._record(run, {"final": True, "outcome": outcome})

    def file(self, correction: Correction, run: Run, seq: int) -> str:
        """A person writes the rule from the failure's pattern; it is approved at once. The rule's uuid.

        The worker's analysis runs first, in line: it is what finds the failure and its pattern.
        """
        self._analyse_backlog()
        rule = self._draft_rule(
            workspace_id=self._workspace_id, document=_document(correction), by=self._person,
            pattern_uuids=self._patterns_of(run, seq),
        )  # fmt: skip
        self._activate_rule(rule=rule, by=self._approver)
        self._rulesets.refresh()
        return str(rule.uuid)

    def covered(self) -> int:
        """Error patterns that the product itself found and that a rule now handles."""
        from memory.models import ErrorPattern

        return ErrorPattern.objects.filter(workspace_id=self._workspace_id, status="covered").count()

    def _patterns_of(self, run: Run, seq: int) -> list[str]:
        from memory.models import Failure

        rows = Failure.objects.filter(
            workspace_id=self._workspace_id, task__external_id=run.id, call__seq=seq
        )
        return [str(uuid) for uuid in rows.values_list("pattern__uuid", flat=True)]

    def _record(self, run: Run, more: dict[str, Any]) -> None:
        task = {"external_id": run.id, "goal": run.goal, "agent": run.model, "env": {"domain": run.domain}}
        (result,) = self._record_experience(
            workspace_id=self._workspace_id, documents=[task | more], by=self._agent
        )
        if result.status not in {"created", "updated", "unchanged"}:
            raise RuntimeError(f"{run.id} was refused: {result}")


def context_of(run: Run, seq: int) -> dict[str, Any]:
    """What the agent tells before a call: the call, the environment, the goal, and the calls before it."""
    call = run.calls[seq]
    history = [
        {"tool": past.tool, "input": past.args, "status": "error" if past.failed else "ok"}
        for past in run.calls[max(0, seq - HISTORY) : seq]
    ]
    return {
        "tool": call.tool, "input": call.args, "history": history, "env": {"domain": run.domain},
        "task": {"id": run.id, "goal": run.goal, "agent": run.model},
    }  # fmt: skip


def _document(correction: Correction) -> dict[str, Any]:
    return {
        "name": correction.message[:150],
        "applies_to": {"point": "before", "tool": correction.tool},
        "condition": correction.condition,
        "action_type": "PRE_CALL_VALIDATION",
        "action_detail": {"on_failure": "ask", "message": correction.message.replace("{{", "{ {")},
    }


def _uuid_of(rule: Any) -> str:
    return str(rule["uuid"] if isinstance(rule, dict) else rule)
