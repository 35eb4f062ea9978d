"""The copy of the rules in this process, looked after in the background."""

import logging
import random
import time
from collections.abc import Callable
from dataclasses import dataclass

from hgmem.api.calls import Answer
from hgmem.api.errors import ApiError, BadAnswer, HGMemError
from hgmem.api.settings import Settings
from hgmem.periodic import Periodic
from hgmem.runtime.breaker import LONGEST_S
from hgmem.runtime.bundle import SIGNATURE, Bundle, BundleFile, read_bundle

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Freshness:
    """How current the copy is. ``age_s``: since the server last confirmed it; None without one.

    ``origin`` is ``server``, ``disk`` or empty; ``problem`` says why the last look failed.
    """

    version: str
    rules: int
    age_s: float | None
    origin: str
    problem: str


class RulesCopy:
    """Loads the copy on disk, then asks the server every ``refresh_s`` seconds whether it is still current.

    While the server is away the last good copy goes on being used, and is asked for less and less often.
    """

    def __init__(self, settings: Settings, fetch: Callable[[str], Answer]) -> None:
        self._settings = settings
        self._fetch = fetch
        self._file = BundleFile(settings)
        self._thread = Periodic("hgmem-rules", settings.refresh_s, self.turn)
        self._confirmed_at: float | None = None
        self._origin = ""
        self._problem = ""
        self._failures = 0
        self._not_before = 0.0
        self._tried_disk = False
        self.bundle: Bundle | None = None

    def start(self) -> None:
        """Look after the copy from now on; costs nothing when that is so already."""
        if not self._thread.running:
            self._thread.start()
            self._thread.wake()

    def turn(self) -> None:
        """One look: the disk the first time, then the server unless it is too early to ask again."""
        self.load()
        if time.monotonic() >= self._not_before:
            try:
                self.refresh()
            except HGMemError as error:
                self._put_off(error)

    def load(self) -> None:
        """Take the copy on disk over, once, where there is a good one."""
        if self._tried_disk:
            return
        self._tried_disk = True
        found = self._file.load(self._settings)
        if found is not None:
            self.bundle, self._confirmed_at = found
            self._origin = "disk"

    def refresh(self) -> bool:
        """Ask the server now; whether the rules changed. Raises an HGMemError when they cannot be had."""
        old = self.bundle
        answer = self._fetch(old.etag if old else "")
        changed = answer.status != 304
        if changed:
            signature, etag = answer.headers.get(SIGNATURE, ""), answer.headers.get("etag", "")
            self.bundle = read_bundle(answer.body, signature, etag, self._settings, old)
            self._file.save(answer.body, signature, etag)
        self._confirmed_at, self._origin, self._problem, self._failures = time.time(), "server", "", 0
        return changed

    def freshness(self) -> Freshness:
        """How current the copy is."""
        bundle, at = self.bundle, self._confirmed_at
        return Freshness(
            version=bundle.version if bundle else "",
            rules=len(bundle.ruleset.rules) if bundle else 0,
            age_s=None if at is None or bundle is None else max(0.0, time.time() - at),
            origin=self._origin,
            problem=self._problem,
        )

    def stop(self) -> None:
        """Look after it no longer."""
        self._thread.stop(timeout_s=1.0)

    def _put_off(self, error: HGMemError) -> None:
        self._failures += 1
        pause_s = min(self._settings.refresh_s * float(2 ** min(self._failures, 8)), LONGEST_S)
        if isinstance(error, ApiError | BadAnswer):
            pause_s = LONGEST_S
        self._not_before = time.monotonic() + pause_s * (1 + random.random() * 0.2)  # noqa: S311 - spreads load
        if str(error) != self._problem:
            log.warning("The rules cannot be refreshed; the last good copy is used: %s", error)
        self._problem = str(error)
