"""An OpenAI-compatible endpoint, well-behaved and not."""

from collections.abc import Iterator

import numpy as np
import pytest

from memory.live.embedders.centred import BACKGROUND, CentredEmbedder
from memory.live.embedders.compatible import BATCH, CompatibleModel, Endpoint
from memory.live.embedders.port import EmbedderError
from tests.memory.live.embedders.embedding_turns import (
    answer,
    babble,
    hang,
    pour,
    redirect,
    refuse,
    say,
    trickle,
    vector_of,
)
from tests.scripted import ScriptedServer, Turn, serve_script


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with serve_script(answer) as scripted:
        yield scripted


def model_of(server: ScriptedServer, timeout_s: float = 5.0) -> CompatibleModel:
    model = CompatibleModel(Endpoint(server.url, "small", 3, key="sesame", timeout_s=timeout_s))
    server.closing.callback(model.close)
    return model


def test_embed__texts__are_unit_rows_in_their_order(server: ScriptedServer) -> None:
    rows = model_of(server).embed(["one", "another sentence"], asked=False)

    for row, text in zip(rows, ["one", "another sentence"], strict=True):
        expected = np.array(vector_of(text)) / np.linalg.norm(vector_of(text))
        assert row == pytest.approx(expected, abs=1e-6)
    assert rows.dtype == np.float32
    assert server.asked == [
        {"input": ["one", "another sentence"], "model": "small", "encoding_format": "float"}
    ]
    assert server.keys == ["Bearer sesame"]


def test_embed__many_texts__go_in_batches(server: ScriptedServer) -> None:
    rows = model_of(server).embed([f"text {n}" for n in range(BATCH + 2)], asked=False)

    assert rows.shape == (BATCH + 2, 3)
    assert [len(body["input"]) for body in server.asked] == [BATCH, 2]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_embed__refused_at_first__is_tried_again(server: ScriptedServer, status: int) -> None:
    server.script = [refuse(status), refuse(status), answer]

    assert model_of(server).embed(["one"], asked=False).shape == (1, 3)
    assert len(server.asked) == 3


def test_embed__one_question__is_not_tried_again(server: ScriptedServer) -> None:
    server.script = [refuse(500), answer]

    with pytest.raises(EmbedderError, match="HTTP 500"):
        model_of(server).embed(["one"], asked=True)
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("turn", "message"),
    [
        pytest.param(refuse(401), "HTTP 401", id="refused"),
        pytest.param(babble, "not JSON", id="not JSON"),
        pytest.param(hang, "no answer in time", id="slow"),
        pytest.param(say([]), "no list of 1 vectors", id="not an object"),
        pytest.param(say({"data": []}), "no list of 1 vectors", id="too few"),
        pytest.param(say({"data": [{"index": 1, "embedding": [1, 2, 3]}]}), "missing", id="wrong index"),
        pytest.param(say({"data": [{"index": 0, "embedding": [1, 2]}]}), "vectors of 2", id="wrong size"),
        pytest.param(say({"data": [{"index": 0, "embedding": [1, "x", 3]}]}), "numbers", id="not numbers"),
        pytest.param(
            say({"data": [{"index": 0, "embedding": [1, float("nan"), 3]}]}), "not JSON", id="not a number"
        ),
        pytest.param(say({"data": [{"index": 0, "embedding": [1, 1e300, 3]}]}), "finite", id="too big"),
        pytest.param(say({"data": [{"index": 0, "embedding": [1, 10**400, 3]}]}), "finite", id="no float"),
        pytest.param(say({"data": [{"index": 0, "embedding": [[1], 2, 3]}]}), "numbers", id="nested"),
        pytest.param(say({"data": [{"index": [], "embedding": [1, 2, 3]}]}), "missing", id="index a list"),
        pytest.param(pour, "more than .* bytes", id="endless"),
        pytest.param(trickle, "no whole answer in time", id="trickling"),
    ],
)
def test_embed__a_bad_answer__says_what_is_wrong(server: ScriptedServer, turn: Turn, message: str) -> None:
    server.script = [turn]

    with pytest.raises(EmbedderError, match=message):
        model_of(server, timeout_s=0.2).embed(["one"], asked=True)


def test_embed__redirected__sends_nothing_elsewhere(server: ScriptedServer) -> None:
    with serve_script(answer) as elsewhere:
        server.script = [redirect(f"{elsewhere.url}/embeddings")]
        with pytest.raises(EmbedderError, match="HTTP 307"):
            model_of(server).embed(["one"], asked=True)

        assert elsewhere.asked == []


def test_embed__nobody_listens__is_no_connection() -> None:
    model = CompatibleModel(Endpoint("http://127.0.0.1:9/v1", "small", 3))

    with pytest.raises(EmbedderError, match="no connection"):
        model.embed(["one"], asked=True)


@pytest.mark.parametrize(
    ("url", "model", "dims", "named"),
    [
        pytest.param("", "small", 3, "HGMEM_EMBEDDINGS_URL", id="no address"),
        pytest.param("http://127.0.0.1/v1", "", 3, "HGMEM_EMBEDDINGS_MODEL", id="no model"),
        pytest.param("http://127.0.0.1/v1", "small", 0, "HGMEM_EMBEDDINGS_DIMS", id="no size"),
        pytest.param("http://127.0.0.1/v1", "small", -3, "between 1 and", id="impossible size"),
    ],
)
def test_endpoint__incomplete__names_the_variable(url: str, model: str, dims: int, named: str) -> None:
    with pytest.raises(EmbedderError, match=named):
        Endpoint(url, model, dims)


def test_endpoint__shown__hides_the_key() -> None:
    assert "sesame" not in repr(Endpoint("http://127.0.0.1/v1", "small", 3, key="sesame"))


def test_centred__first_text__asks_for_the_background_once(server: ScriptedServer) -> None:
    embedder = CentredEmbedder(model_of(server))
    embedder.embed_passages(["one"])
    embedder.embed_passages(["another"])

    asked = [body["input"] for body in server.asked]
    assert sorted(asked, key=len) == [["one"], ["another"], list(BACKGROUND)]


def test_centred__a_text_without_words__is_zero_and_not_asked_for(server: ScriptedServer) -> None:
    rows = CentredEmbedder(model_of(server)).embed_queries(["", "one", "  "])

    assert rows[[0, 2]].tolist() == [[0, 0, 0]] * 2
    assert np.linalg.norm(rows[1]) == pytest.approx(1)
    assert ["one"] in [body["input"] for body in server.asked]


def test_centred__no_texts__no_rows(server: ScriptedServer) -> None:
    assert CentredEmbedder(model_of(server)).embed_passages([]).shape == (0, 3)
    assert server.asked == []
