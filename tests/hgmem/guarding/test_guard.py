"""``guard``: what callers and models see, and what is recorded."""

import asyncio
import threading
from dataclasses import dataclass
from typing import Any

import pytest

import hgmem
from hgmem.runtime.offline import OfflineClient

CITY = {"transform": "set_default", "field": "city", "default_value": "Lima"}


def rule(action: str, detail: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"applies_to": "TOOL_CALL:weather", "action_type": action, "action_detail": detail, **more}


def with_rules(*rules: dict[str, Any], **settings: Any) -> OfflineClient:
    return OfflineClient(rules, **settings)


def weather(city: str = "", *, days: int = 1) -> str:
    """The weather of a city."""
    if not city:
        raise ValueError("no city")
    return f"sunny in {city} for {days}"


async def aweather(city: str = "", *, days: int = 1) -> str:
    await asyncio.sleep(0)
    return weather(city, days=days)


def call(client: OfflineClient, *args: Any, is_async: bool, **keywords: Any) -> Any:
    if is_async:
        guarded = hgmem.guard(aweather, name="weather", client=client)
        return asyncio.run(guarded(*args, **keywords))
    return hgmem.guard(weather, client=client)(*args, **keywords)


@pytest.fixture(params=[False, True], ids=["sync", "async"])
def is_async(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def test_guard__no_rules__records_the_call(is_async: bool) -> None:
    client = with_rules()
    assert call(client, "Rome", days=2, is_async=is_async) == "sunny in Rome for 2"
    (recorded,) = client.calls
    assert (recorded["tool"], recorded["status"], recorded["seq"]) == ("weather", "ok", 0)
    assert recorded["input"] == {"city": "Rome", "days": 2}
    assert recorded["output"] == "sunny in Rome for 2"
    assert recorded["receipt"]


def test_guard__tool_raises__is_recorded_and_goes_on(is_async: bool) -> None:
    client = with_rules()
    with pytest.raises(ValueError, match="no city"):
        call(client, is_async=is_async)
    (recorded,) = client.calls
    assert (recorded["status"], recorded["error"]) == ("error", {"type": "ValueError", "message": "no city"})
    assert recorded["input"] == {}


def test_guard__transform__reaches_the_tool(is_async: bool) -> None:
    client = with_rules(rule("PARAMETER_TRANSFORM", CITY, condition="input.city == null"))
    assert call(client, is_async=is_async) == "sunny in Lima for 1"
    assert client.calls[0]["input"] == {"city": "Lima"}


def test_guard__blocked__says_so_to_a_model(is_async: bool) -> None:
    client = with_rules(rule("PRE_CALL_VALIDATION", {"message": "Name a city first"}))
    with pytest.raises(hgmem.Blocked, match=r"The call was not made: Name a city first\."):
        call(client, is_async=is_async)
    (recorded,) = client.calls
    assert (recorded["status"], recorded["error"]["type"]) == ("rejected", "Blocked")


@pytest.mark.parametrize("answer", [None, False, True])
def test_guard__ask__calls_only_when_a_person_agrees(answer: bool | None) -> None:
    client = with_rules(rule("PRE_CALL_VALIDATION", {"message": "Sure?", "on_failure": "ask"}))
    approve = None if answer is None else lambda _call: answer
    guarded = hgmem.guard(weather, client=client, approve=approve)
    if answer:
        assert guarded("Rome") == "sunny in Rome for 1"
    else:
        with pytest.raises(hgmem.ApprovalNeeded, match=r"approval of a person: Sure\?"):
            guarded("Rome")


def test_guard__async_approval__is_awaited() -> None:
    client = with_rules(rule("PRE_CALL_VALIDATION", {"message": "Sure?", "on_failure": "ask"}))

    async def approve(asked: hgmem.Call) -> bool:
        return asked.input == {"city": "Rome"}

    guarded = hgmem.guard(aweather, name="weather", client=client, approve=approve)
    assert asyncio.run(guarded("Rome")) == "sunny in Rome for 1"


def test_guard__switch__calls_the_other_tool(is_async: bool) -> None:
    client = with_rules(rule("TOOL_SWITCH", {"tool": "forecast", "parameters": {"place": "city"}}))
    hgmem.guard(lambda place: f"forecast for {place}", name="forecast", client=client)
    assert call(client, "Rome", is_async=is_async) == "forecast for Rome"
    assert client.calls[0]["tool"] == "forecast"


def test_guard__switch_to_a_tool_it_cannot_call__tells_the_model(is_async: bool) -> None:
    client = with_rules(rule("TOOL_SWITCH", {"tool": "forecast", "parameters": {"place": "city"}}))
    with pytest.raises(hgmem.Blocked, match=r'call forecast instead, with \{"place": "Rome"\}'):
        call(client, "Rome", is_async=is_async)


def test_guard__inserted_step__comes_first(is_async: bool) -> None:
    step = {"tool": "login", "arguments": {"user": "ann"}, "reason": "sessions end"}
    client = with_rules(rule("INSERT_STEP", step))
    seen = []
    hgmem.guard(lambda user: seen.append(user) or "welcome", name="login", client=client)
    with hgmem.task(client=client) as task:
        call(client, "Rome", is_async=is_async)
    assert seen == ["ann"]
    assert [(made["tool"], made["seq"]) for made in client.calls] == [("login", 0), ("weather", 1)]
    assert task.take_hints() == ["login was called first (sessions end). It answered: welcome"]


def test_guard__inserted_step_fails__the_call_goes_on() -> None:
    client = with_rules(rule("INSERT_STEP", {"tool": "login", "arguments": {}}))

    def login() -> None:
        raise RuntimeError("closed")

    hgmem.guard(login, client=client)
    assert hgmem.guard(weather, client=client)("Rome") == "sunny in Rome for 1"
    assert [made["status"] for made in client.calls] == ["error", "ok"]


def test_guard__hint__is_collected_or_appended() -> None:
    client = with_rules(rule("PROMPT_ENHANCEMENT", {"text": "Mind {{ input.city }}"},
                             applies_to={"tool": "weather", "point": "before"}))  # fmt: skip
    with hgmem.task(client=client) as task:
        assert hgmem.guard(weather, client=client)("Rome") == "sunny in Rome for 1"
        assert task.take_hints() == ["Mind Rome"]
        shown = hgmem.guard(weather, client=client, hints="append")("Rome")
    assert shown == "sunny in Rome for 1\n\n[hint] Mind Rome"
    assert client.calls[1]["output"] == "sunny in Rome for 1"


def test_guard__hint_after_a_failure__is_a_note_of_the_exception() -> None:
    client = with_rules(rule("PROMPT_ENHANCEMENT", {"text": "Ask for the city"}, condition="error != null",
                             applies_to={"tool": "weather", "point": "after"}))  # fmt: skip
    with pytest.raises(ValueError, match="no city") as caught:
        hgmem.guard(weather, client=client)()
    assert caught.value.__notes__ == ["[hint] Ask for the city"]


def test_guard__adjusted_output__is_seen_but_not_recorded(is_async: bool) -> None:
    client = with_rules(
        rule("POST_CALL_PARSING_ADJUST", {"op": "extract", "path": "$.rows[0]"},
             applies_to={"tool": "search", "point": "after"})
    )  # fmt: skip

    def search() -> dict[str, Any]:
        return {"rows": [{"id": 1}]}

    assert hgmem.guard(search, client=client)() == {"id": 1}
    assert client.calls[0]["output"] == {"rows": [{"id": 1}]}


def test_guard__treated_as_error__is_raised(is_async: bool) -> None:
    client = with_rules(
        rule("POST_CALL_PARSING_ADJUST", {"op": "treat_as_error", "message": "Rome is closed"},
             applies_to={"tool": "weather", "point": "after"})
    )  # fmt: skip
    with pytest.raises(hgmem.TreatedAsError, match="Rome is closed"):
        call(client, "Rome", is_async=is_async)
    assert client.calls[0]["status"] == "ok"


def test_guard__cancelled__is_recorded_and_goes_on() -> None:
    client = with_rules()

    async def hang() -> None:
        await asyncio.sleep(60)

    async def run() -> None:
        waiting = asyncio.create_task(hgmem.guard(hang, client=client)())
        await asyncio.sleep(0.01)
        waiting.cancel()
        await waiting

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(run())
    assert client.calls[0]["status"] == "cancelled"


def test_guard__guarded_twice__is_guarded_once() -> None:
    client = with_rules()
    once = hgmem.guard(weather, client=client)
    assert hgmem.guard(once, client=client, name="again")("Rome") == "sunny in Rome for 1"
    assert [made["tool"] for made in client.calls] == ["again"]


def test_guard__exception_cannot_say_what_it_is__goes_on_all_the_same() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no words")

    def fail() -> None:
        raise Mute

    client = with_rules()
    with pytest.raises(Mute):
        hgmem.guard(fail, client=client)()
    assert client.calls[0]["error"]["message"] == "<its text cannot be had: RuntimeError>"


def test_guard__cancelled_while_it_asks_about_the_output__is_recorded() -> None:
    client = with_rules()
    decide = client.adecide

    async def slow(context: dict[str, Any]) -> Any:
        if context["point"] == "after":
            await asyncio.sleep(60)
        return await decide(context)

    client.adecide = slow

    async def run() -> None:
        calling = asyncio.create_task(hgmem.guard(aweather, name="weather", client=client)("Rome"))
        await asyncio.sleep(0.02)
        calling.cancel()
        await calling

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(run())
    assert (client.calls[0]["status"], client.calls[0]["output"]) == ("ok", "sunny in Rome for 1")


def test_guard__fails_closed__is_not_called_without_rules() -> None:
    client = hgmem.Client("http://127.0.0.1:9", "hgm_x", fail_closed="pay*", deadline_s=0.5)
    called = []
    with client, pytest.raises(hgmem.NoDecision, match="there are no rules for pay_bill"):
        hgmem.guard(lambda: called.append(1), name="pay_bill", client=client)()
    assert not called


def test_guard__method_and_odd_signatures__bind_as_python_does() -> None:
    client = with_rules(rule("PARAMETER_TRANSFORM", {"op": "set", "field": "extra", "value": 1}))

    class Desk:
        @hgmem.guard(name="weather", client=client)
        def look(self, city: str, /, *rest: int, days: int = 1, **more: Any) -> Any:
            return (city, rest, days, more)

    assert Desk().look("Rome", 4, 5, days=3, wind=True) == ("Rome", (4, 5), 3, {"wind": True, "extra": 1})
    assert client.calls[0]["input"] == {"city": "Rome", "rest": [4, 5], "days": 3, "wind": True, "extra": 1}
    with pytest.raises(TypeError, match="missing"):
        Desk().look()


def test_guard__rule_sets_what_the_tool_has_not__is_left_out() -> None:
    client = with_rules(rule("PARAMETER_TRANSFORM", {"op": "set", "field": "unit", "value": "C"}))
    assert hgmem.guard(weather, client=client)("Rome") == "sunny in Rome for 1"


def test_guard__objects_for_arguments__reach_the_tool_as_they_are() -> None:
    @dataclass
    class Place:
        name: str

    client = with_rules(rule("PARAMETER_TRANSFORM", {"op": "set", "field": "days", "value": 2}))
    place = Place("Rome")
    seen = []
    hgmem.guard(lambda where, days=1: seen.append((where, days)), name="weather", client=client)(place)
    assert seen[0][0] is place
    assert seen[0][1] == 2
    assert client.calls[0]["input"] == {"where": {"name": "Rome"}, "days": 2}


def test_task__inside_another__keeps_its_root() -> None:
    client = with_rules()
    with hgmem.task("trip", id="outer", client=client) as outer, hgmem.task("hotel") as inner:
        hgmem.guard(weather, client=client)("Rome")
        assert hgmem.current_task() is inner
    assert (inner.root, outer.root) == ("outer", "outer")
    first, *_ = client.documents
    assert (first["external_id"], first["root_task"], first["goal"]) == (inner.id, "outer", "hotel")


def test_task__exception_leaves_it__is_a_failure() -> None:
    client = with_rules()
    with pytest.raises(KeyError), hgmem.task(client=client):
        raise KeyError("x")
    assert client.documents[-1]["outcome"] == {"result": "failure", "by": "agent", "note": "KeyError: 'x'"}
    assert client.documents[-1]["final"] is True


def test_task__said_twice__the_first_word_counts() -> None:
    client = with_rules()
    with hgmem.task(client=client) as task:
        task.succeeded(reward=0.5)
        task.failed("no")
    (document,) = client.documents
    assert document["outcome"] == {"result": "success", "by": "agent", "reward": 0.5}


def test_task__threads_and_coroutines__count_without_gaps() -> None:
    client = with_rules()
    guarded, aguarded = hgmem.guard(weather, client=client), hgmem.guard(aweather, client=client)

    async def many() -> None:
        await asyncio.gather(*(aguarded("Rome") for _ in range(20)))
        await asyncio.gather(*(asyncio.to_thread(guarded, "Oslo") for _ in range(20)))

    with hgmem.task(id="busy", client=client) as task:
        asyncio.run(many())
        threads = [threading.Thread(target=in_task, args=(task, guarded)) for _ in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(made["seq"] for made in client.calls) == list(range(50))
    assert {document["external_id"] for document in client.documents} == {"busy"}


def in_task(task: hgmem.Task, guarded: Any) -> None:
    with task.active():
        guarded("Bonn")


def test_calls__outside_a_task__are_gathered_in_one() -> None:
    client = with_rules()
    guarded = hgmem.guard(weather, client=client)
    guarded("Rome")
    guarded("Oslo")
    client.close()
    assert len({document["external_id"] for document in client.documents}) == 1
    assert client.documents[-1]["final"] is True


def test_redaction__of_the_agent__is_all_that_is_kept() -> None:
    client = with_rules(redact=lambda call: {"input": {"city": "*"}, "output": None})
    assert hgmem.guard(weather, client=client)("Rome") == "sunny in Rome for 1"
    assert (client.calls[0]["input"], client.calls[0]["output"]) == ({"city": "*"}, None)


def test_redaction__fails__keeps_nothing() -> None:
    client = with_rules(redact=lambda call: 1 / 0)
    hgmem.guard(weather, client=client)("Rome")
    assert "output" not in client.calls[0]
    assert client.calls[0]["input"] == {}


def test_off__no_server_configured__just_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HGMEM_URL", raising=False)
    with hgmem.Client() as client:
        assert hgmem.guard(weather, client=client)("Rome") == "sunny in Rome for 1"
        assert client.stats().recorded == 0
