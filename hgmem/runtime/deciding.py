"""A verdict on each call, never later than the deadline: from the copy of the rules, the server, or open."""

import asyncio
import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as Late
from datetime import UTC, datetime
from typing import Any, Final

from hgmem.api.errors import ConnectionFailed, DeadlineExceeded, HGMemError, NoDecision, ServerError
from hgmem.api.settings import Settings
from hgmem.api.shapes import Corrections
from hgmem.receipts import issue_receipt
from hgmem.rules import Decision, RuleError, parse_context
from hgmem.rules.scope import matches_glob
from hgmem.runtime.breaker import Breaker
from hgmem.runtime.bundle import Bundle
from hgmem.runtime.refresh import RulesCopy
from hgmem.runtime.verdict import Verdict
from hgmem.signatures import LOCAL_RECEIPT

log = logging.getLogger(__name__)
ASKERS: Final = 4
"""Questions that may wait for the server at the same time; while all of them hang, calls go on at once."""


class Decider:
    """Asked before and after each guarded call. Never raises but for tools that fail closed."""

    def __init__(
        self,
        settings: Settings,
        copy: RulesCopy,
        ask: Callable[[Mapping[str, Any]], Corrections],
        note: Callable[[dict[str, Any]], bool],
    ) -> None:
        """``ask`` asks the server; ``note`` keeps a decision that was made here, to tell the server of it."""
        self._settings = settings
        self._copy = copy
        self._ask = ask
        self._note = note
        self._key = settings.derived_key(LOCAL_RECEIPT) if settings.is_on else b""
        self.breaker = Breaker()
        self._start_over()
        os.register_at_fork(after_in_child=self._start_over)

    def decide(self, context: Mapping[str, Any]) -> Verdict:
        """The verdict on a context, within ``deadline_s``.

        Raises:
            NoDecision: there is none, and the tool is one that fails closed (before a call only).
        """
        began = time.perf_counter()
        verdict = self._here(context)
        if verdict is None:
            future = self._send(context)
            verdict = self._wait(context, future) if isinstance(future, Future) else future
        return self._checked(context, verdict, began)

    async def adecide(self, context: Mapping[str, Any]) -> Verdict:
        """:meth:`decide`, without holding the event loop while the server is asked."""
        began = time.perf_counter()
        verdict = self._here(context)
        if verdict is None:
            future = self._send(context)
            verdict = await self._await(context, future) if isinstance(future, Future) else future
        return self._checked(context, verdict, began)

    def close(self) -> None:
        """Let the threads go."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _here(self, context: Mapping[str, Any]) -> Verdict | None:
        """A verdict that takes no network: local, or open because nobody can be asked; else None."""
        if not self._settings.is_on:
            return Verdict.open(context, "off")
        if self._settings.evaluate == "server":
            return None
        self._copy.start()
        bundle = self._copy.bundle
        if bundle is None:
            return None
        try:
            return self._decide_locally(bundle, context)
        except RuleError as error:
            return Verdict.open(context, f"bad context: {error}"[:300])
        except Exception as error:  # whatever happens in here, the agent's call goes on
            log.exception("A decision failed; the call goes on without rules.")
            return Verdict.open(context, f"error: {type(error).__name__}")

    def _decide_locally(self, bundle: Bundle, context: Mapping[str, Any]) -> Verdict:
        decision = bundle.ruleset.decide(parse_context(context), now=datetime.now(UTC))
        token = issue_receipt(decision, ruleset_version=bundle.version, key=self._key)
        token = f"{token}.{self._settings.key_prefix}"
        if decision.matched or decision.errors or decision.exposures or decision.withheld_errors:
            self._note(_noted(decision, token))
        return Verdict.from_decision(decision, token)

    def _send(self, context: Mapping[str, Any]) -> "Future[Corrections] | Verdict":
        """The server's answer to come, or an open verdict when it cannot be asked just now."""
        if not self.breaker.admits():
            return Verdict.open(context, "breaker")
        if not self._askers.acquire(blocking=False):
            return Verdict.open(context, "busy")
        try:
            future = self._pool.submit(self._ask, context)
        except RuntimeError:  # the interpreter is ending
            self._askers.release()
            return Verdict.open(context, "closing")
        future.add_done_callback(lambda _future: self._askers.release())
        return future

    def _wait(self, context: Mapping[str, Any], future: "Future[Corrections]") -> Verdict:
        try:
            return self._read(future.result(timeout=self._settings.deadline_s))
        except Exception as error:  # late, cut, refused, no decision: the call goes on
            future.cancel()
            return self._without(context, error)

    async def _await(self, context: Mapping[str, Any], future: "Future[Corrections]") -> Verdict:
        try:
            waiting = asyncio.wrap_future(future)
            return self._read(await asyncio.wait_for(waiting, timeout=self._settings.deadline_s))
        except Exception as error:  # late, cut, refused, no decision: the call goes on
            return self._without(context, error)

    def _read(self, answer: Corrections) -> Verdict:
        self.breaker.succeeded()
        return Verdict.from_answer(answer)

    def _without(self, context: Mapping[str, Any], error: Exception) -> Verdict:
        if isinstance(error, Late | TimeoutError | DeadlineExceeded):
            self.breaker.failed()
            return Verdict.open(context, "deadline")
        if isinstance(error, ConnectionFailed | ServerError):
            self.breaker.failed()
            return Verdict.open(context, "connection")
        self.breaker.succeeded()
        log.warning("The server gave no decision; the call goes on without rules: %s", error)
        return Verdict.open(
            context, f"refused: {error}"[:300] if isinstance(error, HGMemError) else "bad answer"
        )

    def _checked(self, context: Mapping[str, Any], verdict: Verdict, began: float) -> Verdict:
        verdict.elapsed_ms = (time.perf_counter() - began) * 1_000
        if verdict.source == "open" and context.get("point") == "before" and self._fails_closed(verdict.tool):
            raise NoDecision(verdict.why_open)
        return verdict

    def _fails_closed(self, tool: str) -> bool:
        return any(matches_glob(glob, tool) for glob in self._settings.fail_closed)

    def _start_over(self) -> None:
        """Threads do not survive a fork."""
        self._pool = ThreadPoolExecutor(max_workers=ASKERS, thread_name_prefix="hgmem-ask")
        self._askers = threading.BoundedSemaphore(ASKERS)


def _noted(decision: Decision, token: str) -> dict[str, Any]:
    """A decision as ``POST receipts`` takes it."""
    noted: dict[str, Any] = {"token": token}
    if decision.block:
        noted["blocked"] = True
    if errors := decision.errors + decision.withheld_errors:
        noted["errors"] = errors
    if decision.exposures:
        noted["exposures"] = [
            [str(seen.canary), seen.stage, seen.share, seen.arm] for seen in decision.exposures
        ]
    return noted
