"""The API, sync. Thread-safe; a forked child opens connections of its own."""

import os
import time
from collections.abc import Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, TypeVar

from hgmem.api import calls
from hgmem.api.errors import ApiError, BadAnswer, ConnectionFailed, DeadlineExceeded
from hgmem.api.identity import client_options
from hgmem.api.settings import Settings
from hgmem.api.shapes import Corrections, ItemResult, Located, Me, Page, PathPrompt

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")


class Api:
    """Raises :class:`~hgmem.api.errors.ConnectionFailed` or an ``ApiError`` where something goes wrong.

    ``timeout_s`` bounds each wait for the network, not a whole call.
    """

    def __init__(self, settings: Settings, timeout_s: float = 30.0) -> None:
        self._settings = settings
        self._timeout_s = timeout_s
        self._pid = 0
        self._http: httpx.Client | None = None

    def get_corrections(self, context: Mapping[str, Any], *, explain: bool = False) -> Corrections:
        """Ask the server what the rules make of a call. ``explain`` adds rules that nearly matched."""
        return self.send(calls.get_corrections(context, explain=explain))

    def record_experience(
        self, documents: Mapping[str, Any] | Sequence[Mapping[str, Any]]
    ) -> list[ItemResult]:
        """Record one task or many now; the result of each, in order."""
        return self.send(calls.record_experience(documents))

    def post_receipts(self, decisions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Tell the server of decisions that were made here; the result of each, in order."""
        return self.send(calls.post_receipts(decisions))

    def locate(self, goal: str, **options: Any) -> Located:
        """Paths that fit a goal; see :func:`hgmem.api.calls.locate`."""
        return self.send(calls.locate(goal, **options))

    def judge_task(self, uuid: str, outcome: Mapping[str, Any]) -> dict[str, Any]:
        """Say how a recorded task ended."""
        return self.send(calls.judge_task(uuid, outcome))

    def whoami(self) -> Me:
        """Whose key this is, and what it may do."""
        return self.send(calls.whoami())

    def get_path(self, uuid: str) -> dict[str, Any]:
        """One path."""
        return self.send(calls.get_path(uuid))

    def get_path_prompt(self, uuid: str, tokens: int | None = None) -> PathPrompt:
        """A path as text for a model."""
        return self.send(calls.get_path_prompt(uuid, tokens))

    def list_paths(self, **filters: Any) -> Page:
        """A page of paths."""
        return self.send(calls.list_paths(**filters))

    def get_rule(self, uuid: str) -> dict[str, Any]:
        """One rule."""
        return self.send(calls.get_rule(uuid))

    def list_rules(self, **filters: Any) -> Page:
        """A page of rules."""
        return self.send(calls.list_rules(**filters))

    def get_experience(self, uuid: str, after_seq: int | None = None) -> dict[str, Any]:
        """A recorded task with its calls."""
        return self.send(calls.get_experience(uuid, after_seq))

    def list_experiences(self, **filters: Any) -> Page:
        """A page of recorded tasks, newest first."""
        return self.send(calls.list_experiences(**filters))

    def upload_import(self, file: IO[bytes], name: str, format_name: str = "") -> dict[str, Any]:
        """Hand in a file of recorded runs; nothing is recorded before it is applied."""
        return self.send(calls.upload_import(file, name, format_name))

    def get_import(self, uuid: str) -> dict[str, Any]:
        """How far an import is."""
        return self.send(calls.get_import(uuid))

    def apply_import(self, uuid: str) -> dict[str, Any]:
        """Record the runs of a planned import."""
        return self.send(calls.apply_import(uuid))

    def get_ruleset(self, etag: str = "") -> calls.Answer:
        """The compiled rules' documents, or a 304."""
        return self.send(calls.get_ruleset(etag))

    def send(self, request: calls.Request[T]) -> T:
        """Carry a call out, again where that is safe and promising."""
        attempt = 0
        while True:
            attempt += 1
            try:
                return calls.read_answer(request, self._once(request))
            except ApiError as error:
                wait_s = calls.wait_before_retry(error, attempt) if request.may_repeat else None
                if wait_s is None:
                    raise
                time.sleep(wait_s)

    def close(self) -> None:
        """Close the connections. The next call opens new ones."""
        http, self._http = self._http, None
        if http is not None and self._pid == os.getpid():
            http.close()

    def _once(self, request: calls.Request[Any]) -> calls.Answer:
        import httpx  # half of what importing this library would cost, and many processes never send

        try:
            with self._client().stream(
                request.method, request.path, params=dict(request.params), content=request.body,
                headers=dict(request.headers),
            ) as response:  # fmt: skip
                body, size = [], 0
                for chunk in response.iter_bytes():
                    size += len(chunk)
                    if size > request.max_bytes:
                        raise BadAnswer(f"The answer is larger than {request.max_bytes} bytes.")
                    body.append(chunk)
                headers = {name.lower(): value for name, value in response.headers.items()}
                return calls.Answer(response.status_code, headers, b"".join(body))
        except httpx.TimeoutException as error:
            raise DeadlineExceeded(f"No answer in time ({type(error).__name__}).") from None
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            raise ConnectionFailed(f"The server cannot be reached: {error or type(error).__name__}") from None

    def _client(self) -> "httpx.Client":
        import httpx

        if self._http is None or self._pid != os.getpid():
            self._pid = os.getpid()
            self._http = httpx.Client(**client_options(self._settings, self._timeout_s))
        return self._http
