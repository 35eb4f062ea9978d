"""The scripted agent at work: a slice of its play, a few walks at a time, from a row that says how far it is.

The worker rings it every two seconds. A process that dies leaves the row as it was after its last walk; the
next slice goes on from there. One process plays at a time, by a lease on the row, and one thread of it.
"""

import logging
import os
import threading
import time
from datetime import timedelta
from functools import cache
from importlib.util import find_spec
from typing import Any
from uuid import uuid4

import httpx
from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from corrections.domain.plays import MAX_NEWEST, WINDOW, count_walk
from corrections.models import DemoPlay
from corrections.queries.plays import is_read
from memory.actions.accounts import create_key, revoke_key
from memory.domain.access import Scope
from memory.models import ApiKey
from memory.permissions import system_actor

SLICE_S = 1.0
LEASE = timedelta(seconds=60)
EVERY_TASK = 2
"""Every how manieth task is played."""
KEY_NAME = "demo player"
SCOPES = [Scope.RULES_READ, Scope.RULES_WRITE, Scope.EXPERIENCE_READ, Scope.EXPERIENCE_WRITE, Scope.REVIEW]
WALKS = 5
"""At most so many in a slice: people watch."""
WAITS_S = 60.0
MAX_DECIDED = 100
"""Proposals and changes that the autopilot decides in one slice."""
BY = system_actor(KEY_NAME)
log = logging.getLogger(__name__)
_RUN = uuid4().hex[:16]
_TURN = threading.Lock()
_KEYS: dict[int, str] = {}
_SETTLED: dict[int, tuple[int, int]] = {}
_WAITING: dict[tuple[int, int, int], float] = {}


def is_installed() -> bool:
    """Whether the tools that the agent plays with are there."""
    return all(find_spec(name) is not None for name in ("bfcl_eval", "mpmath", "benchmarks"))


def play_waiting(slice_s: float = SLICE_S) -> int:
    """A slice of every play that runs; how many walks were made. Safe to kill at any time."""
    if not _TURN.acquire(blocking=False):
        return 0
    try:
        running = DemoPlay.objects.filter(state="running").select_related("workspace").order_by("pk")
        return sum(_slice(play, time.monotonic() + slice_s) for play in running if _claim(play))
    finally:
        _TURN.release()


def _me() -> str:
    """This process: a forked one is another."""
    return f"{_RUN}-{os.getpid()}"


def _claim(play: DemoPlay) -> bool:
    now = timezone.now()
    free = Q(claimed_by__in=("", _me())) | Q(claimed_at=None) | Q(claimed_at__lt=now - LEASE)
    rows = DemoPlay.objects.filter(free, pk=play.pk, state="running")
    return bool(rows.update(claimed_by=_me(), claimed_at=now))


def _slice(play: DemoPlay, until: float) -> int:
    from benchmarks.bfcl.agent import Server  # the tools are no part of an installation without a demo

    made = 0
    try:
        server = Server(settings.SITE_URL, _key(play))
        try:
            while made < WALKS and time.monotonic() < until and _goes_on(play, server):
                made += 1
        finally:
            server.close()
    except (httpx.HTTPError, ImportError, RuntimeError, LookupError, ValueError) as error:
        log.warning("The demo player cannot go on: %s", error)
        _KEYS.pop(play.workspace_id, None)
        _save(play, last_error=f"{type(error).__name__}: {error}"[:2_000])
    return made


def _has_learnt(play: DemoPlay, server: Any) -> bool:
    """Before each window the worker reads what was recorded, and the autopilot decides."""
    here = (play.pass_number, play.position)
    if play.position % WINDOW or _SETTLED.get(play.pk) == here:
        return True
    since = _WAITING.setdefault((play.pk, *here), time.monotonic())
    if not is_read(play.workspace_id) and time.monotonic() - since < WAITS_S:
        _save(play)
        return False
    _WAITING.clear()
    if play.autopilot:
        play.accepted += _decide(server)
    _SETTLED[play.pk] = here
    _save(play)
    return False  # the web process learns of new rules within a second


def _goes_on(play: DemoPlay, server: Any) -> bool:
    return _has_learnt(play, server) and _one(play, server)


def _one(play: DemoPlay, server: Any) -> bool:
    """One walk, and its row; False when it is at its end or was stopped."""
    from benchmarks.bfcl import Variant
    from benchmarks.bfcl.agent import walk

    stream = _stream()
    if play.position >= len(stream):
        return _next_pass(play)
    variant = stream[play.position]
    name = f"play{play.pk}:{play.pass_number}"
    run, advice = walk(variant, server, run=name, again=True)
    if run.errors or not run.reaches_gold:
        walk(Variant(variant.task), server, run=f"{name}:again:{variant.left_out}", again=True)
    rules = list(dict.fromkeys(advice.rules))
    if run.errors or rules:
        entry = {
            "task": f"{name}:{variant.id}", "goal": variant.task.goal[:160], "rules": rules[:3],
            "failures": [f"{call.tool}: {call.error}"[:200] for call in run.errors[:2]],
        }  # fmt: skip
        play.newest = [entry, *play.newest][:MAX_NEWEST]
    play.counts = count_walk(
        play.counts, pass_number=play.pass_number, failures=len(run.errors), was_told=bool(rules)
    )
    play.position += 1
    return _save(play)


def _next_pass(play: DemoPlay) -> bool:
    if play.pass_number >= play.passes:
        DemoPlay.objects.filter(pk=play.pk, state="running").update(
            state="finished", updated_at=timezone.now()
        )
        return False
    play.pass_number, play.position = play.pass_number + 1, 0
    goes_on = _save(play)
    if not play.autopilot:  # a person needs time to approve what was proposed
        DemoPlay.objects.filter(pk=play.pk, state="running").update(
            state="stopped", updated_at=timezone.now()
        )
    return goes_on and play.autopilot


def _save(play: DemoPlay, last_error: str = "") -> bool:
    """Write how far it is; False where somebody stopped it or another process has it."""
    now = timezone.now()
    mine = DemoPlay.objects.filter(pk=play.pk, claimed_by=_me())
    mine.update(
        pass_number=play.pass_number, position=play.position, total=len(_stream()), counts=play.counts,
        newest=play.newest, accepted=play.accepted, last_error=last_error, claimed_at=now, updated_at=now,
    )  # fmt: skip
    return mine.filter(state="running").exists()


def _decide(server: Any) -> int:
    """The autopilot: what is proposed is accepted, what is doubted is disabled, through the API."""
    accepted = 0
    for row in server.get("rules/proposals", status="proposed", limit=MAX_DECIDED)["results"]:
        accepted += not server.offer(f"rules/proposals/{row['uuid']}/accept", {"note": KEY_NAME})
    for row in server.get("change-requests", status="undecided", limit=MAX_DECIDED)["results"]:
        body = {"revision": row["revision"], "note": KEY_NAME}
        server.offer(f"change-requests/{row['uuid']}/approve", body)
    return accepted


def _key(play: DemoPlay) -> str:
    """This process's key; those of processes before it are revoked, so no secret is ever stored."""
    if play.workspace_id not in _KEYS:
        for old in ApiKey.objects.filter(workspace=play.workspace, name=KEY_NAME, revoked_at=None):
            revoke_key(key=old, by=BY)
        _key_row, secret = create_key(workspace=play.workspace, name=KEY_NAME, scopes=SCOPES, by=BY)
        _KEYS[play.workspace_id] = secret
    return _KEYS[play.workspace_id]


@cache
def _stream() -> tuple[Any, ...]:
    """The walks of a pass: tasks with one step left out, those that then fail."""
    from benchmarks.bfcl import load_tasks, play, variants

    tasks = load_tasks()[::EVERY_TASK]
    return tuple(variant for variant in variants(tasks) if play(variant).errors)
