"""The API, async. One instance belongs to one event loop; a forked child makes its own."""

import asyncio
import os
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


class AsyncApi:
    """:class:`hgmem.api.sync.Api`, awaited: it raises the same errors.

    ``timeout_s`` bounds each wait for the network, not a whole call.
    """

    def __init__(self, settings: Settings, timeout_s: float = 30.0) -> None:
        self._settings = settings
        self._timeout_s = timeout_s
        self._pid = 0
        self._http: httpx.AsyncClient | None = None

    async def get_corrections(self, context: Mapping[str, Any], *, explain: bool = False) -> Corrections:
        """Ask the server what the rules make of a call. ``explain`` adds rules that nearly matched."""
        return await self.send(calls.get_corrections(context, explain=explain))

    async def record_experience(
        self, documents: Mapping[str, Any] | Sequence[Mapping[str, Any]]
    ) -> list[ItemResult]:
        """Record one task or many now; the result of each, in order."""
        return await self.send(calls.record_experience(documents))

    async def post_receipts(self, decisions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Tell the server of decisions that were made here; the result of each, in order."""
        return await self.send(calls.post_receipts(decisions))

    async def locate(self, goal: str, **options: Any) -> Located:
        """Paths that fit a goal; see :func:`hgmem.api.calls.locate`."""
        return await self.send(calls.locate(goal, **options))

    async def judge_task(self, uuid: str, outcome: Mapping[str, Any]) -> dict[str, Any]:
        """Say how a recorded task ended."""
        return await self.send(calls.judge_task(uuid, outcome))

    async def whoami(self) -> Me:
        """Whose key this is, and what it may do."""
        return await self.send(calls.whoami())

    async def get_path(self, uuid: str) -> dict[str, Any]:
        """One path."""
        return await self.send(calls.get_path(uuid))

    async def get_path_prompt(self, uuid: str, tokens: int | None = None) -> PathPrompt:
        """A path as text for a model."""
        return await self.send(calls.get_path_prompt(uuid, tokens))

    async def list_paths(self, **filters: Any) -> Page:
        """A page of paths."""
        return await self.send(calls.list_paths(**filters))

    async def get_rule(self, uuid: str) -> dict[str, Any]:
        """One rule."""
        return await self.send(calls.get_rule(uuid))

    async def list_rules(self, **filters: Any) -> Page:
        """A page of rules."""
        return await self.send(calls.list_rules(**filters))

    async def get_experience(self, uuid: str, after_seq: int | None = None) -> dict[str, Any]:
        """A recorded task with its calls."""
        return await self.send(calls.get_experience(uuid, after_seq))

    async def list_experiences(self, **filters: Any) -> Page:
        """A page of recorded tasks, newest first."""
        return await self.send(calls.list_experiences(**filters))

    async def upload_import(self, file: IO[bytes], name: str, format_name: str = "") -> dict[str, Any]:
        """Hand in a file of recorded runs; nothing is recorded before it is applied."""
        return await self.send(calls.upload_import(file, name, format_name))

    async def get_import(self, uuid: str) -> dict[str, Any]:
        """How far an import is."""
        return await self.send(calls.get_import(uuid))

    async def apply_import(self, uuid: str) -> dict[str, Any]:
        """Record the runs of a planned import."""
        return await self.send(calls.apply_import(uuid))

    async def get_ruleset(self, etag: str = "") -> calls.Answer:
        """The compiled rules' documents, or a 304."""
        return await self.send(calls.get_ruleset(etag))

    async def send(self, request: calls.Request[T]) -> T:
        """Carry a call out, again where that is safe and promising."""
        attempt = 0
        while True:
            attempt += 1
            try:
                return calls.read_answer(request, await self._once(request))
            except ApiError as error:
                wait_s = calls.wait_before_retry(error, attempt) if request.may_repeat else None
                if wait_s is None:
                    raise
                await asyncio.sleep(wait_s)

    async def close(self) -> None:
        """Close the connections. The next call opens new ones."""
        http, self._http = self._http, None
        if http is not None and self._pid == os.getpid():
            await http.aclose()

    async def _once(self, request: calls.Request[Any]) -> calls.Answer:
        import httpx  # half of what importing this library would cost, and many processes never send

        try:
            async with self._client().stream(
                request.method, request.path, params=dict(request.params), content=request.body,
                headers=dict(request.headers),
            ) as response:  # fmt: skip
                body, size = [], 0
                async for chunk in response.aiter_bytes():
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

    def _client(self) -> "httpx.AsyncClient":
        import httpx

        if self._http is None or self._pid != os.getpid():
            self._pid = os.getpid()
            self._http = httpx.AsyncClient(**client_options(self._settings, self._timeout_s))
        return self._http
