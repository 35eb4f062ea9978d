"""Locating paths: what is answered, what is kept, what a model may add."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory.actions.locating import locate_paths, try_locating
from memory.domain.access import NotPermitted
from memory.domain.locating.answers import LocatedAnswer
from memory.domain.locating.policy import LocatePolicy, PartWeights
from memory.domain.locating.question import InvalidQuestionError
from memory.domain.paths.document import NodeDoc
from memory.models import Localization, Path, RewriteProposal
from memory.permissions import SYSTEM
from memory.writer.paths import set_status
from tests.builders import NOW, make_localization, make_path
from tests.conftest import Cast

GOAL = "Cancel the reservation of Ada and refund the ticket"
OTHERS = (
    "Count the singers of each country in the concert database",
    "List the names of all pets older than three years",
    "Find the youngest employee of the shop in Berlin",
)


def ask(cast: Cast, goal: str = GOAL, **query: Any) -> LocatedAnswer:
    return locate_paths(workspace_id=cast.workspace.pk, query={"goal": goal, **query}, by=SYSTEM)


def fill(cast: Cast) -> None:
    """Some paths that have nothing to do with it."""
    for goal in OTHERS:
        make_path(cast.workspace, goal, ["sql"], tags=("sql",))


def test_locate__same_goal__is_the_whole_path_with_every_part(cast: Cast) -> None:
    fill(cast)
    path = make_path(
        cast.workspace, GOAL, ["find_reservation", "cancel", "refund"], tags=("flight", "refund")
    )

    answer = ask(cast, tags=["flight", "refund"], nodes=["find_reservation", "cancel"])

    best = answer.paths[0]
    assert (answer.kind, best.path, best.key) == ("found", str(path.uuid), path.key)
    assert [node.tool for node in best.document.nodes] == ["find_reservation", "cancel", "refund"]
    assert set(best.parts) == set(answer.weights) == {"tags", "semantic"}  # structure weighs 0 by default
    total = sum(answer.weights[name] * best.parts[name] for name in best.parts)
    assert best.score == pytest.approx(total, abs=1e-3)
    assert best.parts["tags"] == 1.0


def test_locate__answer__is_kept_as_it_was_given(cast: Cast) -> None:
    path = make_path(cast.workspace, GOAL)

    answer = ask(cast, tags=["flight"], task="t1", env={"domain": "air"}, filters={"tool": "book"})

    row = Localization.objects.get()
    assert str(row.uuid) == answer.localization
    assert (row.goal, row.kind, row.task_name, row.asked_by) == (GOAL, "found", "t1", "HGMem")
    assert row.candidates[0]["path"] == str(path.uuid)
    assert row.query == {"tags": ["flight"], "env": {"domain": "air"}, "filters": {"tool": "book"}}
    assert row.weights == {"tags": 0.4, "semantic": 0.6}
    assert row.embedder == answer.embedder != ""


def test_locate__secrets_in_the_question__are_not_kept(cast: Cast) -> None:
    ask(cast, "Write to ada@example.com", nodes=["mail ada@example.com"], env={"password": "hunter2"})

    row = Localization.objects.get()
    assert "ada@example.com" not in f"{row.goal} {row.query}"
    assert "hunter2" not in str(row.query)


def test_locate__nothing_near__is_an_honest_empty_answer(cast: Cast) -> None:
    Path.objects.filter(result="template").delete()
    fill(cast)

    answer = ask(cast, "Bake a chocolate cake without flour")

    assert (answer.kind, answer.paths, answer.avoid) == ("nothing", [], [])
    assert Localization.objects.get().kind == "nothing"


def test_locate__nodes_alone__find_nothing_and_say_so(cast: Cast) -> None:
    make_path(cast.workspace, GOAL, ("find", "book"))

    answer = locate_paths(workspace_id=cast.workspace.pk, query={"nodes": ["find", "book"]}, by=SYSTEM)

    assert answer.paths == []
    assert "say a goal or tags" in answer.notes[0]


def test_locate__only_the_starter_templates__never_look_like_something_real(cast: Cast) -> None:
    answer = ask(cast, "Bake a chocolate cake without flour")

    assert (answer.kind, answer.paths) == ("template", [])
    assert {item.result for item in answer.templates} == {"template"}


def test_locate__only_templates_fit__come_as_templates(cast: Cast) -> None:
    Path.objects.filter(result="template").delete()
    template = make_path(cast.workspace, "Cancel a booking: ask first", result="template", reward=0.0)

    answer = ask(cast, "Cancel a booking: ask first")

    assert answer.kind == "template"
    assert answer.templates[0].path == str(template.uuid)
    make_path(cast.workspace, "Cancel a booking: ask first")
    assert (again := ask(cast, "Cancel a booking: ask first")).kind == "found"
    assert again.templates == []


def test_locate__failed_path__comes_apart_with_what_went_wrong(cast: Cast) -> None:
    nodes = [
        NodeDoc(name="cancel", tool="cancel"),
        NodeDoc(name="failed", kind="event", content="the fare is\nnot refundable"),
    ]
    failed = make_path(cast.workspace, GOAL, nodes, result="failure", reward=0.0)
    worked = make_path(cast.workspace, GOAL)

    answer = ask(cast)

    assert [item.path for item in answer.paths] == [str(worked.uuid)]
    assert [item.path for item in answer.avoid] == [str(failed.uuid)]
    assert answer.avoid[0].went_wrong == ["the fare is not refundable"]
    assert not RewriteProposal.objects.exists()


def test_locate__only_a_failed_path_of_this_goal__asks_for_its_rewrite_once(cast: Cast) -> None:
    failed = make_path(cast.workspace, GOAL, result="failure", reward=0.0)

    answers = [ask(cast), ask(cast)]

    proposal = RewriteProposal.objects.get()
    assert (proposal.path, proposal.trigger) == (failed, "located")
    assert str(proposal.localization.uuid) == answers[0].localization


def test_locate__rewarded_attempt__wins_over_the_poor_one(cast: Cast) -> None:
    poor = make_path(cast.workspace, GOAL, reward=0.2)
    good = make_path(cast.workspace, GOAL, reward=0.9)

    assert [item.path for item in ask(cast).paths][:1] == [str(good.uuid)]
    assert str(poor.uuid) != str(good.uuid)


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        pytest.param({}, 2, id="none"),
        pytest.param({"tool": "cancel"}, 1, id="tool"),
        pytest.param({"tag": "air"}, 1, id="tag"),
        pytest.param({"agent": "claude"}, 1, id="agent"),
        pytest.param({"level": "subtask"}, 0, id="level"),
        pytest.param({"since": "2026-03-02T00:00:00Z"}, 0, id="since"),
        pytest.param({"until": "2026-03-02T00:00:00Z"}, 2, id="until"),
    ],
)
def test_locate__filters__narrow(cast: Cast, filters: dict[str, str], expected: int) -> None:
    make_path(cast.workspace, GOAL, ["find", "cancel"], tags=("air",), agent="claude")
    make_path(cast.workspace, f"{GOAL} now", ["find", "refund"], tags=("sea",), agent="gpt")

    assert len(ask(cast, filters=filters, min_score=0.1).paths) == expected


def test_locate__retired_version_and_foreign_path__are_not_found(cast: Cast) -> None:
    make_path(cast.elsewhere, GOAL)
    old = make_path(cast.workspace, GOAL)
    set_status(old, "retire", now=NOW)

    assert ask(cast).paths == []


def test_locate__prompt_tokens__gives_the_text_of_the_best(cast: Cast) -> None:
    make_path(cast.workspace, GOAL, ["find", "cancel"])

    prompt = ask(cast, prompt_tokens=200).prompt

    assert prompt is not None
    assert "cancel" in prompt.text
    assert prompt.tokens <= 200


def test_locate__workspace_weights__are_used(cast: Cast) -> None:
    path = make_path(cast.workspace, OTHERS[0], tags=("flight",))
    cast.workspace.settings = {"paths": {"weights": {"tags": 1, "semantic": 0}, "min_score": 0.9}}
    cast.workspace.save()

    answer = ask(cast, tags=["flight"])

    assert [item.path for item in answer.paths] == [str(path.uuid)]
    assert (answer.weights, answer.min_score) == ({"tags": 1.0}, 0.9)


def test_locate__chinese_goal__is_found(cast: Cast) -> None:
    fill(cast)
    path = make_path(cast.workspace, "查询订单 1001 的物流状态", ["query_order"], tags=("订单",))

    assert ask(cast, "请帮我查询订单 1001 的物流状态").paths[0].path == str(path.uuid)


def test_locate__more_paths__costs_the_same_queries(cast: Cast) -> None:
    counts = []
    for _ in range(2):
        for number in range(4):
            make_path(cast.workspace, f"{GOAL} {number}")
        ask(cast, top_k=20)
        with CaptureQueriesContext(connection) as queries:
            ask(cast, top_k=20)
        counts.append(len(queries))

    assert counts[0] == counts[1] <= 16


@pytest.mark.parametrize(
    ("query", "field"),
    [
        pytest.param({}, "goal", id="nothing asked"),
        pytest.param({"goal": "  "}, "goal", id="blank"),
        pytest.param({"goal": 7}, "goal", id="wrong type"),
        pytest.param({"goal": "x" * 20_001}, "goal", id="long"),
        pytest.param({"goal": "x", "top_k": 0}, "top_k", id="top_k too small"),
        pytest.param({"goal": "x", "top_k": 21}, "top_k", id="top_k too large"),
        pytest.param({"goal": "x", "min_score": 1.5}, "min_score", id="min_score"),
        pytest.param({"goal": "x", "tags": ["a"] * 51}, "tags", id="many tags"),
        pytest.param({"goal": "x", "tags": [""]}, "tags.0", id="empty tag"),
        pytest.param({"goal": "x", "nodes": ["n"] * 101}, "nodes", id="many nodes"),
        pytest.param({"goal": "x", "filters": {"colour": "red"}}, "filters.colour", id="unknown filter"),
        pytest.param({"goal": "x", "filters": {"level": "deep"}}, "filters.level", id="unknown level"),
        pytest.param({"goal": "x", "filters": {"since": "yesterday"}}, "filters.since", id="no moment"),
        pytest.param(
            {"goal": "x", "filters": {"since": "2026-03-02T00:00:00Z", "until": "2026-03-01T00:00:00Z"}},
            "filters.until", id="until before since",
        ),
        pytest.param({"goal": "x", "env": {"a": "x" * 17_000}}, "env", id="large env"),
        pytest.param({"goal": "x", "sql": "drop"}, "sql", id="unknown field"),
        pytest.param({"goal": "x", "prompt_tokens": 3}, "prompt_tokens", id="tiny prompt"),
    ],
)  # fmt: skip
def test_locate__bad_question__names_the_field_and_keeps_nothing(
    cast: Cast, query: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidQuestionError) as refusal:
        locate_paths(workspace_id=cast.workspace.pk, query=query, by=SYSTEM)

    assert refusal.value.errors[0].field == field
    assert not Localization.objects.exists()


def test_locate__actor_of_another_workspace__is_refused(cast: Cast) -> None:
    with pytest.raises(NotPermitted):
        locate_paths(workspace_id=cast.elsewhere.pk, query={"goal": GOAL}, by=cast.actor("owner"))


def test_try__lab_question__leaves_no_trace_and_says_what_was_left_out(cast: Cast) -> None:
    fill(cast)
    make_path(cast.workspace, GOAL, reward=0.9)
    make_path(cast.workspace, GOAL, reward=0.2)
    make_localization(cast.workspace)

    tried = try_locating(
        workspace_id=cast.workspace.pk, query={"goal": GOAL, "top_k": 1}, by=cast.actor("viewer"),
        policy=LocatePolicy(weights=PartWeights(0.1, 0.9, 0.0), min_score=0.4),
    )  # fmt: skip

    assert tried.answer.localization == ""
    assert len(tried.answer.paths) == 1
    reasons = {item.reason for item in tried.left_out}
    assert "another attempt at the same goal" in reasons
    assert "below min_score" in reasons
    assert Localization.objects.count() == 1
