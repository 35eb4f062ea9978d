"""The pages of canaries: the list, one canary, its tasks, the shadow run, downloads, the steps."""

import csv
from datetime import timedelta
from typing import Any

import pytest

from corrections.actions.canaries import roll_back_canary
from corrections.models import Canary, CanaryEvent, CanaryStage, Exposure
from tests.builders import NOW
from tests.conftest import Cast, page_client
from tests.corrections.builders import make_canary, make_change, make_rule
from tests.corrections.canaries import expose, open_canary, turn
from tests.corrections.canary_scenes import make_exposure, make_tried
from tests.corrections.web.scenes import hostile_rule
from tests.pages import HOSTILE, extra_queries, page_faults

pytestmark = pytest.mark.django_db
PAGES = ("", "{uuid}/", "{uuid}/exposures/", "{uuid}/matches/")


def url_of(canary: Canary, rest: str = "") -> str:
    return f"/w/acme/canaries/{canary.uuid}/{rest}"


def lines_of(answer: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(b"".join(answer.streaming_content).decode().splitlines()))


def steer(cast: Cast, role: str, canary: Canary, step: str, **body: Any) -> Any:
    return page_client(getattr(cast, role)).post(
        url_of(canary, "steer/"), {"step": step, **body}, follow=True
    )


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("state", ["running", "shadow"])
def test_page__hostile_text__stays_text(cast: Cast, page: str, state: str) -> None:
    canary = make_tried(cast.workspace, HOSTILE, state=state)
    make_exposure(canary, "shadow", name=f"{HOSTILE} shadow")

    answer = page_client(cast.viewer).get("/w/acme/canaries/" + page.format(uuid=canary.uuid))

    assert page_faults(answer) == []


def test_list__no_canary__says_how_one_begins(cast: Cast) -> None:
    text = page_client(cast.viewer).get("/w/acme/canaries/").text

    assert "A canary begins when a rule that an agent or the inducer wrote is approved" in text


@pytest.mark.parametrize(
    ("state", "group"),
    [
        pytest.param("running", "trial", id="running"),
        pytest.param("held", "trial", id="held"),
        pytest.param("waiting", "trial", id="waiting"),
        pytest.param("paused", "trial", id="paused"),
        pytest.param("shadow", "shadow", id="shadow"),
        pytest.param("holdout", "holdout", id="holdout"),
        pytest.param("rolled_back", "over", id="rolled-back"),
        pytest.param("ended", "over", id="ended"),
    ],
)
def test_list__each_state__stands_in_its_group(cast: Cast, state: str, group: str) -> None:
    canary = make_tried(cast.workspace, state=state)

    page = page_client(cast.viewer).get("/w/acme/canaries/")
    found = page_client(cast.viewer).get(f"/w/acme/canaries/?group={group}").context["page"]

    assert [(one["name"], one["total"]) for one in page.context["groups"]] == [(group, 1)]
    assert [one.row for one in found["pictures"]] == [canary]
    assert canary.rule.name in page.text


def test_list__one_waits_for_a_person__stands_first_and_is_counted_in_the_menu(cast: Cast) -> None:
    held = make_tried(cast.workspace, "Older", state="held")
    newer = make_tried(cast.workspace, "Newer")

    page = page_client(cast.viewer).get("/w/acme/canaries/")

    assert [one.row for one in page.context["groups"][0]["pictures"]] == [held, newer]
    assert [item.count for _, items in page.context["shell"].groups for item in items if item.current] == [1]


def test_list__filter__looks_in_the_name_and_ignores_nonsense(cast: Cast) -> None:
    canary = make_tried(cast.workspace, "Trim the code")
    make_tried(cast.workspace, "Default city")
    client = page_client(cast.viewer)

    assert [one.row for one in client.get("/w/acme/canaries/?q=trim").context["page"]["pictures"]] == [canary]
    assert "No canary matches" in client.get("/w/acme/canaries/?q=nowhere").text
    assert len(client.get("/w/acme/canaries/?group=%00").context["groups"]) == 1


@pytest.mark.parametrize("page", PAGES)
def test_page__more_rows__asks_no_more_queries(cast: Cast, page: str) -> None:
    canary = make_tried(cast.workspace)
    make_exposure(canary, "shadow")
    few = "/w/acme/canaries/" + page.format(uuid=canary.uuid)

    def more() -> str:
        for number in range(3):
            make_tried(cast.workspace, f"Other {number}")
            make_exposure(canary, "shadow")
            make_exposure(canary, "control", failed=True)
        return few

    assert extra_queries(page_client(cast.viewer), few, more) == []


def test_detail__few_tasks__says_that_there_is_not_enough_data(cast: Cast) -> None:
    canary = make_tried(cast.workspace, tasks=2)

    page = page_client(cast.viewer).get(url_of(canary))

    assert "Not enough data: 2 tasks with the rule and 2 without have come to an end." in page.text
    assert page.context["picture"].certainty.word == "unknown"


def test_detail__many_tasks__says_how_sure_it_is(cast: Cast) -> None:
    canary = make_tried(cast.workspace, tasks=30)

    page = page_client(cast.viewer).get(url_of(canary))

    assert "95 % sure" in page.text
    assert page.context["picture"].certainty.word in ("open", "helps")
    assert len(page.context["chart"].marks) == 3


def test_detail__tasks_ended_since_the_last_look__are_counted(cast: Cast) -> None:
    canary = make_tried(cast.workspace)
    make_exposure(canary, "control", failed=True)

    page = page_client(cast.viewer).get(url_of(canary))

    assert page.context["picture"].control.numbers.decided == 3


def test_detail__an_edit__shows_what_differs_and_both_versions(cast: Cast) -> None:
    change = make_change(cast.workspace)
    canary = make_canary(change.rule)

    text = page_client(cast.viewer).get(url_of(canary)).text

    assert "What differs from version 1" in text
    assert "version served so far" in text


def test_detail__asked_by_htmx__is_the_live_part_and_reloads_after_a_change(cast: Cast) -> None:
    canary = make_tried(cast.workspace)
    client = page_client(cast.viewer)

    same = client.get(url_of(canary) + "?seen=running-0", headers={"HX-Request": "true"})
    other = client.get(url_of(canary) + "?seen=paused-0", headers={"HX-Request": "true"})

    assert 'id="live"' in same.text
    assert "<h1>" not in same.text
    assert ("HX-Refresh" in same.headers, "HX-Refresh" in other.headers) == (False, True)


def test_detail__over__is_not_asked_for_again(cast: Cast) -> None:
    canary = make_tried(cast.workspace, state="rolled_back")

    assert "hx-trigger" not in page_client(cast.viewer).get(url_of(canary)).text


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        pytest.param("", 5, id="all"),
        pytest.param("?arm=control", 2, id="arm"),
        pytest.param("?outcome=failed", 1, id="failed"),
        pytest.param("?outcome=good", 3, id="good"),
        pytest.param("?outcome=open", 1, id="open"),
        pytest.param("?crossed=yes", 2, id="crossed"),
        pytest.param("?arm=%00&outcome=x&cursor=y", 5, id="nonsense"),
    ],
)
def test_exposures__filter__leaves_what_is_asked_for(cast: Cast, query: str, expected: int) -> None:
    canary = make_tried(cast.workspace)

    page = page_client(cast.viewer).get(url_of(canary, "exposures/") + query)

    assert len(page.context["page"].rows) == expected


def test_matches__a_recorded_call__shows_what_it_would_have_been(cast: Cast) -> None:
    canary = make_canary(make_rule(cast.workspace, active=False), state="shadow")
    make_exposure(canary, "shadow")

    page = page_client(cast.viewer).get(url_of(canary, "matches/"))

    change = page.context["matches"][0].would.changes[0]
    assert (change.field, change.old, change.new) == ("input.city", "", "Shanghai")
    assert page.context["matches"][0].problem == ""


def test_matches__call_not_recorded_yet__says_so(cast: Cast) -> None:
    canary = make_canary(make_rule(cast.workspace, active=False), state="shadow")
    make_exposure(canary, "shadow", receipt=None)

    assert "The call is not recorded yet." in page_client(cast.viewer).get(url_of(canary, "matches/")).text


def test_matches__the_call_was_made_otherwise__says_that_it_does_not_fire(cast: Cast) -> None:
    canary = make_canary(make_rule(cast.workspace, active=False), state="shadow")
    call = make_exposure(canary, "shadow").task.calls.get()
    call.input = {"city": "Rome"}
    call.save()

    assert "On the call as it was recorded" in page_client(cast.viewer).get(url_of(canary, "matches/")).text


def test_csv__exposures__are_all_there_and_no_formula(cast: Cast) -> None:
    canary = make_tried(cast.workspace, "=HYPERLINK(1)")

    rows = lines_of(page_client(cast.viewer).get(url_of(canary, "exposures.csv")))

    assert len(rows) == 5
    assert rows[0]["task"].startswith("'=")
    assert {row["arm"] for row in rows} == {"canary", "control"}


def test_csv__stages_and_looks__have_the_numbers_of_the_page(cast: Cast) -> None:
    canary = make_tried(cast.workspace, tasks=30)
    client = page_client(cast.viewer)

    stages, looks = (lines_of(client.get(url_of(canary, name))) for name in ("stages.csv", "looks.csv"))

    assert (stages[0]["control_decided"], stages[0]["control_failed"]) == ("30", "15")
    assert float(looks[0]["benefit_log_e"]) == pytest.approx(canary.evidence["benefit_log_e"])


def test_detail__promoted__its_trial_keeps_its_numbers_and_the_lines_break(cast: Cast) -> None:
    canary = make_tried(cast.workspace, tasks=30)
    promoted = NOW + timedelta(days=1, hours=1)
    canary.stages.update(ended_at=promoted)
    CanaryStage.objects.create(canary=canary, number=1, phase="holdout", share=9_500, begun_at=promoted)
    CanaryEvent.objects.create(canary=canary, kind="promote", at=promoted, by="x", by_kind="system")
    Canary.objects.filter(pk=canary.pk).update(state="holdout", stage=1, evidence_since=promoted)

    page = page_client(cast.viewer).get(url_of(canary)).context

    trial, holdout = page["stages"]
    assert (trial.control.numbers.decided, trial.control.numbers.failed) == (30, 15)
    assert (trial.is_left_out, holdout.is_left_out) == (True, False)
    assert page["picture"].control.numbers.decided == 0
    assert len(page["chart"].benefit.segments) == 1
    assert page["chart"].benefit.segments[0].count(",") == 2


@pytest.mark.parametrize(
    ("approved", "buttons"),
    [
        pytest.param(True, {"promote", "resume", "roll_back"}, id="on-trial"),
        pytest.param(False, {"promote", "resume", "stop_shadow"}, id="shadow-run"),
    ],
)
def test_buttons__paused__are_those_that_can_be_pressed(
    cast: Cast, approved: bool, buttons: set[str]
) -> None:
    canary = make_tried(cast.workspace, state="paused")
    if approved:
        canary.change = make_change(cast.workspace)
        canary.save()

    page = page_client(cast.owner).get(url_of(canary)).context

    assert {button.step for button in page["buttons"]} == buttons


def test_detail__no_call_was_timed__slow_is_not_known(cast: Cast) -> None:
    canary = make_tried(cast.workspace, tasks=30)
    Exposure.objects.update(slow=None)

    text = page_client(cast.viewer).get(url_of(canary)).text

    assert "0.0–100.0" not in text


def test_steer__paused_and_resumed__each_with_its_reason(cast: Cast) -> None:
    canary = make_tried(cast.workspace)

    assert "It is paused." in steer(cast, "reviewer", canary, "pause", reason="the provider is down").text
    assert "It goes on." in steer(cast, "maintainer", canary, "resume", reason="it is back").text

    kinds = CanaryEvent.objects.filter(canary=canary).order_by("-pk").values_list("kind", "reason")[:2]
    assert list(kinds) == [("resume", "it is back"), ("pause", "the provider is down")]


@pytest.mark.parametrize(
    ("step", "body", "sentence"),
    [
        pytest.param("pause", {}, "Say why", id="no-reason"),
        pytest.param("set_share", {"reason": "x"}, "Say how much.", id="no-share"),
        pytest.param("set_share", {"reason": "x", "share": "200"}, "less than or equal to", id="too-much"),
        pytest.param("explode", {"reason": "x"}, "explode is not one of", id="no-step"),
        pytest.param("end_holdout", {"reason": "x"}, "There is no holdout to end", id="wrong-state"),
    ],
)
def test_steer__what_cannot_be__is_said_and_nothing_changes(
    cast: Cast, step: str, body: dict[str, str], sentence: str
) -> None:
    canary = make_tried(cast.workspace)

    assert sentence in steer(cast, "owner", canary, step, **body).text
    assert Canary.objects.get(pk=canary.pk).state == "running"


def test_steer__share_in_percent__begins_a_stage(cast: Cast) -> None:
    canary = make_tried(cast.workspace)

    assert "A new stage has begun." in steer(cast, "owner", canary, "set_share", reason="x", share="25").text
    assert Canary.objects.get(pk=canary.pk).share == 2_500


def test_steer__a_reviewer_wants_to_promote__may_not_and_the_button_says_so(cast: Cast) -> None:
    canary = make_tried(cast.workspace)

    assert steer(cast, "reviewer", canary, "promote", reason="mine").status_code == 403
    assert "You need to be at least maintainer to steer canaries." in page_client(cast.reviewer).get(
        url_of(canary)
    ).text  # fmt: skip


def test_shadow__a_draft_from_its_page__runs_and_leads_to_its_canary(cast: Cast) -> None:
    rule = make_rule(cast.workspace, active=False)
    client = page_client(cast.reviewer)

    assert "Run in shadow" in client.get(f"/w/acme/rules/{rule.uuid}/").text
    page = client.post(f"/w/acme/rules/{rule.uuid}/shadow/", {"version": 1, "reason": "look"}, follow=True)

    assert page.context["canary"].state == "shadow"
    assert "would have fired in 0 tasks" in client.get(f"/w/acme/rules/{rule.uuid}/").text


@pytest.mark.parametrize("body", [{}, {"version": 9, "reason": "x"}, {"version": 1}])
def test_shadow__no_reason_or_no_such_version__starts_nothing(cast: Cast, body: dict[str, Any]) -> None:
    rule = make_rule(cast.workspace, active=False)

    page_client(cast.reviewer).post(f"/w/acme/rules/{rule.uuid}/shadow/", body)

    assert not Canary.objects.exists()


def test_shadow__already_on_trial__is_refused(cast: Cast) -> None:
    canary = make_tried(cast.workspace)

    page = page_client(cast.reviewer).post(
        f"/w/acme/rules/{canary.rule.uuid}/shadow/", {"version": 1, "reason": "again"}, follow=True
    )

    assert "A version of this rule is on trial or in shadow already." in page.text


def test_rule_page__uplift_known__shows_its_bounds_and_both_arms(cast: Cast) -> None:
    rule = make_rule(cast.workspace)
    rule.uplift = {"estimate": 0.2, "lower": 0.08, "upper": 0.3, "n_canary": 62, "n_control": 92,
                   "since": "2026-03-01T00:00:00+00:00", "version": 1, "phase": "trial"}  # fmt: skip
    rule.effectiveness_score = 0.83
    rule.save()
    client = page_client(cast.viewer)

    page, listed = client.get(f"/w/acme/rules/{rule.uuid}/").text, client.get("/w/acme/rules/").text

    assert "≥ +8.0" in page
    assert "62 tasks with it, 92 without" in page
    assert "evidence since 2026-03-01" in page
    assert "0.83" in page
    assert "≥ +8.0" in listed


def test_rule_page__no_evidence__says_not_enough_data(cast: Cast) -> None:
    rule = hostile_rule(cast.workspace)
    client = page_client(cast.viewer)

    assert "not enough data" in client.get(f"/w/acme/rules/{rule.uuid}/").text
    assert "not enough data" in client.get("/w/acme/rules/").text


def test_roll_back__the_alert__says_why_and_leads_to_the_canary(cast: Cast) -> None:
    canary = open_canary(cast.workspace)
    expose(canary, "canary", 12, failed=4)
    expose(canary, "control", 20, failed=5)
    turn()
    client = page_client(cast.reviewer)

    roll_back_canary(canary=canary, by=cast.actor("reviewer"), reason="It hurts")
    alert, inbox = client.get("/w/acme/alerts/").text, client.get("/w/acme/review/?kind=alert").text

    assert "It hurts" in alert
    assert url_of(canary) in alert
    assert "Failed: 4 of 12 tasks with the rule, 5 of 20 without." in alert
    assert "It hurts" in inbox


def test_rule_page__rolled_back__sends_to_its_canaries(cast: Cast) -> None:
    canary = open_canary(cast.workspace)
    roll_back_canary(canary=canary, by=cast.actor("reviewer"), reason="It hurts")

    text = page_client(cast.viewer).get(f"/w/acme/rules/{canary.rule.uuid}/").text

    assert "not served now: what was measured stands with its canaries" in text
