"""The client: one object for a server and a key, to be shared by a whole process."""

import atexit
import logging
import os
import weakref
from collections.abc import Callable, Mapping
from typing import Any, Final

from hgmem.api.asynchronous import AsyncApi
from hgmem.api.errors import HGMemError
from hgmem.api.settings import Settings, load_settings
from hgmem.api.sync import Api
from hgmem.recording.recorder import Recorder, Stats
from hgmem.runtime.deciding import Decider
from hgmem.runtime.refresh import RulesCopy
from hgmem.runtime.verdict import Verdict

log = logging.getLogger(__name__)
EXIT_S: Final = 2.0


class Runtime:
    """What the sync and the async client share: everything that raises nothing and waits for nobody long."""

    def __init__(self, url: str | None = None, key: str | None = None, **settings: Any) -> None:
        """``settings`` are those of :class:`~hgmem.api.settings.Settings`; the environment fills the gaps.

        Raises:
            ConfigError: a setting is wrong.
        """
        self.settings: Settings = load_settings({"url": url, "key": key, **settings})
        self._asking = Api(self.settings, timeout_s=self.settings.deadline_s)
        self._sending = Api(self.settings, timeout_s=10.0)
        self.recorder = Recorder(
            self.settings.folder, self.settings.spool_bytes,
            self._sending.record_experience, self._sending.post_receipts,
            sync_each=self.settings.fsync == "always",
        )  # fmt: skip
        self.rules = RulesCopy(self.settings, self._sending.get_ruleset)
        self.decider = Decider(self.settings, self.rules, self._asking.get_corrections, self.recorder.note)
        self._at_close: list[Callable[[Any], None]] = []
        self._closed = False
        atexit.register(_close_at_exit, weakref.ref(self), os.getpid())
        if not self.settings.is_on:
            log.info("HGMem is off: set HGMEM_URL and HGMEM_KEY to switch it on.")

    def decide(self, context: Mapping[str, Any]) -> Verdict:
        """A verdict on a context, within the deadline; raises nothing but NoDecision (fail closed)."""
        return self.decider.decide(context)

    async def adecide(self, context: Mapping[str, Any]) -> Verdict:
        """:meth:`decide`, without holding the event loop."""
        return await self.decider.adecide(context)

    def refresh_rules(self) -> bool:
        """Fetch the newest rules now; whether the server confirmed them. For programs that end soon.

        One that runs on looks for new rules every ``refresh_s`` anyway. Waits up to 10 seconds for a server
        that hangs; never raises.
        """
        try:
            self.rules.load()
            if self.settings.is_on:
                self.rules.refresh()
        except HGMemError as error:
            log.warning("The rules cannot be fetched: %s", error)
            return False
        return self.settings.is_on

    def record(self, document: Mapping[str, Any]) -> bool:
        """Record an experience document in the background; True when it is safe on disk. Never raises."""
        return self.settings.is_on and self.recorder.record(document)

    def flush(self, timeout_s: float = 5.0) -> bool:
        """Deliver what was recorded so far; whether the server has it all now."""
        return self.recorder.flush(timeout_s)

    def stats(self) -> Stats:
        """How recording goes."""
        return self.recorder.stats()

    def at_close(self, callback: Callable[[Any], None]) -> None:
        """Call this with the client before it closes, for what is to be recorded at the very end."""
        self._at_close.append(callback)

    def _close(self, timeout_s: float) -> bool:
        if self._closed:
            return True
        self._closed = True
        for callback in self._at_close:
            callback(self)
        done = self.recorder.close(timeout_s)
        self.rules.stop()
        self.decider.close()
        self._asking.close()
        self._sending.close()
        return done


class Client(Runtime):
    """The client for sync code, and for guarded tools of either kind. Thread-safe, fork-safe.

    ``api`` has the calls that wait and raise: ``client.api.locate("...")``; the most used are here as well.
    """

    def __init__(self, url: str | None = None, key: str | None = None, **settings: Any) -> None:
        """As :class:`Runtime`."""
        super().__init__(url, key, **settings)
        self.api = Api(self.settings)
        self.get_corrections = self.api.get_corrections
        self.record_experience = self.api.record_experience
        self.locate = self.api.locate
        self.judge_task = self.api.judge_task

    def close(self, timeout_s: float = EXIT_S) -> bool:
        """Deliver what is possible in the time, then let everything go; what is left stays on disk."""
        done = self._close(timeout_s)
        self.api.close()
        return done

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


class AsyncClient(Runtime):
    """The client for async code: the waiting calls are awaited."""

    def __init__(self, url: str | None = None, key: str | None = None, **settings: Any) -> None:
        """As :class:`Runtime`."""
        super().__init__(url, key, **settings)
        self.api = AsyncApi(self.settings)
        self.get_corrections = self.api.get_corrections
        self.record_experience = self.api.record_experience
        self.locate = self.api.locate
        self.judge_task = self.api.judge_task

    async def aclose(self, timeout_s: float = EXIT_S) -> bool:
        """:meth:`Client.close`, in a thread."""
        import asyncio

        done = await asyncio.to_thread(self._close, timeout_s)
        await self.api.close()
        return done

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.aclose()


def _close_at_exit(client: "weakref.ref[Runtime]", pid: int) -> None:
    found = client()
    if found is not None and os.getpid() == pid:
        found._close(EXIT_S)
