"""Pages of dependencies and of changed tools."""

from corrections.models import ChangeRequest, ManualDependency, Rule
from memory.models import AuditEvent
from tests.builders import make_call, make_task, make_tool
from tests.conftest import Cast, page_client
from tests.corrections.actions.test_impacts import make_impact
from tests.corrections.api.test_dependencies import make_reader
from tests.corrections.builders import make_rule


def test_dependencies__two_rules__are_drawn_and_listed_with_the_field(cast: Cast) -> None:
    make_rule(cast.workspace), make_reader(cast)

    text = page_client(cast.viewer).get("/w/acme/dependencies/").text

    assert "Rules that need one another" in text
    assert "<code>input.city</code>" in text
    assert "Add one that you know of" not in text  # a viewer writes nothing


def test_dependencies__none__says_so_and_a_filter_too(cast: Cast) -> None:
    client = page_client(cast.viewer)

    assert "No rule needs another one" in client.get("/w/acme/dependencies/").text
    assert "No dependency matches" in client.get("/w/acme/dependencies/?tool=x&served=on").text


def test_dependencies__a_circle__comes_first_and_has_a_sign(cast: Cast) -> None:
    for name, reads, writes in (("First", "b", "a"), ("Second", "a", "b")):
        make_rule(
            cast.workspace, name=name, condition=f"input.{reads} == 1",
            action_detail={"op": "set", "field": writes, "value": 1},
        )  # fmt: skip

    text = page_client(cast.viewer).get("/w/acme/dependencies/").text

    assert "Circles" in text
    assert "↻ First" in text


def test_dependency__added_and_taken_back__by_a_reviewer(cast: Cast) -> None:
    rule, other = make_rule(cast.workspace), make_reader(cast)
    client = page_client(cast.reviewer)

    said = {"rule": rule.uuid, "depends_on": other.uuid, "reason": "It knows."}
    text = client.post("/w/acme/dependencies/add/", said, follow=True).text
    row = ManualDependency.objects.get()

    assert "The dependency is noted." in text
    assert "It knows." in text
    again = client.post("/w/acme/dependencies/add/", said, follow=True).text
    assert "is there already" in again
    client.post(f"/w/acme/dependencies/{row.uuid}/remove/")
    assert not ManualDependency.objects.exists()
    empty = client.post("/w/acme/dependencies/add/", {"rule": rule.uuid}, follow=True).text
    assert "Choose two rules" in empty


def test_dependents__of_a_rule__show_the_call_that_needs_it(cast: Cast) -> None:
    rule = make_rule(cast.workspace)
    make_rule(
        cast.workspace, name="Needs a city", condition="", action_type="PRE_CALL_VALIDATION",
        action_detail={"check": "input.city == 'Shanghai'", "message": "No city"},
    )  # fmt: skip
    make_call(make_task(cast.workspace), "weather_api", input={"city": ""})

    text = page_client(cast.viewer).get(f"/w/acme/rules/{rule.uuid}/dependents/").text

    assert "without this rule it refuses the call: No city" in " ".join(text.split())


def test_tool__changed__leads_to_what_it_means_for_the_rules(cast: Cast) -> None:
    make_rule(cast.workspace)
    impact = make_impact(cast.workspace)
    client = page_client(cast.viewer)

    assert f"/w/acme/impacts/{impact.uuid}/" in client.get(f"/w/acme/tools/{impact.tool.uuid}/").text
    assert "weather_api" in client.get("/w/acme/impacts/").text
    text = client.get(f"/w/acme/impacts/{impact.uuid}/").text
    assert "1 of 1 affected" in text
    assert "Look at what it does" not in text
    assert "No field of the input" not in text


def test_tool__that_never_changed__has_no_impacts(cast: Cast) -> None:
    tool = make_tool(cast.workspace)

    assert "What its changes mean" not in page_client(cast.viewer).get(f"/w/acme/tools/{tool.uuid}/").text


def test_impact__nothing_uses_a_changed_field__is_an_answer(cast: Cast) -> None:
    impact = make_impact(cast.workspace)

    assert "Nothing is affected" in page_client(cast.viewer).get(f"/w/acme/impacts/{impact.uuid}/").text


def test_decision__confirmed__is_done_and_without_that_only_shown(cast: Cast) -> None:
    rule = make_rule(cast.workspace)
    impact = make_impact(cast.workspace)
    client, url = page_client(cast.maintainer), f"/w/acme/impacts/{impact.uuid}/decide/"
    said = {"decision": "requeue", "reason": "The field is gone.", "which": "chosen", "rule": str(rule.uuid)}

    shown = client.post(url, said).text

    assert "Yes, do it" in shown
    assert rule.name in shown
    assert not Rule.objects.filter(stale_since__isnull=False).exists()
    done = client.post(url, said | {"confirmed": "1"}, follow=True).text
    assert "Done for 1 rule." in done
    assert Rule.objects.get(stale_since__isnull=False) == rule
    assert AuditEvent.objects.filter(verb="requeue_rule").count() == 1
    assert "closed this already" in client.post(url, said | {"confirmed": "1"}, follow=True).text
    assert "decided" in client.get("/w/acme/impacts/?closed=1").text


def test_decision__without_a_reason_or_a_rule__is_refused_with_a_sentence(cast: Cast) -> None:
    make_rule(cast.workspace)
    impact = make_impact(cast.workspace)
    client, url = page_client(cast.maintainer), f"/w/acme/impacts/{impact.uuid}/decide/"

    assert "Say why" in client.post(url, {"decision": "disable"}, follow=True).text
    said = {"decision": "disable", "reason": "x", "which": "chosen"}
    shown = client.post(url, said).text
    assert "No rule is chosen." in shown
    assert "Yes, do it" not in shown
    assert "No rule is affected" in client.post(url, said | {"confirmed": "1"}, follow=True).text


def test_undo__of_what_waits_for_approval__says_that_there_is_nothing(cast: Cast) -> None:
    make_rule(cast.workspace)
    impact = make_impact(cast.workspace)
    client = page_client(cast.maintainer)
    said = {"decision": "disable", "reason": "gone", "which": "affected", "confirmed": "1"}

    waits = client.post(f"/w/acme/impacts/{impact.uuid}/decide/", said, follow=True).text

    assert "1 change waits for approval." in waits
    undone = client.post(f"/w/acme/impacts/{impact.uuid}/undo/", {"reason": "no"}, follow=True).text
    assert "Nothing that was disabled" in undone


def test_rule__that_another_one_needs__warns_before_it_is_disabled_and_in_the_request(cast: Cast) -> None:
    rule, reader = make_rule(cast.workspace), make_reader(cast)
    client = page_client(cast.maintainer)

    page = client.get(f"/w/acme/rules/{rule.uuid}/").text
    assert "1 rule needs this one and may break." in page
    assert reader.name in client.get(f"/w/acme/rules/{rule.uuid}/edit/").text
    client.post(f"/w/acme/rules/{rule.uuid}/disable/", {"reason": "no"})

    change = ChangeRequest.objects.get(rule=rule, kind="disable")
    assert [one["name"] for one in change.detail["dependents"]] == ["Units"]
    assert "1 rule needs this one" in page_client(cast.owner).get(f"/w/acme/changes/{change.uuid}/").text
