"""Every kind of finding, and what is none."""

import subprocess
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import pytest

from corrections.domain.conflicts import (
    Analysis,
    Answer,
    Facts,
    Finding,
    Question,
    analyse_all,
    analyse_rule,
)
from corrections.domain.conflicts.answering import Solving
from hgmem.rules import Rule, Ruleset
from tests.corrections.domain.conflicts.rules import (
    FACTS,
    NOW,
    make_block,
    make_hint,
    make_rule,
    make_set,
    make_transform,
)


@pytest.fixture(scope="module")
def solving() -> Solving:
    return Solving(timeout_ms=1_000)


def _kinds(analysis: Analysis) -> list[tuple[str, str, str]]:
    return [(one.kind, one.rule_a, one.rule_b) for one in analysis.findings if one.verdict == "conflict"]


BLANK = "input.city == null || input.city == ''"
ROOT = Path(__file__).parents[4]
GUARDED = "type(input.n) == int && input.n"


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        pytest.param(
            [make_set("a", "input.q == 'x'", "city", "Rome"), make_set("b", BLANK, "city", "Oslo")],
            [("contradictory", "a", "b")],
            id="two values for one field",
        ),
        pytest.param(
            [make_set("a", "input.q == 'x'", "city", "Rome"), make_set("b", BLANK, "city", "Rome")],
            [],
            id="the same value, different cases",
        ),
        pytest.param(
            [
                make_set("a", "input.q == 'x'", "city", "Rome"),
                make_set("b", "input.q == 'y'", "city", "Oslo"),
            ],
            [],
            id="never together",
        ),
        pytest.param(
            [make_block("a", "input.q == 'x' && input.city == null"), make_set("b", BLANK, "city", "Oslo")],
            [("contradictory", "a", "b")],
            id="refused and repaired",
        ),
        pytest.param(
            [make_block("a", "input.q == 'x'"), make_set("b", BLANK, "city", "Oslo")],
            [],
            id="refused for another reason",
        ),
        pytest.param(
            [
                make_rule("a", "input.q == 'x'", "TOOL_SWITCH", {"tool": "find"}),
                make_set("b", BLANK, "city", "Oslo"),
            ],
            [("contradictory", "a", "b")],
            id="sent elsewhere and repaired",
        ),
        pytest.param(
            [
                make_rule("a", "input.q == 'x'", "TOOL_SWITCH", {"tool": "find"}),
                make_rule("b", BLANK, "TOOL_SWITCH", {"tool": "grep"}),
            ],
            [("contradictory", "a", "b")],
            id="two tools",
        ),
        pytest.param(
            [make_hint("a", "input.q in ['x', 'y']"), make_hint("b", "input.q == 'y' || input.q == 'x'")],
            [("redundant", "a", "b")],
            id="the same in other words",
        ),
        pytest.param(
            [make_hint("a", f"{GUARDED} > 6"), make_hint("b", f"{GUARDED} > 5")],
            [("subsumed", "a", "b")],
            id="one inside the other",
        ),
        pytest.param(
            [make_hint("a", f"{GUARDED} > 6"), make_hint("b", f"{GUARDED} > 5", "other words")],
            [],
            id="two hints",
        ),
        pytest.param(
            [
                make_set("a", "input.q == 'x' && input.city == null", "city", "Rome"),
                make_set("b", BLANK, "city", "Oslo", priority=5),
            ],
            [("shadowed", "a", "b")],
            id="never first",
        ),
        pytest.param([make_hint("a", "input.q == 'x' && input.q == 'y'")], [("dead", "a", "")], id="dead"),
        pytest.param(
            [make_hint("a", "input.q == null || input.q != null && input.q != null")],
            [("always_on", "a", "")],
            id="always on",
        ),
        pytest.param([make_hint("a", "true")], [], id="meant to be always on"),
        pytest.param([make_hint("a", "input.q.contains('x')")], [("can_error", "a", "")], id="can fail"),
        pytest.param(
            [
                make_set("a", "input.q == 'x'", "city", "Rome"),
                make_set("b", "input.city == null", "zip", "1"),
            ],
            [("interference", "a", "b")],
            id="one changes what the other reads",
        ),
        pytest.param(
            [make_set("a", "input.b == 1", "c", 1), make_set("b", "input.c == null", "b", 2)],
            [("interference", "a", "b"), ("loop", "a", "b")],
            id="a loop",
        ),
    ],
)
def test_analyse_all__rules__gives_their_findings(
    solving: Solving, rules: list[Rule], expected: list[tuple[str, str, str]]
) -> None:
    analysis = analyse_all(rules, FACTS, solving)

    assert _kinds(analysis) == expected
    assert analysis.pairs == len(rules) * (len(rules) - 1) // 2


def test_witness__every_finding__really_happens(solving: Solving) -> None:
    rules = [
        make_set("a", "input.q == 'x'", "city", "Rome"),
        make_set("b", BLANK, "city", "Oslo"),
        make_block("c", "input.city == null"),
    ]

    findings = analyse_all(rules, FACTS, solving).findings

    assert findings
    for finding in findings:
        pair = [rule for rule in rules if rule.uuid in (finding.rule_a, finding.rule_b)]
        assert finding.witness is not None
        moment = datetime.fromisoformat(finding.detail["now"])
        decision = Ruleset.compile(pair, version="1").decide(finding.witness, now=moment)
        assert len(decision.matched) == len(pair)
        assert finding.detail["first"] == decision.matched[0].uuid


@pytest.mark.parametrize(
    ("scope", "other"),
    [
        pytest.param({"tool": "search_*"}, {"tool": "find"}, id="tools"),
        pytest.param({"tool": "a*"}, {"tool": "b*"}, id="patterns"),
        pytest.param({"agent": "one"}, {"agent": "two"}, id="agents"),
        pytest.param({"tool_versions": "<2"}, {"tool_versions": ">=2"}, id="versions"),
        pytest.param({"point": "planning"}, {"point": "before"}, id="points"),
    ],
)
def test_scopes__that_never_meet__need_no_solver(scope: dict[str, str], other: dict[str, str]) -> None:
    rules = [make_hint("a", "true", applies_to=scope), make_hint("b", "true", applies_to=other)]

    analysis = analyse_rule(rules[0], rules[1:], FACTS, _Refuses())

    assert not analysis.findings
    assert not analysis.harmless


@pytest.mark.parametrize(
    ("scope", "other"),
    [
        pytest.param({"tool": "se*"}, {"tool": "*ch"}, id="patterns that cross"),
        pytest.param({"tool": "*"}, {"tool": "search"}, id="any tool"),
        pytest.param({"tags": ["x"]}, {"tags": ["y"]}, id="tags"),
        pytest.param({"tool_versions": ">1.1"}, {"tool_versions": "<1.2"}, id="versions that cross"),
        pytest.param({"agent": "one"}, {}, id="one agent"),
    ],
)
def test_scopes__that_meet__have_a_witness_in_both(
    solving: Solving, scope: dict[str, str], other: dict[str, str]
) -> None:
    rules = [
        make_set("a", "input.q == 'x'", "city", "Rome", applies_to=scope),
        make_set("b", BLANK, "city", "Oslo", applies_to=other),
    ]

    assert _kinds(analyse_all(rules, FACTS, solving)) == [("contradictory", "a", "b")]


def test_windows__that_never_meet__are_disjoint() -> None:
    early = make_hint("a", "true", valid_until="2026-01-01T00:00:00Z")
    late = make_hint("b", "true", valid_from="2026-01-01T00:00:00Z")

    assert analyse_rule(early, [late], FACTS, _Refuses()).disjoint == 1


def test_transforms__that_have_nothing_to_do_together__are_harmless(solving: Solving) -> None:
    default = {"op": "set_default", "field": "city", "default_value": "Oslo"}
    rules = [
        make_transform("a", "input.city == 'Rom'", default),
        make_transform(
            "b", "input.q == 'x'", {"op": "map_values", "field": "city", "mapping": {"NYC": "New York"}}
        ),
    ]

    analysis = analyse_all(rules, FACTS, solving)

    assert (analysis.harmless, analysis.findings) == (1, [])


def test_unknown__a_solver_that_does_not_know__is_reported_as_not_proven() -> None:
    hard = "size(input.q) > 2 && input.q.split('x').size() == 2"
    rules = [make_set("a", hard, "city", "Rome"), make_set("b", BLANK, "city", "Oslo")]

    analysis = analyse_rule(rules[0], rules[1:], FACTS, _KnowsNothing())

    assert ("contradictory", "not_proven", "out of time") in [
        (one.kind, one.verdict, one.reason) for one in analysis.findings
    ]
    assert (analysis.not_proven, analysis.disjoint) == (1, 0)


def test_schema__an_overlap_only_a_broken_call_has__is_said(solving: Solving) -> None:
    schema = {"properties": {"city": {"type": "string", "minLength": 1}}, "required": ["city"]}
    rules = [make_set("a", "input.q == 'x'", "city", "Rome"), make_set("b", BLANK, "city", "Oslo")]

    analysis = analyse_all(rules, Facts(NOW, {"search": schema}), solving)

    assert [finding.detail["obeys_schema"] for finding in analysis.findings] == [False]


def test_progress__that_says_stop__can_be_taken_up_again(solving: Solving) -> None:
    rules = [make_set(f"r{at}", f"input.q != '{at}'", "city", f"city {at}") for at in range(5)]
    seen: list[tuple[int, int]] = []

    def stop_after_four(done: int, total: int, found: Sequence[Finding]) -> bool:
        seen.append((done, total))
        return done < 4

    first = analyse_all(rules, FACTS, solving, stop_after_four)
    rest = analyse_all(rules, FACTS, solving, start=first.rows)
    whole = analyse_all(rules, FACTS, solving)

    assert first.stopped
    assert seen == [(1, 10), (2, 10), (3, 10), (4, 10)]
    again = {(one.kind, one.rule_a, one.rule_b) for one in (*first.findings, *rest.findings)}
    assert again == {(one.kind, one.rule_a, one.rule_b) for one in whole.findings}


class _Refuses:
    """Fails the test when it is asked."""

    def ask(self, question: Question) -> Answer:
        raise AssertionError(question)


class _KnowsNothing:
    def ask(self, question: Question) -> Answer:
        return Answer("unknown", reason="out of time")


def test_package__imported__brings_no_solver_into_the_process() -> None:
    modules = "corrections.background.solver, corrections.domain.conflicts"
    code = f"import sys, {modules}; sys.exit('z3' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
