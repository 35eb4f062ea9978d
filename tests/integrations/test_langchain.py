"""LangChain and LangGraph, the real ones, with a scripted model."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from tests.integrations.conftest import need

need("langchain", "langgraph", extra="langchain")

from langchain.agents import create_agent  # noqa: E402
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel  # noqa: E402
from langchain_core.messages import AIMessage, ToolMessage  # noqa: E402
from langchain_core.tools import tool  # noqa: E402
from langgraph.graph import END, START, MessagesState, StateGraph  # noqa: E402

import hgmem  # noqa: E402
from hgmem.integrations.langchain import HGMemMiddleware, HGMemRecorder, guarded_tool_node  # noqa: E402
from tests.integrations import standing  # noqa: E402
from tests.integrations.standing import offline, summary  # noqa: E402

TOOLS = [tool(standing.weather), tool(standing.forecast), tool(standing.login)]


class Scripted(FakeMessagesListChatModel):
    """Says its lines; keeps what it was told."""

    seen: list[Any]

    def bind_tools(self, tools: Sequence[Any], **more: Any) -> "Scripted":
        return self

    def _generate(self, messages: list[Any], *more: Any, **other: Any) -> Any:
        self.seen.append(messages)
        return super()._generate(messages, *more, **other)


def calls(*inputs: dict[str, Any]) -> AIMessage:
    made = [{"name": "weather", "args": given, "id": f"c{at}"} for at, given in enumerate(inputs)]
    return AIMessage(content="", tool_calls=made)


def run(client: Any, *turns: AIMessage, is_async: bool = False, **options: Any) -> tuple[list[Any], Scripted]:
    model = Scripted(responses=[*turns, AIMessage(content="done")], seen=[])
    agent = create_agent(model, TOOLS, middleware=[HGMemMiddleware(client)], **options)
    asked = {"messages": [{"role": "user", "content": "How is the weather?"}]}
    answer = asyncio.run(agent.ainvoke(asked)) if is_async else agent.invoke(asked)
    return [message for message in answer["messages"] if isinstance(message, ToolMessage)], model


@pytest.fixture(params=[False, True], ids=["sync", "async"])
def is_async(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def test_agent__rule_mends_the_input__first_call_works(is_async: bool) -> None:
    client = offline(standing.MEND_CITY)
    (message,), _ = run(client, calls({"city": ""}), is_async=is_async)
    assert (message.content, message.status, message.tool_call_id) == ("sunny in Lima", "success", "c0")
    assert summary(client) == [("weather", "ok", {"city": "Lima"})]
    assert client.calls[0]["receipt"]
    first, *_, last = client.documents
    assert (first["goal"], first["framework"]) == ("How is the weather?", "langchain")
    assert last["final"] is True
    assert last["external_id"] == first["external_id"]


def test_agent__no_rule__the_failure_is_recorded(is_async: bool) -> None:
    client = offline()
    with pytest.raises(ValueError, match="must not be empty"):
        run(client, calls({"city": ""}), is_async=is_async)
    assert summary(client) == [("weather", "error", {"city": ""})]
    assert client.calls[0]["error"] == {"type": "ValueError", "message": "city must not be empty"}


def test_agent__blocked__model_reads_why_and_goes_on(is_async: bool) -> None:
    client = offline(standing.BLOCK)
    (message,), model = run(client, calls({"city": "Rome"}), is_async=is_async)
    assert message.status == "error"
    assert message.content == "The call was not made: Ask for the city first."
    assert model.seen[-1][-1] == message
    assert summary(client)[0][1] == "rejected"


def test_agent__hint__is_below_the_result() -> None:
    (message,), _ = run(offline(standing.HINT), calls({"city": "Rome"}))
    assert message.content == "sunny in Rome\n\n[hint] Degrees are Celsius"


@pytest.mark.parametrize("prompt", [None, "Be brief."])
def test_agent__planning_hint__is_in_the_system_prompt(prompt: str | None, is_async: bool) -> None:
    _, model = run(offline(standing.PLAN), system_prompt=prompt, is_async=is_async)
    told = model.seen[0][0]
    assert told.type == "system"
    assert told.content == "\n\n".join(part for part in (prompt, "Name a city in every call") if part)


def test_agent__switch_and_inserted_step__run_its_own_tools(is_async: bool) -> None:
    client = offline(standing.SWITCH, standing.LOGIN_FIRST)
    (message,), _ = run(client, calls({"city": "Rome"}), is_async=is_async)
    assert message.content.startswith("forecast for Rome\n\n[hint] login was called first")
    assert (message.name, message.tool_call_id) == ("weather", "c0")
    assert [made[0] for made in summary(client)] == ["login", "forecast"]


def test_agent__parallel_calls__are_one_task(is_async: bool) -> None:
    client = offline(standing.MEND_CITY)
    messages, _ = run(client, calls(*({"city": name} for name in ("", "Rome", "Oslo"))), is_async=is_async)
    assert [message.content for message in messages] == ["sunny in Lima", "sunny in Rome", "sunny in Oslo"]
    assert sorted(made["seq"] for made in client.calls) == [0, 1, 2]
    assert len({document["external_id"] for document in client.documents}) == 1


def test_agent__task_around_it__is_its_task() -> None:
    client = offline()
    with hgmem.task("mine", id="mine", client=client) as task:
        run(client, calls({"city": "Rome"}))
        task.succeeded()
    assert {document["external_id"] for document in client.documents} == {"mine"}
    assert client.documents[-1]["outcome"]["result"] == "success"


def test_agent__sub_agent_in_a_tool__keeps_the_root() -> None:
    client = offline()

    @tool
    def ask_expert(question: str) -> str:
        """Ask another agent."""
        return str(run(client, calls({"city": question}))[0][0].content)

    model = Scripted(
        responses=[
            AIMessage(
                content="", tool_calls=[{"name": "ask_expert", "args": {"question": "Rome"}, "id": "x"}]
            ),
            AIMessage(content="done"),
        ],
        seen=[],
    )
    agent = create_agent(model, [ask_expert], middleware=[HGMemMiddleware(client)])
    agent.invoke({"messages": [("user", "trip")]})
    sub, outer = client.documents[0], client.documents[-1]
    assert sub["root_task"] == outer["external_id"] != sub["external_id"]


def test_graph__guarded_tool_node__mends_the_input(is_async: bool) -> None:
    client = offline(standing.MEND_CITY)
    graph = StateGraph(MessagesState)
    graph.add_node("tools", guarded_tool_node(TOOLS, client=client))
    graph.add_edge(START, "tools")
    graph.add_edge("tools", END)
    app, asked = graph.compile(), {"messages": [calls({"city": ""})]}
    with hgmem.task(id="graph", client=client):
        answer = asyncio.run(app.ainvoke(asked)) if is_async else app.invoke(asked)
    assert answer["messages"][-1].content == "sunny in Lima"
    assert client.documents[0]["external_id"] == "graph"


def test_recorder__callback_only__records_what_happened() -> None:
    client = offline(standing.MEND_CITY)
    weather = tool(standing.weather)
    weather.invoke({"city": "Rome"}, config={"callbacks": [HGMemRecorder(client)]})
    with pytest.raises(ValueError, match="empty"):
        weather.invoke({"city": ""}, config={"callbacks": [HGMemRecorder(client)]})
    assert summary(client) == [("weather", "ok", {"city": "Rome"}), ("weather", "error", {"city": ""})]
