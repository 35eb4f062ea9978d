"""One conversation with an OpenAI-compatible chat endpoint that may be slow, broken or away.

Never call it inside a transaction. The total time is bounded however the endpoint behaves: it is asked again
after 429, 5xx and broken connections, as late as ``Retry-After`` says, until the time is up.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, cast

import msgspec
import openai
from django.conf import settings

from memory.domain.plain_json import storable

MAX_TRIES = 4
FIRST_WAIT_S = 1.0
MAX_WAIT_S = 20.0
MAX_ANSWER_BYTES = 2_000_000
RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})

Message = dict[str, str]
log = logging.getLogger(__name__)


class ChatError(Exception):
    """The endpoint gave no usable answer. The text says what it did, without anything it sent."""


@dataclass(frozen=True)
class Endpoint:
    """Where the model is asked; ``timeout_s`` for a whole conversation, prices per million tokens."""

    url: str
    key: str
    model: str
    timeout_s: float = 60.0
    max_tokens: int = 4_000
    price_in: float | None = None
    price_out: float | None = None


@dataclass
class Spent:
    """What a conversation has cost so far. A request without ``usage`` in its answer counts no tokens."""

    requests: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    def cost(self, endpoint: Endpoint) -> dict[str, Any]:
        """For the proposal's ``cost``; ``price`` only where both prices are known."""
        cost: dict[str, Any] = {
            "model": endpoint.model,
            "requests": self.requests,
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
        }
        if endpoint.price_in is not None and endpoint.price_out is not None:
            price = self.tokens_in * endpoint.price_in + self.tokens_out * endpoint.price_out
            cost["price"] = round(price / 1_000_000, 6)
        return cost


@dataclass(frozen=True)
class Reply:
    """What the model said. ``is_cut_off``: it had more to say than ``max_tokens``."""

    text: str
    is_cut_off: bool


class _Said(msgspec.Struct):
    content: str | None = None


class _Choice(msgspec.Struct):
    message: _Said
    finish_reason: str | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int | None = 0
    completion_tokens: int | None = 0


class _Answer(msgspec.Struct):
    choices: list[_Choice]
    usage: _Usage | None = None


class _TryAgain(Exception):
    """This request failed in a way that may pass. ``wait_s`` is what the endpoint asked for, if it did."""

    def __init__(self, said: str, wait_s: float | None = None) -> None:
        super().__init__(said)
        self.wait_s = wait_s


def configured_endpoint() -> Endpoint | None:
    """The endpoint of the environment (``HGMEM_LLM_URL`` and ``HGMEM_LLM_MODEL``), or None."""
    if not (settings.LLM_URL and settings.LLM_MODEL):
        return None
    return Endpoint(
        url=settings.LLM_URL,
        key=settings.LLM_KEY,
        model=settings.LLM_MODEL,
        timeout_s=settings.LLM_TIMEOUT_S,
        max_tokens=settings.LLM_MAX_TOKENS,
        price_in=settings.LLM_PRICE_IN,
        price_out=settings.LLM_PRICE_OUT,
    )


class Chat:
    """A conversation of at most ``endpoint.timeout_s`` seconds, all its requests and waits together."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.spent = Spent()
        self._until = time.monotonic() + endpoint.timeout_s

    def ask(self, messages: Sequence[Message]) -> Reply:
        """The model's next words. Raises :class:`ChatError`."""
        said = ""
        for attempt in range(MAX_TRIES):
            try:
                return self._read(self._send(messages))
            except _TryAgain as problem:
                said = str(problem)
                wait = problem.wait_s if problem.wait_s is not None else FIRST_WAIT_S * 2**attempt
            wait = min(wait, MAX_WAIT_S)
            if attempt + 1 == MAX_TRIES or wait >= self._left():
                break
            time.sleep(wait)
        raise ChatError(said)

    def _left(self) -> float:
        return self._until - time.monotonic()

    def _send(self, messages: Sequence[Message]) -> bytes:
        left = self._left()
        if left <= 0:
            raise ChatError(f"The model took longer than {self.endpoint.timeout_s:g} s.")
        self.spent.requests += 1
        client = openai.OpenAI(
            base_url=self.endpoint.url,
            api_key=self.endpoint.key or "none",
            timeout=left + 1.0,
            max_retries=0,
            http_client=openai.DefaultHttpxClient(follow_redirects=False),  # what agents said stays here
        )
        with _closed_after(left, client.close) as is_late, client:
            try:
                return self._body(client, messages)
            except openai.APIStatusError as error:
                raise _refusal(error) from error
            except ChatError:
                raise
            except Exception as error:  # cut off, reset, refused: the HTTP client below differs by version
                if isinstance(error, openai.APITimeoutError) or is_late.is_set():
                    raise ChatError(f"The model took longer than {self.endpoint.timeout_s:g} s.") from error
                log.info("The chat endpoint: %s", type(error).__name__)
                raise _TryAgain("The connection to the model broke.") from error

    def _body(self, client: openai.OpenAI, messages: Sequence[Message]) -> bytes:
        create = client.chat.completions.with_streaming_response.create
        request = create(
            model=self.endpoint.model,
            messages=cast("Any", list(messages)),
            max_tokens=self.endpoint.max_tokens,
            temperature=0,
        )
        body = b""
        with request as response:
            for chunk in response.iter_bytes():
                body += chunk
                if len(body) > MAX_ANSWER_BYTES:
                    raise ChatError(f"The model's answer has more than {MAX_ANSWER_BYTES:,} bytes.")
        return body

    def _read(self, body: bytes) -> Reply:
        try:
            answer = msgspec.json.decode(body, type=_Answer)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise _TryAgain("The endpoint's answer is no chat completion.") from error
        if answer.usage:
            self.spent.tokens_in += max(0, answer.usage.prompt_tokens or 0)
            self.spent.tokens_out += max(0, answer.usage.completion_tokens or 0)
        text = answer.choices[0].message.content if answer.choices else None
        if not text:
            raise _TryAgain("The model said nothing.")
        return Reply(storable(text), answer.choices[0].finish_reason == "length")


@contextmanager
def _closed_after(seconds: float, close: Callable[[], None]) -> Iterator[threading.Event]:
    """Break the connection after so long; yields the event that is set then.

    The client's own time limit is for each read: an endpoint that sends a byte now and then never reaches it.
    """
    is_late = threading.Event()

    def end() -> None:
        is_late.set()
        close()

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield is_late
    finally:
        timer.cancel()


def _refusal(error: openai.APIStatusError) -> Exception:
    status = error.status_code
    if status not in RETRIED:
        return ChatError(f"The endpoint refused with status {status}.")
    said = f"The endpoint answered with status {status}."
    return _TryAgain(said, read_retry_after(error.response.headers.get("retry-after", ""), datetime.now(UTC)))


def read_retry_after(value: str, now: datetime) -> float | None:
    """Seconds to wait by a ``Retry-After`` header (RFC 9110, 10.2.3: seconds or a date), None for none."""
    text = value.strip()
    if text.replace(".", "", 1).isdecimal() and text.isascii() and len(text) < 10:
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())
