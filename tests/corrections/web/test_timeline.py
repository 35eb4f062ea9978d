"""Receipts on a task's timeline, and the pages that span both apps."""

from memory.models import ErrorPattern, Task
from tests.builders import make_call, make_pattern, make_task
from tests.conftest import Cast, api_client, make_key, page_client
from tests.corrections.builders import make_rule
from tests.memory.builders import record


def test_task__call_made_after_asking__shows_ruleset_and_rule(cast: Cast) -> None:
    rule = make_rule(cast.workspace)
    agent = api_client(make_key(cast.workspace))
    answer = agent.post("/api/v1/corrections/query", {"tool": "weather_api", "input": {"city": " "}}).json()
    call = {"tool": "weather_api", "input": answer["input"], "receipt": answer["receipt"]}
    record(cast.workspace, {"external_id": "t", "calls": [call]})

    text = page_client(cast.viewer).get(f"/w/acme/tasks/{Task.objects.get().uuid}/").text

    assert "Asked first." in text
    assert rule.name in text
    assert "applied" in text


def test_task__forged_receipt__is_shown_as_unreadable_and_names_no_foreign_rule(cast: Cast) -> None:
    foreign = make_rule(cast.elsewhere, name="Secret of the others")
    agent = api_client(make_key(cast.elsewhere))
    token = agent.post("/api/v1/corrections/query", {"tool": "weather_api", "input": {}}).json()["receipt"]
    task = make_task(cast.workspace)
    make_call(task, receipt=token)
    make_call(task, receipt="<script>alert(1)</script>")

    text = page_client(cast.viewer).get(f"/w/acme/tasks/{task.uuid}/").text

    assert text.count("cannot be read") == 2
    assert foreign.name not in text
    assert "<script>alert" not in text


def test_pattern__covered_by_a_rule__names_it(cast: Cast) -> None:
    pattern = make_pattern(cast.workspace)
    rule = make_rule(cast.workspace, patterns=(str(pattern.uuid),))

    text = page_client(cast.viewer).get(f"/w/acme/patterns/{pattern.uuid}/").text

    assert rule.name in text
    assert ErrorPattern.objects.get().status == "covered"
    assert "covered" in text


def test_search__rule_name__is_found_in_its_own_workspace_only(cast: Cast) -> None:
    make_rule(cast.workspace, name="Mend the city")
    make_rule(cast.elsewhere, name="Mend the other city")

    text = page_client(cast.viewer).get("/w/acme/search/?q=mend").text

    assert "Mend the city" in text
    assert "Mend the other city" not in text


def test_overview__rule_served__shows_the_ruleset(cast: Cast) -> None:
    make_task(cast.workspace)
    make_rule(cast.workspace)

    assert "changed 0" in page_client(cast.viewer).get("/w/acme/").text


def test_health__unreadable_task__is_listed(cast: Cast) -> None:
    make_task(cast.workspace, "odd", analysis_error="call 3: nested too deeply")
    make_task(cast.elsewhere, "foreign", analysis_error="not ours")

    text = page_client(cast.viewer).get("/w/acme/health/").text

    assert "call 3: nested too deeply" in text
    assert "not ours" not in text


def test_overview__tasks_that_failed_as_a_whole__are_not_offered_a_rule(cast: Cast) -> None:
    make_task(cast.workspace)
    make_pattern(cast.workspace, "Task failed though every call was fine", tool="(task)", occurrence_count=99)
    make_pattern(cast.workspace, "City must not be empty")

    text = page_client(cast.reviewer).get("/w/acme/").text

    assert "City must not be empty" in text
    assert "Task failed though" not in text
