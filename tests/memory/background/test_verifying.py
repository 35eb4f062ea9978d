"""A model's word on a located path: taken where it is useful, never waited for, never obeyed blindly."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from memory.actions.locating import locate_paths
from memory.background.verifying import FELL_BACK, NONE_FITS, NOT_SET_UP
from memory.domain.locating.answers import LocatedAnswer
from memory.live import chat
from memory.permissions import SYSTEM
from tests.builders import make_path
from tests.conftest import Cast
from tests.memory.background.rewriters.chat_turns import cut_off, raw, says, silent, status
from tests.scripted import ScriptedServer, Turn, serve_script

GOAL = "Cancel the reservation of Ada and refund the ticket"


@pytest.fixture
def server(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    monkeypatch.setattr(chat, "FIRST_WAIT_S", 0.01)
    with serve_script() as running:
        settings.LLM_URL, settings.LLM_MODEL, settings.LLM_KEY = running.url, "m", "k"
        settings.VERIFY_TIMEOUT_S = 5.0
        yield running


def ask(cast: Cast) -> LocatedAnswer:
    """Three paths fit; the workspace wants a model's word on them."""
    cast.workspace.settings = {"paths": {"verify_localizations": True}}
    cast.workspace.save()
    for number in range(3):
        make_path(cast.workspace, f"{GOAL} {number}", reward=1.0)
    query = {"goal": GOAL, "min_score": 0.2}
    return locate_paths(workspace_id=cast.workspace.pk, query=query, by=SYSTEM)


def ranking(cast: Cast) -> list[str]:
    cast.workspace.settings = {}
    cast.workspace.save()
    answer = locate_paths(workspace_id=cast.workspace.pk, query={"goal": GOAL, "min_score": 0.2}, by=SYSTEM)
    return [path.path for path in answer.paths]


@pytest.mark.parametrize(
    "text", ['{"choice": 3}', 'I choose ```json\n{"choice": 3}\n``` because', {"choice": 3}]
)
def test_verify__model_picks_one__it_comes_first(cast: Cast, server: ScriptedServer, text: Any) -> None:
    server.script = [says(text)]

    answer = ask(cast)

    first, second, third = ranking(cast)
    assert [path.path for path in answer.paths] == [third, first, second]
    assert answer.notes == []
    question = json.loads(server.asked[0]["messages"][1]["content"])
    assert question["goal"] == GOAL
    assert [candidate["number"] for candidate in question["candidates"]] == [1, 2, 3]


def test_verify__model_says_none__answers_nothing_and_says_who(cast: Cast, server: ScriptedServer) -> None:
    server.script = [says({"choice": 0})]

    answer = ask(cast)

    assert (answer.kind, answer.paths, answer.notes) == ("nothing", [], [NONE_FITS])


@pytest.mark.parametrize(
    "turn",
    [
        pytest.param(says("the second"), id="no JSON"),
        pytest.param(says({"choice": 9}), id="no candidate"),
        pytest.param(says({"choice": "two"}), id="wrong type"),
        pytest.param(says({"pick": 1}), id="wrong field"),
        pytest.param(raw(b"<html>"), id="no completion"),
        pytest.param(cut_off, id="cut off"),
        pytest.param(status(500), id="500"),
        pytest.param(status(429, Retry_After="30"), id="429"),
        pytest.param(status(401), id="401"),
    ],
)
def test_verify__endpoint_is_no_help__ranking_stands(cast: Cast, server: ScriptedServer, turn: Turn) -> None:
    server.script = [turn]

    answer = ask(cast)

    assert answer.notes == [FELL_BACK]
    assert [path.path for path in answer.paths] == ranking(cast)


def test_verify__endpoint_says_nothing__is_not_waited_for(
    cast: Cast, server: ScriptedServer, settings: Any
) -> None:
    settings.VERIFY_TIMEOUT_S = 0.2
    server.script = [silent]  # for three seconds

    answer = ask(cast)

    assert answer.notes == [FELL_BACK]
    assert answer.took_ms < 2_500
    assert [path.path for path in answer.paths] == ranking(cast)


def test_verify__no_model_is_set_up__says_so(cast: Cast, settings: Any) -> None:
    settings.LLM_URL = ""

    answer = ask(cast)

    assert answer.notes == [NOT_SET_UP]
    assert len(answer.paths) == 3


def test_verify__workspace_did_not_ask_for_it__nobody_is_asked(cast: Cast, server: ScriptedServer) -> None:
    make_path(cast.workspace, GOAL)
    server.script = [says({"choice": 0})]

    assert ranking(cast)
    assert server.asked == []
