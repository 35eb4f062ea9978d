"""The scripted agent: it walks a variant, asks HGMem over HTTP before each call, and does what it is told.

It is no model. What a model would have to understand, it does by rule:

- a changed input or another tool: it makes that call;
- steps to make first: it makes them first, and fills in arguments that HGMem does not store (passwords) from
  what its user told it;
- a hint that names a tool of the task which was not called yet: it calls that first, with its own arguments;
- blocked: it leaves the call out; asked: its user says go ahead.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

from benchmarks.bfcl.playing import Call, PlannedCall, Run, play
from benchmarks.bfcl.tasks import Variant

HISTORY = 20
TIMEOUT_S = 30.0
DOMAIN = "bfcl"


@dataclass
class Advice:
    """What the agent was told during a run: how often each kind, and by which rules (uuids, in order)."""

    kinds: Counter[str] = field(default_factory=Counter)
    rules: list[str] = field(default_factory=list)


class Server:
    """A running HGMem, as an agent sees it. Raises httpx.HTTPError when it does not answer or refuses."""

    def __init__(self, url: str, key: str) -> None:
        self._client = httpx.Client(
            base_url=f"{url.rstrip('/')}/api/v1/", timeout=TIMEOUT_S,
            headers={"Authorization": f"Bearer {key}"},
        )  # fmt: skip

    def get(self, path: str, **params: Any) -> Any:
        """One GET, as JSON."""
        return self._client.get(path, params=params).raise_for_status().json()

    def get_text(self, path: str, **params: Any) -> str:
        """One GET, as it is."""
        return self._client.get(path, params=params).raise_for_status().text

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """One POST, as JSON."""
        return self._client.post(path, json=body).raise_for_status().json()

    def offer(self, path: str, body: Mapping[str, Any]) -> str:
        """One POST that may be refused; blank, or why it was (409)."""
        answer = self._client.post(path, json=body)
        if answer.status_code == httpx.codes.CONFLICT:
            return str(answer.json().get("detail") or "refused")
        answer.raise_for_status()
        return ""

    def rows(self, path: str, **params: Any) -> list[dict[str, Any]]:
        """All rows of a cursor-paged list."""
        found: list[dict[str, Any]] = []
        page = self.get(path, **params)
        while True:
            found += page["results"]
            if not page.get("next"):
                return found
            page = self._client.get(page["next"]).raise_for_status().json()

    def close(self) -> None:
        """Give the connection back."""
        self._client.close()


def walk(variant: Variant, server: Server, *, run: str, again: bool = False) -> tuple[Run, Advice]:
    """Play one variant with HGMem's help, record what happened, and say what it was told.

    ``again``: somebody may have recorded this walk and died; then what was recorded first stays.
    """
    hook = _Asking(variant, server, f"{run}:{variant.id}")
    played = play(variant, hook)
    record(played, server, run=run, again=again)
    return played, hook.advice


def record(played: Run, server: Server, *, run: str, again: bool = False) -> None:
    """Tell HGMem what happened. ``run`` keeps passes apart; for ``again`` see :func:`walk`."""
    tell = server.offer if again else server.post
    tell("experiences", played.to_document(run=run))


class _Asking:
    """The hook of one run."""

    def __init__(self, variant: Variant, server: Server, task: str) -> None:
        self._variant, self._server = variant, server
        self._task = {
            "id": task,
            "goal": variant.task.goal[:20_000],
            "tags": ["bfcl"],
            "agent": "bfcl-player",
        }
        self._planned: list[PlannedCall] | None = None
        self.advice = Advice()

    def __call__(self, planned: PlannedCall, made: Sequence[Call]) -> list[PlannedCall]:
        first = self._plan() if self._planned is None else []
        told = self._ask({"point": "before", "tool": planned.tool, "input": planned.args}, made)
        steps = [*first, *self._steps(told, made)]
        if told["block"]:
            self.advice.kinds["blocked"] += 1
            return steps
        self.advice.kinds["asked"] += bool(told["ask"])
        self.advice.kinds["changed"] += (told["tool"], told["input"]) != (planned.tool, planned.args)
        return [*steps, PlannedCall(told["tool"], told["input"], told["receipt"])]

    def _plan(self) -> list[PlannedCall]:
        self._planned = self._steps(self._ask({"point": "planning"}, ()), ())
        return self._planned

    def _ask(self, question: dict[str, Any], made: Sequence[Call]) -> dict[str, Any]:
        history = [
            {"tool": call.tool, "input": call.args, "status": "error" if call.error is not None else "ok"}
            for call in made[-HISTORY:]
        ]
        context = question | {"history": history, "env": {"domain": DOMAIN}, "task": self._task}
        told: dict[str, Any] = self._server.post("corrections/query", context)
        self.advice.rules += [row["rule"] for row in told["applied"]]
        return told

    def _steps(self, told: Mapping[str, Any], made: Sequence[Call]) -> list[PlannedCall]:
        steps: list[PlannedCall] = []
        for step in told["insert_steps"]:
            args = self._known(step["tool"], step["arguments"]) | step["arguments"]
            if all((args, step["tool"]) != (other.args, other.tool) for other in steps):
                steps.append(PlannedCall(step["tool"], args))
                self.advice.kinds["inserted"] += 1
        called = {call.tool for call in made} | {step.tool for step in steps}
        for hint in told["hints"]:
            for gold in self._variant.task.gold:
                if gold.tool not in called and f"{gold.tool} was called first" in hint["text"]:
                    steps.append(PlannedCall(gold.tool, gold.args))
                    called.add(gold.tool)
                    self.advice.kinds["hinted"] += 1
        return steps

    def _known(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """What the agent knows of a step of which HGMem says only a part."""
        for gold in self._variant.task.gold:
            if gold.tool == tool and all(gold.args.get(name) == value for name, value in arguments.items()):
                return dict(gold.args)
        return {}
