"""What the path pages say to somebody who sees them for the first time."""

import json
from typing import Any

import pytest

from memory.models import Path, RewriteProposal
from tests.builders import make_path
from tests.conftest import Cast, page_client
from tests.memory.builders import make_rewrite

pytestmark = pytest.mark.django_db
STEPS = {"goal": "Pay", "tags": "", "agent": "", "mode": "form", "count": "2"}


def save(cast: Cast, **fields: str) -> Any:
    return page_client(cast.reviewer).post("/w/acme/paths/new/", STEPS | {"do": "save"} | fields, follow=True)


@pytest.mark.parametrize(
    ("key", "word"),
    [
        pytest.param("task:t1", "walk", id="walk"),
        pytest.param("success:t1", "without detours", id="shortened"),
        pytest.param("task.2:t1", "part of a walk", id="part"),
        pytest.param("success.1:t1", "part of a way without detours", id="part of the shortened"),
    ],
)
def test_list__paths_of_one_task__are_told_apart_by_a_word(cast: Cast, key: str, word: str) -> None:
    make_path(cast.workspace, "Pay", key=key)

    text = page_client(cast.viewer).get("/w/acme/paths/?status=active").text

    assert f'<span class="soft">task · {word}' in text


def test_editor__new_path__is_a_success_worth_half_and_says_why(cast: Cast) -> None:
    editor = page_client(cast.reviewer).get("/w/acme/paths/new/")

    basics = editor.context["editor"].basics
    assert (basics["result"].initial, basics["reward"].initial) == ("success", 0.5)
    assert "while no run has shown it" in editor.text

    save(cast, result="success", reward="0.5", **{"step-0-tool": "look", "step-1-tool": "pay"})
    path = Path.objects.get(goal="Pay")
    assert (path.result, path.reward) == ("success", 0.5)


def test_editor__faults__name_the_step_and_the_field_of_the_row(cast: Cast) -> None:
    answer = save(cast, result="success", **{"step-0-kind": "action", "step-1-kind": "decision"})

    assert "Step 1: Tool: An action needs a tool or a content." in answer.text
    assert "Step 2: What is done: Say what this decision is." in answer.text
    assert "nodes." not in answer.text.partition("path-check")[2]


def test_editor__fault_of_the_path__names_its_field(cast: Cast) -> None:
    answer = save(cast, goal=" ", result="success", **{"step-0-tool": "look", "step-1-tool": "pay"})

    assert "Goal: Say what the path is for." in answer.text


def test_import__everything_is_there__offers_nothing(cast: Cast) -> None:
    client = page_client(cast.reviewer)
    source = json.dumps([{"key": "p", "goal": "Pay", "nodes": [{"name": "a", "tool": "pay"}]}])
    fresh = client.post("/w/acme/paths/import/", {"do": "plan", "source": source})
    client.post("/w/acme/paths/import/", {"do": "apply", "source": source})

    known = client.post("/w/acme/paths/import/", {"do": "plan", "source": source})

    assert "Import them" in fresh.text
    assert "Import them" not in known.text
    assert "There is nothing to import: every path is there already." in known.text


def test_compare__single_version__offers_other_paths_instead_of_two_equal_graphs(cast: Cast) -> None:
    path = make_path(cast.workspace, "Pay")
    client = page_client(cast.viewer)

    alone = client.get(f"/w/acme/paths/{path.uuid}/compare/").text
    other = make_path(cast.workspace, "Pay later")
    offered = client.get(f"/w/acme/paths/{path.uuid}/compare/").text
    chosen = client.get(f"/w/acme/paths/{path.uuid}/compare/?with={other.uuid}").text

    assert "There is only one version of this path" in alone
    assert "What changed" not in alone
    assert f'<option value="{other.uuid}">Pay later' in offered
    assert "What changed" in chosen


def test_rewrite__asked_for__links_to_the_proposal(cast: Cast) -> None:
    path = make_path(cast.workspace, "Pay", result="failure", reward=0.0)

    answer = page_client(cast.reviewer).post(
        f"/w/acme/paths/{path.uuid}/rewrite/", {"reason": "It failed."}, follow=True
    )

    proposal = RewriteProposal.objects.get()
    assert f'<a href="/w/acme/rewrites/{proposal.uuid}/">See the proposal</a>' in answer.text


@pytest.mark.parametrize(
    ("status", "offered"),
    [
        pytest.param("proposed", ["approve", "reject"], id="proposed"),
        pytest.param("needs_human", ["reject"], id="handed over"),
        pytest.param("approved", [], id="approved"),
        pytest.param("rejected", [], id="rejected"),
    ],
)
def test_rewrites__buttons_for_several__only_where_something_can_be_decided(
    cast: Cast, status: str, offered: list[str]
) -> None:
    make_rewrite(cast.workspace, status=status)

    text = page_client(cast.reviewer).get(f"/w/acme/rewrites/?status={status}").text

    assert [do for do in ("approve", "reject") if f'name="do" value="{do}"' in text] == offered
    assert ('name="rewrite"' in text) == bool(offered)
