"""The decision table of a canary, row by row, and in which order the rows come."""

import json
from dataclasses import replace
from typing import Any

import pytest

from corrections.domain.canaries import BUCKETS, CANARY_STATES, CanaryPolicy, in_buckets
from corrections.domain.effect import ArmCounts, Evidence, Limits, StageCounts, harm_log_e, judge


def _stage(share: float, canary: tuple[int, int], control: tuple[int, int]) -> StageCounts:
    return StageCounts(share, ArmCounts(*canary), ArmCounts(*control))


HARM = [_stage(0.5, (60, 20), (60, 3))]  # E about 390
MILD = [_stage(0.5, (40, 12), (40, 3))]  # E about 9
SOME = [_stage(0.5, (60, 13), (60, 2))]  # E about 39
HELP = [_stage(0.5, (60, 3), (60, 20))]
EVEN = [_stage(0.5, (60, 6), (60, 6))]
YOUNG = [_stage(0.1, (1, 0), (8, 0))]
FIRST = [_stage(0.1, (1, 0), (9, 1))]
LOUD = {"tool_error": HARM, "slow": EVEN}
ONE_OF_FOUR = {"tool_error": MILD, "slow": EVEN, "retried": EVEN, "overridden": EVEN}
TORN = [(0.5, 90, 30)]

RUNNING = Evidence(state="running", share=0.5, trial=EVEN, days_left=3.0)
AT_FIRST = replace(RUNNING, share=0.1)
PROMOTED = Evidence(state="holdout", share=0.95)
WORSE_LATER = [_stage(0.95, (800, 220), (40, 4))]  # E about 13
HARMED_LATER = [_stage(0.95, (900, 400), (60, 5))]
USELESS = [_stage(0.95, (50_000, 5_000), (2_700, 270))]
USEFUL = [_stage(0.95, (50_000, 1_000), (2_700, 540))]

ROWS = [
    pytest.param(replace(RUNNING, trial=HARM), "roll_back", "harmful", id="harm"),
    pytest.param(replace(RUNNING, trial=HARM, share=0.1), "roll_back", "harmful", id="harm-at-first-share"),
    pytest.param(replace(RUNNING, state="held", trial=HARM), "roll_back", "harmful", id="harm-while-held"),
    pytest.param(replace(RUNNING, guardrails=LOUD), "roll_back", "unsafe", id="guardrail"),
    pytest.param(replace(RUNNING, trial=HELP, guardrails=LOUD), "roll_back", "unsafe", id="guardrail-first"),
    pytest.param(replace(RUNNING, trial=HARM, exposed=TORN), "blocked", "mismatch", id="split-first"),
    pytest.param(replace(RUNNING, trial=HELP, exposed=TORN), "blocked", "mismatch", id="split-not-promoted"),
    pytest.param(
        replace(RUNNING, exposed=TORN, days_left=-1.0), "blocked", "mismatch", id="split-at-the-end"
    ),
    pytest.param(replace(RUNNING, trial=SOME, live=3), "brake", "suspect", id="harm-among-three"),
    pytest.param(
        replace(RUNNING, trial=SOME, live=3, other_harm=[4.0, 5.0]),
        "roll_back",
        "harmful",
        id="harm-among-three-bad-ones",
    ),
    pytest.param(
        replace(RUNNING, guardrails={"slow": SOME}, live=3), "brake", "suspect", id="guardrail-brakes"
    ),
    pytest.param(
        replace(RUNNING, guardrails={"slow": SOME}, live=2, other_guard=[9.0]),
        "roll_back",
        "unsafe",
        id="guardrail-among-two-bad-ones",
    ),
    pytest.param(replace(AT_FIRST, trial=SOME, live=3), "wait", "open", id="braked-already"),
    pytest.param(replace(RUNNING, trial=HELP), "promote", "helpful", id="benefit"),
    pytest.param(replace(RUNNING, state="held", trial=HELP), "promote", "helpful", id="benefit-while-held"),
    pytest.param(replace(RUNNING, trial=HELP, live=40), "wait", "open", id="benefit-among-many"),
    pytest.param(replace(AT_FIRST, trial=HELP, share=0.1), "promote", "helpful", id="benefit-before-ramp"),
    pytest.param(
        replace(AT_FIRST, trial=HELP, guardrails={"slow": SOME}, live=3),
        "wait",
        "open",
        id="benefit-but-suspect",
    ),
    pytest.param(replace(RUNNING, days_left=0.0), "hold", "time", id="time-over-agent"),
    pytest.param(replace(RUNNING, days_left=-2.0, is_human=True), "promote", "stays", id="time-over-human"),
    pytest.param(
        replace(RUNNING, days_left=0.0, is_human=True, trial=MILD),
        "hold",
        "time",
        id="time-over-human-not-quiet",
    ),
    pytest.param(replace(RUNNING, days_left=0.0, trial=HELP), "promote", "helpful", id="time-over-benefit"),
    pytest.param(replace(RUNNING, days_left=0.0, trial=HARM), "roll_back", "harmful", id="time-over-harm"),
    pytest.param(replace(AT_FIRST, days_left=0.0), "hold", "time", id="time-over-no-ramp"),
    pytest.param(replace(RUNNING, state="held", days_left=-9.0), "wait", "open", id="held-stays-held"),
    pytest.param(replace(AT_FIRST, trial=FIRST), "ramp", "quiet", id="first-look"),
    pytest.param(replace(AT_FIRST, trial=FIRST, days_left=None), "ramp", "quiet", id="no-time-limit"),
    pytest.param(replace(AT_FIRST, trial=YOUNG), "wait", "young", id="too-young"),
    pytest.param(replace(AT_FIRST, trial=[]), "wait", "young", id="nothing-yet"),
    pytest.param(
        replace(AT_FIRST, trial=[_stage(0.1, (0, 0), (30, 2))]), "wait", "open", id="none-had-the-rule"
    ),
    pytest.param(replace(AT_FIRST, trial=MILD), "wait", "open", id="not-quiet"),
    pytest.param(replace(AT_FIRST, guardrails=ONE_OF_FOUR), "wait", "open", id="one-guardrail-not-quiet"),
    pytest.param(replace(RUNNING, guardrails=ONE_OF_FOUR), "wait", "open", id="one-guardrail-of-four"),
    pytest.param(RUNNING, "wait", "open", id="no-verdict"),
    pytest.param(replace(RUNNING, state="held"), "wait", "open", id="held"),
    pytest.param(replace(AT_FIRST, state="held", trial=FIRST), "wait", "open", id="held-no-ramp"),
    pytest.param(replace(PROMOTED, holdout=USEFUL), "wait", "useful", id="holdout-useful"),
    pytest.param(replace(PROMOTED, holdout=HARMED_LATER), "roll_back", "harmful", id="holdout-harm"),
    pytest.param(
        replace(PROMOTED, holdout=HARMED_LATER, exposed=TORN), "blocked", "mismatch", id="holdout-split"
    ),
    pytest.param(replace(PROMOTED, holdout=WORSE_LATER), "alarm", "worse", id="holdout-worse"),
    pytest.param(
        replace(PROMOTED, holdout=HARMED_LATER, live=9_999), "alarm", "worse", id="holdout-among-many"
    ),
    pytest.param(replace(PROMOTED, holdout=USELESS), "alarm", "useless", id="holdout-useless"),
    pytest.param(
        replace(PROMOTED, holdout=[_stage(0.95, (3_800, 380), (199, 19))]),
        "wait",
        "useful",
        id="holdout-young",
    ),
    pytest.param(
        replace(PROMOTED, trial=HARM, holdout=USEFUL), "wait", "useful", id="holdout-forgets-the-trial"
    ),
    pytest.param(replace(RUNNING, holdout=HARMED_LATER), "wait", "open", id="trial-knows-no-holdout"),
]


@pytest.mark.parametrize(("evidence", "step", "because"), ROWS)
def test_judge__evidence__comes_to_a_step(evidence: Evidence, step: str, because: str) -> None:
    judgement = judge(evidence)

    assert (judgement.step, judgement.numbers["because"]) == (step, because)


@pytest.mark.parametrize("state", sorted(set(CANARY_STATES) - {"running", "held", "holdout"}))
def test_judge__state_in_which_nothing_is_looked_at__waits(state: str) -> None:
    judgement = judge(replace(RUNNING, state=state, trial=HARM, holdout=HARMED_LATER, days_left=-1.0))

    assert (judgement.step, judgement.numbers["because"]) == ("wait", "unjudged")


@pytest.mark.parametrize(("evidence", "_step", "_because"), ROWS)
def test_judge__every_row__has_a_sentence_and_json_numbers(
    evidence: Evidence, _step: str, _because: str
) -> None:
    judgement = judge(evidence)

    assert judgement.reason.endswith(".")
    assert "None" not in judgement.reason
    assert json.loads(json.dumps(judgement.numbers, allow_nan=False)) == judgement.numbers


SENTENCES = [
    pytest.param(
        replace(RUNNING, trial=SOME, live=3),
        "Tasks seem to go worse with the rule: E = 39, not yet enough, among 3 canaries. "
        "Its share goes back to 10%.",
        id="brake",
    ),
    pytest.param(
        replace(AT_FIRST, trial=FIRST),
        "10 tasks are decided, 1 of them with the rule, and nothing speaks against it (E = 1): "
        "its share goes up to 50%.",
        id="ramp",
    ),
    pytest.param(
        replace(AT_FIRST, trial=YOUNG), "Not enough data: 9 of at least 10 tasks are decided.", id="young"
    ),
]


@pytest.mark.parametrize(("evidence", "sentence"), SENTENCES)
def test_judge__decision__says_why(evidence: Evidence, sentence: str) -> None:
    assert judge(evidence).reason == sentence


def test_judge__any_decision__tells_every_number_it_saw() -> None:
    evidence = replace(
        RUNNING,
        trial=[*FIRST, *HARM],
        guardrails={"slow": MILD},
        exposed=[(0.1, 2, 11), (0.5, 70, 66)],
        live=2,
    )

    numbers = judge(evidence).numbers

    assert numbers["canary"] == {"n": 61, "failed": 20}
    assert numbers["control"] == {"n": 69, "failed": 4}
    assert (numbers["exposed"], numbers["decided"], numbers["live"], numbers["days_left"]) == (
        149,
        130,
        2,
        3.0,
    )
    assert numbers["harm_log_e"] == pytest.approx(harm_log_e([*FIRST, *HARM]))
    assert numbers["guardrails"]["slow"] == pytest.approx(numbers["guard_e"])
    assert (numbers["roll_back_at"], numbers["promote_at"], numbers["quiet_below"]) == (20.0, 40.0, 3.0)
    assert numbers["uplift"]["lower"] < numbers["uplift"]["estimate"] < 0.0
    assert 0.001 < numbers["mismatch_p"] <= 1.0


@pytest.mark.parametrize(("share", "share_to"), [(0.1, 0.5), (0.5, None)])
def test_judge__quiet__goes_to_the_full_share_once(share: float, share_to: float | None) -> None:
    assert judge(replace(RUNNING, share=share)).numbers["share_to"] == share_to


def test_judge__brake__goes_back_to_the_first_share() -> None:
    assert judge(replace(RUNNING, trial=SOME, live=3)).numbers["share_to"] == 0.1


def test_judge__overwhelming_evidence__is_still_a_number() -> None:
    judgement = judge(replace(RUNNING, trial=[_stage(0.5, (10**7, 10**7), (10**7, 0))]))

    assert judgement.step == "roll_back"
    assert "10^" in judgement.reason
    assert judgement.numbers["harm_e"] < float("inf")


POLICIES = [
    pytest.param({"alpha": 0.001}, replace(RUNNING, trial=HARM), "wait", id="alpha"),
    pytest.param({"min_look": 200}, AT_FIRST, "wait", id="least-look"),
    pytest.param({"full_share": 0.1}, AT_FIRST, "wait", id="no-ramp"),
    pytest.param({"first_share": 0.5}, replace(RUNNING, trial=SOME, live=3), "wait", id="no-brake"),
]


@pytest.mark.parametrize(("policy", "evidence", "step"), POLICIES)
def test_judge__policy_of_the_workspace__is_kept_to(
    policy: dict[str, Any], evidence: Evidence, step: str
) -> None:
    assert judge(evidence, rules=Limits.of(CanaryPolicy(**policy))).step == step


@pytest.mark.parametrize("share", [1 / 3, 0.12345, 0.77777, 0.00001])
def test_judge__share_that_is_no_whole_bucket__is_gone_to_once(share: float) -> None:
    limits = Limits.of(CanaryPolicy(first_share=share, full_share=share))
    there = in_buckets(share) / BUCKETS

    quiet = judge(replace(RUNNING, share=there), rules=limits)
    suspect = judge(replace(RUNNING, share=there, trial=SOME, live=3), rules=limits)

    assert (quiet.step, suspect.step) == ("wait", "wait")
