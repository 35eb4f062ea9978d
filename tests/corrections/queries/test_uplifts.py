"""The numbers that are shown of a rule: counts by arm, uplift, effectiveness, and what resets them."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from corrections.actions.canary_resets import note_schema, reset_evidence
from corrections.actions.canary_rows import next_stage
from corrections.actions.judging import judge_rules
from corrections.models import Canary, CanaryEvent, Exposure, Rule
from corrections.queries.canary_counts import stage_counts
from corrections.queries.effects import effect_of
from corrections.queries.rulesets import read_stamp
from corrections.queries.uplifts import ENOUGH, uplift_of
from memory.models import Tool, ToolSchema
from memory.permissions import SYSTEM
from tests.builders import NOW, make_tool
from tests.conftest import Cast
from tests.corrections.builders import make_canary, make_rule

TOOL = "weather_api"
HINT: dict[str, Any] = {
    "action_type": "PRE_CALL_VALIDATION",
    "action_detail": {"on_failure": "ask", "message": "?"},
}
A, B = "a" * 64, "b" * 64


def expose(canary: Canary, arm: str, n: int, failed: int | None, **fields: Any) -> None:
    """``n`` tasks of an arm, the first ``failed`` of which failed; None: nobody knows yet."""
    first = Exposure.objects.count()
    given = {
        "stage": canary.stage,
        "share": canary.share,
        "tool": TOOL,
        "exposed_at": timezone.now(),
        **fields,
    }
    Exposure.objects.bulk_create(
        Exposure(
            workspace=canary.workspace, canary=canary, unit=f"u{first + at}", unit_digest="0" * 16, arm=arm,
            failed=None if failed is None else at < failed, **given,
        )
        for at in range(n)
    )  # fmt: skip


def fresh(rule: Rule) -> Rule:
    return Rule.objects.select_related("live_version", "workspace").get(pk=rule.pk)


def schema(tool: Tool, version: int, name: str, **fields: Any) -> None:
    ToolSchema.objects.create(
        tool=tool, version=version, schema_hash=name, **{"seen_at": timezone.now(), **fields}
    )


def test_counts__stages_and_arms__are_apart(cast: Cast) -> None:
    canary = make_canary(make_rule(cast.workspace), share=1_000)
    expose(canary, "canary", 3, 1, tool_error=True, is_crossed=True)
    expose(canary, "control", 4, None)
    next_stage(canary, "trial", 5_000, now=timezone.now())
    expose(canary, "control", 5, 2, slow=True)

    first, second = stage_counts(canary)

    assert (first.share, second.share, first.phase) == (1_000, 5_000, "trial")
    assert first.arm("canary").count("failed") == 1
    assert (first.arm("canary").exposed, first.arm("canary").crossed, first.arm("canary").tool_error) == (
        3,
        3,
        3,
    )
    assert (first.arm("control").exposed, first.arm("control").decided) == (4, 0)
    assert second.arm("canary").is_empty
    assert (second.arm("control").among("slow"), second.arm("control").count("slow")) == (5, 5)
    assert first.to_dict()["canary"]["decided"] == 3


def test_counts__before_the_evidence_begins__are_left_out(cast: Cast) -> None:
    canary = make_canary(make_rule(cast.workspace))
    expose(canary, "canary", 3, 0, exposed_at=NOW - timedelta(days=1))
    expose(canary, "canary", 2, 0, exposed_at=NOW)

    [stage] = stage_counts(canary, phases=["trial"])
    [of_all_time] = stage_counts(canary, of_all_time=True)

    assert stage.arm("canary").exposed == 2
    assert of_all_time.arm("canary").exposed == 5
    assert stage_counts(canary, phases=["holdout"]) == []


@pytest.mark.parametrize(
    ("with_rule", "without", "is_known"),
    [
        pytest.param(ENOUGH, ENOUGH, True, id="enough"),
        pytest.param(ENOUGH - 1, 90, False, id="canary-arm-too-small"),
        pytest.param(90, ENOUGH - 1, False, id="control-arm-too-small"),
    ],
)
def test_uplift__decided_tasks_in_both_arms__are_needed(
    cast: Cast, with_rule: int, without: int, is_known: bool
) -> None:
    canary = make_canary(make_rule(cast.workspace))
    expose(canary, "canary", with_rule, 0)
    expose(canary, "control", without, without // 2)

    assert (uplift_of(fresh(canary.rule)) is not None) == is_known


def test_uplift__late_and_corrected_outcomes__move_it(cast: Cast) -> None:
    canary = make_canary(make_rule(cast.workspace))
    expose(canary, "canary", 40, 0)
    expose(canary, "control", 40, 30)
    before = uplift_of(fresh(canary.rule))
    Exposure.objects.filter(arm="canary").update(failed=True)
    after = uplift_of(fresh(canary.rule))

    assert before is not None
    assert after is not None
    assert before.interval.estimate == 0.75
    assert before.interval.lower > 0 > after.interval.estimate
    assert (before.n_canary, before.n_control, before.phase) == (40, 40, "trial")


def test_uplift__after_a_promotion__is_the_trials_until_the_holdout_knows(cast: Cast) -> None:
    canary = make_canary(make_rule(cast.workspace))
    expose(canary, "canary", 20, 0)
    expose(canary, "control", 20, 10)
    next_stage(canary, "holdout", 9_500, now=timezone.now())
    canary.evidence_since = timezone.now()
    canary.save()
    expose(canary, "canary", 50, 25)
    expose(canary, "control", 3, 0)
    first = uplift_of(fresh(canary.rule))
    expose(canary, "control", ENOUGH, 0)
    second = uplift_of(fresh(canary.rule))

    assert first is not None
    assert second is not None
    assert (first.phase, first.interval.estimate) == ("trial", 0.5)
    assert (second.phase, second.interval.estimate, second.n_control) == ("holdout", -0.5, ENOUGH + 3)


def test_uplift__rule_without_canary__is_not_known(cast: Cast) -> None:
    assert uplift_of(fresh(make_rule(cast.workspace))) is None


def test_judge__outcomes_of_tasks__are_stored_and_served_over_the_api(cast: Cast) -> None:
    canary = make_canary(make_rule(cast.workspace, **HINT))
    expose(canary, "canary", 20, 5)
    expose(canary, "control", 20, 20)
    Rule.objects.update(score_due=True)
    stamp = read_stamp(cast.workspace.pk)

    assert judge_rules(now=timezone.now(), by=SYSTEM) == 1

    rule = fresh(canary.rule)
    assert effect_of(rule).of_tasks
    assert rule.effectiveness is not None
    assert rule.effectiveness < (rule.effectiveness_score or 0) < 1
    assert rule.uplift["estimate"] == 0.75
    assert not rule.score_due
    assert read_stamp(cast.workspace.pk) == stamp + 1


def test_judge__within_the_minute__waits_and_keeps_the_mark(cast: Cast) -> None:
    canary = make_canary(make_rule(cast.workspace, **HINT))
    expose(canary, "canary", 20, 5)
    now = timezone.now()
    Rule.objects.update(score_due=True)
    judge_rules(now=now, by=SYSTEM)
    Rule.objects.update(score_due=True)

    assert judge_rules(now=now + timedelta(seconds=30), by=SYSTEM) == 0
    assert fresh(canary.rule).score_due
    assert judge_rules(now=now + timedelta(seconds=61), by=SYSTEM) == 1


def test_reset__another_schema__begins_anew_with_the_first_share(cast: Cast) -> None:
    canary = make_canary(make_rule(cast.workspace), share=5_000)
    tool = make_tool(cast.workspace, TOOL)
    schema(tool, 1, A)
    note_schema(canary)
    canary.save()
    expose(canary, "canary", 20, 0)
    expose(canary, "control", 20, 10)
    assert uplift_of(fresh(canary.rule)) is not None
    schema(tool, 2, B)

    assert reset_evidence(canary, now=timezone.now(), by=SYSTEM)

    canary.refresh_from_db()
    event = CanaryEvent.objects.get(kind="reset")
    assert (canary.share, canary.stage, canary.schema_version, canary.schema_hash) == (1_000, 1, 2, B)
    assert (event.numbers["schema_from"], event.numbers["schema_to"]) == (A, B)
    assert all(stage.arm("canary").is_empty for stage in stage_counts(canary))
    assert uplift_of(fresh(canary.rule)) is None
    assert not reset_evidence(canary, now=timezone.now(), by=SYSTEM)


@pytest.mark.parametrize(
    ("versions", "noted"),
    [
        pytest.param([(1, A), (2, A)], (2, A), id="only-the-reported-version"),
        pytest.param([(1, A), (2, B), (3, A)], (3, A), id="changed-and-back-unseen"),
    ],
)
def test_reset__same_hash__goes_on(
    cast: Cast, versions: list[tuple[int, str]], noted: tuple[int, str]
) -> None:
    canary = make_canary(make_rule(cast.workspace))
    tool = make_tool(cast.workspace, TOOL)
    schema(tool, *versions[0])
    note_schema(canary)
    canary.save()
    for version in versions[1:]:
        schema(tool, *version)

    assert not reset_evidence(canary, now=timezone.now(), by=SYSTEM)
    canary.refresh_from_db()
    assert (canary.schema_version, canary.schema_hash) == noted
    assert not CanaryEvent.objects.filter(kind="reset").exists()


def test_reset__schema_still_being_learnt__goes_on(cast: Cast) -> None:
    canary = make_canary(make_rule(cast.workspace))
    tool = make_tool(cast.workspace, TOOL)
    schema(tool, 1, A)
    note_schema(canary)
    canary.save()
    ToolSchema.objects.update(schema_hash=B)

    assert not reset_evidence(canary, now=timezone.now(), by=SYSTEM)
    assert canary.schema_hash == B


def test_score__schema_that_comes_back__brings_back_what_was_known(cast: Cast) -> None:
    canary = make_canary(make_rule(cast.workspace, **HINT))
    tool = make_tool(cast.workspace, TOOL)
    ago = {days: timezone.now() - timedelta(days=days) for days in (9, 8, 7, 6, 5, 4)}
    schema(tool, 1, A, seen_at=ago[9])
    expose(canary, "canary", 4, 0, exposed_at=ago[8])
    assert effect_of(fresh(canary.rule)).effect.outcomes == 4

    schema(tool, 2, B, seen_at=ago[7])
    expose(canary, "canary", 5, 5, exposed_at=ago[6])
    changed = effect_of(fresh(canary.rule))
    schema(tool, 3, A, seen_at=ago[5])
    expose(canary, "canary", 2, 0, exposed_at=ago[4])
    back = effect_of(fresh(canary.rule))

    assert (changed.helped, changed.failed) == (0, 5)
    assert (back.helped, back.failed) == (6, 0)
