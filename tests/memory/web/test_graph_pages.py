"""The graph explorer and the pages that merge nodes: who may, what they cost, what they say."""

import pytest

from memory.models import Node
from tests.builders import make_path
from tests.conftest import Cast, page_client
from tests.memory.builders import make_node
from tests.memory.web.graph_scenes import build_graph_scene
from tests.pages import HOSTILE, extra_queries, page_faults

pytestmark = pytest.mark.django_db

PAGES = [
    pytest.param("graph/", "viewer", id="graph"),
    pytest.param("graph/?text=script&tool=x&kind=event&result=retry&tag=a&agent=b", "viewer", id="filtered"),
    pytest.param("graph/?focus={scene.node.uuid}&depth=3&find=script", "viewer", id="focus"),
    pytest.param("nodes/duplicates/", "viewer", id="duplicates"),
    pytest.param("nodes/merge/?node={scene.node.uuid}&node={scene.alone.uuid}", "maintainer", id="merge"),
]


@pytest.mark.parametrize(("url", "role"), PAGES)
def test_page__least_role__opens_and_shows_agents_text_as_text(cast: Cast, url: str, role: str) -> None:
    path = f"/w/acme/{url.format(scene=build_graph_scene(cast.workspace, 3))}"

    assert page_faults(page_client(getattr(cast, role)).get(path)) == []


@pytest.mark.parametrize(("url", "role"), PAGES)
def test_page__more_rows__costs_no_more_queries(cast: Cast, url: str, role: str) -> None:
    client = page_client(getattr(cast, role))
    few = f"/w/acme/{url.format(scene=build_graph_scene(cast.workspace, 3))}"

    def more() -> str:
        return f"/w/acme/{url.format(scene=build_graph_scene(cast.workspace, 27))}"

    assert extra_queries(client, few, more) == []


def test_graph__shared_and_merged_nodes__are_drawn_once_with_their_paths(cast: Cast) -> None:
    first = make_path(cast.workspace, nodes=["find", "book"])
    second = make_path(cast.workspace, nodes=["search", "book"])
    find, search = (path.steps.get(position=0).node for path in (first, second))
    maintainer = page_client(cast.maintainer)

    maintainer.post("/w/acme/nodes/merge/", {"node": [find.uuid, search.uuid], "keep": find.uuid})
    answer = page_client(cast.viewer).get("/w/acme/graph/")

    drawn = [(one.tool, one.path_count) for one in answer.context["listed"]]
    walked = [(one.source.tool, one.target.tool, one.count) for one in answer.context["transitions"]]
    assert sorted(drawn) == [("book", 2), ("find", 2)]
    assert walked == [("find", "book", 2)]
    assert "2 nodes, read from 2 paths with 4 steps." in answer.text


def test_graph__another_workspace__is_not_in_it(cast: Cast) -> None:
    foreign = make_path(cast.elsewhere, nodes=["secret"])
    node = foreign.steps.get().node
    client = page_client(cast.viewer)

    assert "secret" not in client.get("/w/acme/graph/?find=secret").context["listed"]
    assert client.get(f"/w/acme/graph/?focus={node.uuid}").status_code == 404
    assert client.get("/w/acme/graph/?find=secret").context["found"].rows == []


def test_graph__nothing_yet__says_how_paths_come(cast: Cast) -> None:
    assert "made by themselves" in page_client(cast.viewer).get("/w/acme/graph/").text


@pytest.mark.parametrize("text", ["\x00", "a" * 5000, "%", "\\", "'\"", "\ud7ff😀", "-1"])
def test_graph__nonsense_filters__are_no_error(cast: Cast, text: str) -> None:
    build_graph_scene(cast.workspace, 1)
    names = ("text", "tool", "kind", "result", "tag", "agent", "since", "until", "focus", "depth", "find")

    answer = page_client(cast.viewer).get("/w/acme/graph/", dict.fromkeys(names, text))

    assert answer.status_code == 200


def test_focus__of_a_merged_node__shows_the_one_that_is_drawn_with_failures_and_paths(cast: Cast) -> None:
    scene = build_graph_scene(cast.workspace, 2)

    answer = page_client(cast.viewer).get(f"/w/acme/graph/?focus={scene.merged.uuid}")

    card = answer.context["card"]
    assert (card.node, card.path_count) == (scene.node, 2)
    assert scene.merged in card.same
    assert [failure.message for failure in card.failures] == [HOSTILE, HOSTILE]
    assert "Take out" not in answer.text  # a viewer


def test_merge__confirmed__is_seen_at_the_kept_node_and_undone_there(cast: Cast) -> None:
    first, second = make_node(cast.workspace, "first"), make_node(cast.workspace, "second")
    client = page_client(cast.maintainer)
    asked = client.get("/w/acme/nodes/merge/", {"node": [first.uuid, second.uuid]})
    assert "Merge these 2 nodes" in asked.text
    assert not Node.objects.exclude(merged_into=None).exists()

    done = client.post(
        "/w/acme/nodes/merge/",
        {"node": [first.uuid, second.uuid], "keep": second.uuid, "reason": "same"},
        follow=True,
    )
    assert "1 node is merged into this one." in done.text
    assert done.context["card"].same == [first]

    undone = client.post(f"/w/acme/nodes/{first.uuid}/unmerge/", follow=True)
    assert "The node stands alone again." in undone.text
    assert not Node.objects.exclude(merged_into=None).exists()


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        pytest.param({}, "Choose at least two", id="none"),
        pytest.param({"node": ["{first}"], "keep": "{first}"}, "Choose at least two", id="one"),
        pytest.param({"node": ["{first}", "x", "{foreign}"], "keep": "{first}"}, "two", id="foreign"),
        pytest.param({"node": ["{first}", "{second}"], "keep": "{foreign}"}, "node to keep", id="keep"),
    ],
)
def test_merge__bad_choice__is_said_and_changes_nothing(
    cast: Cast, fields: dict[str, str | list[str]], said: str
) -> None:
    names = {
        "first": make_node(cast.workspace, "first").uuid,
        "second": make_node(cast.workspace, "second").uuid,
        "foreign": make_node(cast.elsewhere, "foreign").uuid,
    }
    sent = {
        name: [one.format(**names) for one in value] if isinstance(value, list) else value.format(**names)
        for name, value in fields.items()
    }

    answer = page_client(cast.maintainer).post("/w/acme/nodes/merge/", sent, follow=True)

    assert said in answer.text
    assert not Node.objects.exclude(merged_into=None).exists()


def test_merge__nodes_of_different_kinds__is_refused_before_it_is_asked(cast: Cast) -> None:
    nodes = [make_node(cast.workspace, kind, kind=kind) for kind in ("decision", "event")]
    asked = "&".join(f"node={node.uuid}" for node in nodes)

    answer = page_client(cast.maintainer).get(f"/w/acme/nodes/merge/?{asked}", follow=True)

    assert "these are of the kinds decision, event" in answer.text


def test_duplicates__texts_that_differ_by_case_and_spacing__are_shown_side_by_side(cast: Cast) -> None:
    for name in ("PetType", "pet_type"):
        make_node(cast.workspace, f"List every {name} of the shop", tool="query", params={"column": "x"})

    answer = page_client(cast.viewer).get("/w/acme/nodes/duplicates/")

    assert "99.0 % alike" in answer.text
    assert "differs only by case, spaces and punctuation" in answer.text
    assert [tuple(d.values) for d in answer.context["groups"][0][0].differences] == [
        ("List every PetType of the shop", "List every pet_type of the shop")
    ]


def test_duplicates__near_identical_nodes__are_offered_together(cast: Cast) -> None:
    same = [make_node(cast.workspace, text) for text in ("Check the order", "check  the ORDER")]
    make_node(cast.workspace, "Cancel the flight")

    groups = page_client(cast.viewer).get("/w/acme/nodes/duplicates/").context["groups"]

    assert [[node for node, _ in rows] for _, rows in groups] == [same]
