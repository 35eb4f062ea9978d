"""A chat endpoint that misbehaves in every way: each is noticed, and none costs more than the time limit."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from memory.live import chat
from memory.live.chat import Chat, ChatError, Endpoint, configured_endpoint, read_retry_after
from tests.memory.background.rewriters.chat_turns import cut_off, dripping, raw, says, silent, status
from tests.scripted import ScriptedServer, Turn, serve_script

ASK = [{"role": "user", "content": "hello"}]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    monkeypatch.setattr(chat, "FIRST_WAIT_S", 0.01)
    with serve_script() as running:
        yield running


def talk(server: ScriptedServer, *script: Turn, timeout_s: float = 5.0) -> Chat:
    server.script = list(script)
    return Chat(Endpoint(url=server.url, key="k1", model="m", timeout_s=timeout_s, max_tokens=77))


def test_ask__proper_answer__is_read_and_counted(server: ScriptedServer) -> None:
    conversation = talk(server, says("hi"))

    reply = conversation.ask(ASK)

    assert (reply.text, reply.is_cut_off) == ("hi", False)
    assert server.keys == ["Bearer k1"]
    assert {name: server.asked[0][name] for name in ("model", "messages", "max_tokens")} == {
        "model": "m", "messages": ASK, "max_tokens": 77,
    }  # fmt: skip
    assert conversation.spent.cost(conversation.endpoint) == {
        "model": "m", "requests": 1, "tokens_in": 100, "tokens_out": 20,
    }  # fmt: skip


@pytest.mark.parametrize(
    "first",
    [
        pytest.param(status(429, Retry_After="0"), id="429"),
        pytest.param(status(500), id="500"),
        pytest.param(status(503, Retry_After="0.01"), id="503"),
        pytest.param(cut_off, id="cut off"),
        pytest.param(raw(b"<html>welcome to the wifi</html>"), id="not JSON"),
        pytest.param(raw(b""), id="empty"),
        pytest.param(raw(b"[1, 2]"), id="wrong shape"),
        pytest.param(raw(b'{"choices": []}'), id="no choice"),
        pytest.param(raw(b'{"choices": [{"message": {"content": null}}]}'), id="no words"),
        pytest.param(raw(b'{"choices": [{"message": {"content": "\xff"}}]}'), id="not UTF-8"),
    ],
)
def test_ask__something_that_may_pass__is_asked_again(server: ScriptedServer, first: Turn) -> None:
    conversation = talk(server, first, says("hi"))

    assert conversation.ask(ASK).text == "hi"
    assert conversation.spent.requests == 2


@pytest.mark.parametrize(
    ("turn", "said", "requests"),
    [
        pytest.param(status(500), "status 500", chat.MAX_TRIES, id="always 500"),
        pytest.param(cut_off, "broke", chat.MAX_TRIES, id="always cut off"),
        pytest.param(status(401), "refused with status 401", 1, id="a wrong key"),
        pytest.param(status(404), "refused with status 404", 1, id="no such model"),
        pytest.param(status(429, Retry_After="3600"), "status 429", 1, id="wait longer than there is time"),
        pytest.param(raw(b"x" * (chat.MAX_ANSWER_BYTES + 1)), "more than", 1, id="endless"),
    ],
)
def test_ask__something_that_stays__is_given_up(
    server: ScriptedServer, turn: Turn, said: str, requests: int
) -> None:
    conversation = talk(server, turn)

    with pytest.raises(ChatError, match=said):
        conversation.ask(ASK)
    assert conversation.spent.requests == requests


@pytest.mark.parametrize(
    "turn",
    [
        pytest.param(silent, id="silent"),
        pytest.param(dripping(200), id="a byte now and then"),
        pytest.param(dripping(500), id="an error, a byte now and then"),
    ],
)
def test_ask__slow_endpoint__costs_no_more_than_the_time_limit(server: ScriptedServer, turn: Turn) -> None:
    conversation = talk(server, turn, timeout_s=0.4)
    start = time.monotonic()

    with pytest.raises(ChatError, match=r"longer than 0\.4 s"):
        conversation.ask(ASK)
    assert time.monotonic() - start < 2.5


def test_ask__time_is_up__sends_nothing(server: ScriptedServer) -> None:
    conversation = talk(server, says("hi"), timeout_s=0.0)

    with pytest.raises(ChatError, match="longer than"):
        conversation.ask(ASK)
    assert server.asked == []


def test_ask__nobody_listens__is_given_up(server: ScriptedServer) -> None:
    conversation = Chat(Endpoint(url="http://127.0.0.1:1/v1", key="", model="m", timeout_s=5))

    with pytest.raises(ChatError, match="broke"):
        conversation.ask(ASK)


def test_cost__prices_are_known__is_in_money(server: ScriptedServer) -> None:
    endpoint = Endpoint(url=server.url, key="", model="m", price_in=2.0, price_out=10.0)
    server.script = [
        says("hi", usage={"prompt_tokens": 1_000, "completion_tokens": 200, "total_tokens": 1_200})
    ]
    conversation = Chat(endpoint)
    conversation.ask(ASK)

    assert conversation.spent.cost(endpoint)["price"] == 0.004


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        pytest.param("7", 7.0, id="seconds"),
        pytest.param("Mon, 02 Mar 2026 12:00:30 GMT", 30.0, id="a date"),
        pytest.param("Mon, 02 Mar 2026 11:00:00 GMT", 0.0, id="a date that is past"),
        pytest.param("", None, id="none"),
        pytest.param("soon", None, id="no time at all"),
        pytest.param("-5", None, id="negative"),
        pytest.param("9" * 400, None, id="endless"),
    ],
)
def test_retry_after__every_form__is_read(value: str, seconds: float | None) -> None:
    assert read_retry_after(value, datetime(2026, 3, 2, 12, tzinfo=UTC)) == seconds


def test_endpoint__without_a_url_or_model__is_none(settings: object) -> None:
    settings.LLM_URL, settings.LLM_MODEL = "http://127.0.0.1:9/v1", ""
    assert configured_endpoint() is None
    settings.LLM_MODEL = "m"
    assert configured_endpoint() is not None
