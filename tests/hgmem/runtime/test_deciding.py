"""A verdict in time whatever the server does. Deadlines here are generous: figures are in the benchmarks."""

import asyncio
import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import hgmem
from hgmem.runtime.breaker import ENOUGH

DEADLINE_S = 0.15
SLACK_S = 1.0
CONTEXT = {"point": "before", "tool": "search", "input": {"q": "x"}}
ANSWER = {
    "tool": "search", "input": {"q": "y"}, "block": [], "ask": [], "hints": [], "insert_steps": [],
    "after_call": [], "applied": [{"rule": "r"}], "suppressed": [], "conflicts": [], "errors": [],
    "ruleset_version": "7", "receipt": "a.b",
}  # fmt: skip


def http(body: bytes, status: str = "200 OK") -> bytes:
    return b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s" % (status.encode(), len(body), body)


@contextmanager
def serve(behave: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server of raw sockets: each connection is handed to ``behave`` after its request was read."""
    listener = socket.create_server(("127.0.0.1", 0))
    over = threading.Event()

    def handle(connection: socket.socket) -> None:
        with connection:
            try:
                while not over.is_set() and connection.recv(65_536):
                    behave(connection)
            except OSError:
                pass

    def accept() -> None:
        while not over.is_set():
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=handle, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        over.set()
        listener.close()


def trickle(connection: socket.socket) -> None:
    """A byte now and then, for ever: no single wait is long."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    for _ in range(200):
        connection.sendall(b" ")
        time.sleep(0.02)


def hang(_connection: socket.socket) -> None:
    time.sleep(3)


def cut(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{")
    connection.shutdown(socket.SHUT_RDWR)


def say(text: bytes, status: str = "200 OK") -> Callable[[socket.socket], None]:
    return lambda connection: connection.sendall(http(text, status))


@contextmanager
def client_of(url: str, home: Path, **settings: Any) -> Iterator[hgmem.Client]:
    options = {"deadline_s": DEADLINE_S, "evaluate": "server", **settings}
    with hgmem.Client(url, "hgm_secret", home=home, **options) as client:
        yield client


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize(
    ("behave", "why"),
    [
        pytest.param(hang, "deadline", id="hangs"),
        pytest.param(trickle, "deadline", id="trickles"),
        pytest.param(cut, "connection", id="cuts"),
        pytest.param(say(b"no json"), "refused", id="no json"),
        pytest.param(say(b"[]"), "refused", id="no object"),
        pytest.param(say(b"{}"), "bad answer", id="no decision"),
        pytest.param(say(b"<html>", "502 Bad Gateway"), "connection", id="bad gateway"),
        pytest.param(say(b'{"code": "x", "detail": "bad key"}', "401 Unauthorized"), "refused", id="key"),
        pytest.param(say(b"nonsense", "200 OK\r\nX: " + "y" * 2_000_000), "connection", id="endless header"),
    ],
)
def test_decide__server_misbehaves__is_open_in_time(
    behave: Callable[[socket.socket], None], why: str, is_async: bool, tmp_path: Path
) -> None:
    deadline_s = DEADLINE_S if why == "deadline" else 10.0
    with serve(behave) as url, client_of(url, tmp_path, deadline_s=deadline_s) as client:
        began = time.perf_counter()
        verdict = asyncio.run(client.adecide(CONTEXT)) if is_async else client.decide(CONTEXT)
        took_s = time.perf_counter() - began
    assert (verdict.source, verdict.tool, verdict.input) == ("open", "search", {"q": "x"})
    assert verdict.why_open.startswith(why)
    assert took_s < deadline_s + SLACK_S


def test_decide__server_answers__is_its_decision(tmp_path: Path) -> None:
    answer = say(json.dumps(ANSWER).encode())
    with serve(answer) as url, client_of(url, tmp_path, deadline_s=5) as client:
        verdict = client.decide(CONTEXT)
    assert (verdict.source, verdict.input, verdict.receipt) == ("server", {"q": "y"}, "a.b")


def test_decide__nothing_listens__the_breaker_spares_the_wait(tmp_path: Path) -> None:
    with client_of("http://127.0.0.1:9", tmp_path, deadline_s=10) as client:
        reasons = [client.decide(CONTEXT).why_open for _ in range(ENOUGH + 2)]
    assert reasons == ["connection"] * ENOUGH + ["breaker"] * 2


def test_refresh_rules__nothing_listens__says_so_and_raises_nothing(tmp_path: Path) -> None:
    with hgmem.Client("http://127.0.0.1:9", "hgm_unknown", home=tmp_path) as client:
        assert client.refresh_rules() is False


def test_decide__all_askers_hang__others_go_on_at_once(tmp_path: Path) -> None:
    with serve(hang) as url, client_of(url, tmp_path, deadline_s=2) as client:
        threads = [threading.Thread(target=client.decide, args=(CONTEXT,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        while client.decider._askers._value:  # until all of them wait
            time.sleep(0.005)
        began = time.perf_counter()
        assert client.decide(CONTEXT).why_open == "busy"
        assert time.perf_counter() - began < 1
        for thread in threads:
            thread.join()


def test_adecide__server_hangs__the_loop_goes_on(tmp_path: Path) -> None:
    async def run(client: hgmem.Client) -> int:
        ticks = 0
        deciding = asyncio.create_task(client.adecide(CONTEXT))
        while not deciding.done():
            await asyncio.sleep(0.005)
            ticks += 1
        return ticks

    with serve(hang) as url, client_of(url, tmp_path) as client:
        assert asyncio.run(run(client)) >= 3


def test_adecide__cancelled__is_cancelled_and_the_next_one_works(tmp_path: Path) -> None:
    async def run(client: hgmem.Client) -> str:
        deciding = asyncio.create_task(client.adecide(CONTEXT))
        await asyncio.sleep(0.02)
        deciding.cancel()
        with pytest.raises(asyncio.CancelledError):
            await deciding
        return (await client.adecide(CONTEXT)).why_open

    with serve(hang) as url, client_of(url, tmp_path) as client:
        assert asyncio.run(run(client)) == "deadline"


def test_decide__after_a_fork__the_child_asks_for_itself(tmp_path: Path) -> None:
    with serve(say(json.dumps(ANSWER).encode())) as url, client_of(url, tmp_path, deadline_s=5) as client:
        assert client.decide(CONTEXT).source == "server"
        pid = os.fork()
        if pid == 0:
            os._exit(0 if client.decide(CONTEXT).source == "server" else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


@pytest.mark.parametrize("tool", ["pay_bill", "search"])
def test_decide__fails_closed__only_for_its_tools_and_before_a_call(tool: str, tmp_path: Path) -> None:
    with client_of("http://127.0.0.1:9", tmp_path, fail_closed=("pay*",)) as client:
        context = {**CONTEXT, "tool": tool}
        if tool == "pay_bill":
            with pytest.raises(hgmem.NoDecision, match="connection"):
                client.decide(context)
        assert client.decide({**context, "point": "after"}).source == "open"


def test_decide__context_is_wrong__is_open_and_says_why(tmp_path: Path) -> None:
    from hgmem.runtime.offline import OfflineClient

    client = OfflineClient(home=tmp_path)
    assert client.decide({"point": "never"}).why_open.startswith("bad context: point")
    assert client.decide({"tool": "t", "input": {"a": object()}}).why_open.startswith("bad context: input.a")


def test_guard__server_dies_in_the_middle__no_call_breaks(tmp_path: Path) -> None:
    calls = 0

    def die_after_two(connection: socket.socket) -> None:
        nonlocal calls
        calls += 1
        if calls > 2:
            raise OSError("gone")
        connection.sendall(http(json.dumps(ANSWER).encode()))

    with serve(die_after_two) as url, client_of(url, tmp_path, deadline_s=10) as client:
        guarded = hgmem.guard(lambda q: q.upper(), name="search", client=client)
        assert [guarded("x") for _ in range(6)] == ["Y", *["X"] * 5]
        assert client.stats().recorded == 6
