"""The task that calls belong to: its identity, its counter, what happened in it so far.

``with hgmem.task("book a flight") as task:`` makes a task current, in a ``ContextVar``: asyncio tasks inherit
it, and so do threads that are started with a copied context (``asyncio.to_thread`` does that by itself). A
task inside a task keeps its root, so that both share one arm of every rule on trial. Calls outside of any
task are gathered in one of this process, which ends after a quiet time.
"""

import itertools
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, Final, Literal
from uuid import uuid4
from weakref import WeakKeyDictionary

from hgmem.runtime.client import Runtime as Client
from hgmem.runtime.default import default_client
from hgmem.runtime.plain import plain

Result = Literal["unknown", "success", "failure"]
Source = Literal["agent", "environment", "evaluator", "human"]

HISTORY: Final = 20
"""Calls that the next question tells about; rules see them as ``history``."""
MAX_HISTORY_CHARS: Final = 2_000
"""The input of a call in the history is left out when it is longer."""
MAX_ID_CHARS: Final = 200
MAX_TEXT_CHARS: Final = 20_000
MAX_TAGS: Final = 50
MAX_TAG_CHARS: Final = 100
MAX_HINTS: Final = 50
QUIET_S: Final = 600.0
"""The task that nobody named ends when nothing was called in it for so long."""
MAX_OPEN: Final = 10_000


class Task:
    """One task of an agent. Safe to use from many threads.

    ``id`` is the idempotency key of everything recorded in it: at most 200 characters, unique to one run (one
    that another process goes on with needs :meth:`count_from`). ``root`` is the id of the outermost task.
    ``hints`` are the latest texts for the model that nobody took yet. ``is_run``: an integration made it for
    one run of an agent.
    """

    def __init__(
        self,
        client: Client,
        *,
        goal: str = "",
        id: str = "",
        root: str = "",
        tags: Iterable[str] = (),
        agent: str = "",
        framework: str = "",
        env: Mapping[str, Any] | None = None,
    ) -> None:
        """Raises ValueError for an id or a root of more than 200 characters."""
        if max(len(id), len(root)) > MAX_ID_CHARS:
            raise ValueError(f"the id of a task has at most {MAX_ID_CHARS} characters")
        settings = client.settings
        self.client = client
        self.id = id or f"task-{uuid4()}"
        self.root = root or self.id
        self.goal = goal[:MAX_TEXT_CHARS]
        self.tags = _tags((*settings.tags, *tags))
        self.agent = (agent or settings.agent)[:MAX_ID_CHARS]
        self.framework = (framework or settings.framework)[:MAX_ID_CHARS]
        self.env: dict[str, Any] = plain(dict(env or {}))
        self.started_at = datetime.now(UTC)
        self.finished = False
        self.is_run = False
        self.hints: deque[str] = deque(maxlen=MAX_HINTS)
        self.used_at = time.monotonic()
        self._seq = itertools.count()
        self._called = False
        self._history: deque[dict[str, Any]] = deque(maxlen=HISTORY)
        self._lock = threading.Lock()

    def next_seq(self) -> int:
        """The place of the next call in the task."""
        self._called = True
        self.used_at = time.monotonic()
        return next(self._seq)

    def count_from(self, seq: int) -> None:
        """The run was begun elsewhere, and ``seq`` calls were made there."""
        self._seq = itertools.count(seq)

    def describe(self) -> dict[str, Any]:
        """The task as a question names it."""
        described: dict[str, Any] = {"id": self.id, "root": self.root}
        if self.goal:
            described["goal"] = self.goal
        if self.tags:
            described["tags"] = list(self.tags)
        if self.agent:
            described["agent"] = self.agent
        return described

    def header(self) -> dict[str, Any]:
        """The task as an experience document begins, without calls and outcome."""
        said = {
            "goal": self.goal, "tags": list(self.tags), "agent": self.agent, "framework": self.framework,
            "env": self.env, "root_task": self.root if self.root != self.id else "",
        }  # fmt: skip
        return {
            "external_id": self.id,
            **{name: value for name, value in said.items() if value},
            "started_at": self.started_at.isoformat(),
        }

    @property
    def history(self) -> list[dict[str, Any]]:
        """The latest calls, oldest first, as questions tell them."""
        with self._lock:
            return list(self._history)

    def remember(self, tool: str, call_input: dict[str, Any], status: str, error: Any = None) -> None:
        """Add a call to the history."""
        short = call_input if len(repr(call_input)) <= MAX_HISTORY_CHARS else {}
        entry: dict[str, Any] = {"tool": tool, "input": short, "status": status}
        if error is not None:
            entry["error"] = error
        with self._lock:
            self._history.append(entry)

    def take_hints(self) -> list[str]:
        """The texts for the model that were collected since the last time; each is given once."""
        taken = []
        while self.hints:
            taken.append(self.hints.popleft())
        return taken

    def finish(
        self,
        result: Result = "unknown",
        *,
        reward: float | None = None,
        by: Source = "agent",
        note: str = "",
    ) -> None:
        """The task is over. ``by`` is who says how it went. Only the first time counts; never raises.

        A later judgement (a reviewer, an evaluator) is ``client.judge_task``.
        """
        with self._lock:
            if self.finished:
                return
            self.finished = True
        outcome: dict[str, Any] = {"result": result, "by": by}
        if reward is not None:
            outcome["reward"] = reward
        if note:
            outcome["note"] = note[:MAX_TEXT_CHARS]
        document = {**self.header(), "finished_at": datetime.now(UTC).isoformat(), "final": True}
        if result != "unknown" or reward is not None or note:
            document["outcome"] = outcome
        if self._called or "outcome" in document:
            self.client.record(document)

    def succeeded(self, *, reward: float | None = None, note: str = "") -> None:
        """The task is over and went well, as the agent sees it."""
        self.finish("success", reward=reward, note=note)

    def failed(self, note: str = "", *, reward: float | None = None) -> None:
        """The task is over and went wrong, as the agent sees it."""
        self.finish("failure", reward=reward, note=note)

    @contextmanager
    def active(self) -> Iterator["Task"]:
        """Make the task current for the block, without ending it."""
        token = _current.set(self)
        try:
            yield self
        finally:
            _current.reset(token)


_current: ContextVar[Task | None] = ContextVar("hgmem_task", default=None)


@contextmanager
def task(
    goal: str = "",
    *,
    id: str = "",
    root: str = "",
    tags: Iterable[str] = (),
    agent: str = "",
    framework: str = "",
    env: Mapping[str, Any] | None = None,
    client: Client | None = None,
) -> Iterator[Task]:
    """A task for the block: guarded calls inside belong to it. A task inside a task keeps its root.

    At the end of the block it is over: with what ``succeeded``, ``failed`` or ``finish`` said, as a failure
    when an exception leaves the block, otherwise with an unknown outcome. Use it with ``with`` in sync and in
    async code. ``env`` is the state of the environment that conditions see as ``env``.
    """
    outer = _current.get()
    made = Task(
        client or (outer.client if outer else default_client()),
        goal=goal, id=id, root=root or (outer.root if outer else ""), tags=tags,
        agent=agent or (outer.agent if outer else ""),
        framework=framework or (outer.framework if outer else ""), env=env,
    )  # fmt: skip
    with made.active():
        try:
            yield made
        except Exception as error:
            made.failed(f"{type(error).__name__}: {error}")
            raise
        finally:
            made.finish()


def current_task(client: Client | None = None) -> Task:
    """The task of this context; without one, the task of this process that nobody named."""
    found = _current.get()
    return found if found is not None else _unnamed.get(client or default_client())


def task_of_run(client: Client | None = None, **described: Any) -> tuple[Task, bool]:
    """The task of an agent's run, and whether it is to be finished with it: for integrations.

    A task that somebody opened around the run is its task. Within another run (a sub-agent) it is a task of
    its own under the same root. ``described`` is as for :class:`Task`.
    """
    outer = _current.get()
    if outer is not None and not outer.is_run:
        return outer, False
    if client is None:
        client = outer.client if outer is not None else default_client()
    made = Task(client, root=outer.root if outer is not None else "", **described)
    made.is_run = True
    return made, True


class _Unnamed:
    """One task for each client, for calls outside of any task; a new one after a quiet time."""

    def __init__(self) -> None:
        self._tasks: WeakKeyDictionary[Client, Task] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def get(self, client: Client) -> Task:
        over = None
        with self._lock:
            found = self._tasks.get(client)
            if found is None or found.finished or time.monotonic() - found.used_at > QUIET_S:
                over, found = found, Task(client)
                self._tasks[client] = found
                if over is None:
                    client.at_close(self._end)
        if over is not None:
            over.finish()
        return found

    def _end(self, client: Client) -> None:
        with self._lock:
            found = self._tasks.pop(client, None)
        if found is not None:
            found.finish()


_unnamed = _Unnamed()


class OpenTasks:
    """Tasks of an integration by the framework's name of a run.

    The oldest end when there are too many, all when their client closes: not every framework says that a run
    is over.
    """

    def __init__(self, limit: int = MAX_OPEN) -> None:
        self._limit = limit
        self._tasks: OrderedDict[str, tuple[Task, bool]] = OrderedDict()
        self._clients: WeakKeyDictionary[Client, bool] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def open(self, name: str, client: Client | None = None, **described: Any) -> Task:
        """The task of a run: the one there is, or one made by :func:`task_of_run`."""
        over = None
        with self._lock:
            found = self._tasks.get(name)
            if found is None:
                found = self._tasks[name] = task_of_run(client, **described)
                if len(self._tasks) > self._limit:
                    _, over = self._tasks.popitem(last=False)
            self._tasks.move_to_end(name)
            owner = found[0].client
            if owner not in self._clients:
                self._clients[owner] = True
                owner.at_close(self._end)
        if over is not None and over[1]:
            over[0].finish()
        return found[0]

    def get(self, name: str) -> Task | None:
        """The task of a run that was opened."""
        with self._lock:
            found = self._tasks.get(name)
        return found[0] if found is not None else None

    def finish(self, name: str, result: Result = "unknown", note: str = "") -> None:
        """The run is over, and its task with it unless somebody opened that around the run."""
        with self._lock:
            found = self._tasks.pop(name, None)
        if found is not None and found[1]:
            found[0].finish(result, note=note)

    def _end(self, client: Client) -> None:
        with self._lock:
            names = [name for name, (task, _) in self._tasks.items() if task.client is client]
        for name in names:
            self.finish(name)


def _tags(tags: Iterable[str]) -> tuple[str, ...]:
    short = (str(tag)[:MAX_TAG_CHARS] for tag in tags)
    return tuple(itertools.islice(dict.fromkeys(tag for tag in short if tag), MAX_TAGS))
