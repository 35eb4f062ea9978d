"""Whatever the context and the accepted conditions: no exception, and the linear scan agrees."""

import json
from datetime import UTC, datetime
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hgmem.rules import Rule, RuleError, Ruleset
from tests.hgmem.rules.reference import scan, surely_false_before_the_call
from tests.hgmem.rules.strategies import conditions, contexts

NOW = datetime(2026, 5, 1, tzinfo=UTC)
MOMENTS = (
    None,
    datetime(2026, 4, 30, 23, 59, 59, tzinfo=UTC),
    NOW,
    datetime(2026, 5, 1, 0, 0, 1, tzinfo=UTC),
)


@st.composite
def rules(draw: st.DrawFn, uuid: str) -> Rule | None:
    """A rule that only gives a hint, so that nothing but matching is compared."""
    document = {
        "uuid": uuid,
        "applies_to": {
            "tool": draw(st.sampled_from(["alpha", "al*", "*", "beta"])),
            "point": draw(st.sampled_from(["before", "after", "planning"])),
            "tags": draw(st.lists(st.sampled_from(["x", "y"]), max_size=1)),
        },
        "condition": draw(conditions),
        "valid_from": draw(st.sampled_from(MOMENTS)),
        "action_type": "PROMPT_ENHANCEMENT",
        "action_detail": {"text": f"hint {uuid}"},
    }
    try:
        return Rule.from_document(document)
    except RuleError:
        return None


rule_lists = st.tuples(*(rules(f"r{at}") for at in range(8))).map(
    lambda some: [rule for rule in some if rule]
)


@settings(max_examples=120, deadline=None)
@given(rule_lists, st.lists(contexts(), min_size=1, max_size=4))
def test_decide__any_rules_and_contexts__equals_the_linear_scan(
    some: list[Rule], documents: list[Any]
) -> None:
    ruleset = Ruleset.compile(some, version="1")

    for document in documents:
        decision = ruleset.decide(document, now=NOW, explain=True)
        matched, failed = scan(some, document, NOW)

        assert {rule.uuid for rule in decision.matched} == matched
        assert {failure["rule"] for failure in decision.errors} == failed
        assert len(decision.matched) == len(matched)
        assert json.dumps(decision.to_dict())


@settings(max_examples=80, deadline=None)
@given(conditions, contexts())
def test_decide__after_call_rule_asked_before__is_left_out_only_when_surely_false(
    condition: str, document: dict[str, Any]
) -> None:
    source = f"({condition}) && output.a == 1"
    try:
        rule = Rule.from_document(
            {
                "uuid": "r",
                "applies_to": "AFTER_TOOL_CALL:*",
                "condition": source,
                "action_type": "POST_CALL_PARSING_ADJUST",
                "action_detail": {"op": "treat_as_error"},
            }
        )
    except RuleError:
        assume(False)
        return
    document = {**document, "point": "before"}

    decision = Ruleset.compile([rule], version="1").decide(document, now=NOW)

    foreseen = bool(decision.after_call)
    assert foreseen or surely_false_before_the_call(rule, document)
    assert not decision.errors
