"""Whether two scopes can meet in one call: a table, and a comparison with trying every short text."""

from itertools import product

import pytest

from corrections.domain.overlapping import globs_meet, scopes_meet
from hgmem.rules import Scope
from hgmem.rules.scope import matches_glob

TEXTS = ["".join(letters) for length in range(5) for letters in product("ab", repeat=length)]
PATTERNS = ["".join(signs) for length in range(1, 4) for signs in product("a*?", repeat=length)]


@pytest.mark.parametrize(
    ("one", "other", "meet"),
    [
        pytest.param({"tool": "a"}, {"tool": "a"}, True, id="same tool"),
        pytest.param({"tool": "a"}, {"tool": "b"}, False, id="other tool"),
        pytest.param({"tool": "*"}, {"tool": "b"}, True, id="any tool"),
        pytest.param({"tool": ""}, {"tool": "b*"}, True, id="no tool named is any"),
        pytest.param({"tool": "get_*"}, {"tool": "get_order"}, True, id="pattern and name"),
        pytest.param({"tool": "get_*"}, {"tool": "put_order"}, False, id="pattern and another name"),
        pytest.param({"tool": "get_*"}, {"tool": "*_order"}, True, id="two patterns that meet"),
        pytest.param({"tool": "get_*"}, {"tool": "put_*"}, False, id="two patterns that cannot"),
        pytest.param({"tool": "a", "agent": "x"}, {"tool": "a", "agent": "y"}, False, id="two agents"),
        pytest.param({"tool": "a", "agent": "x"}, {"tool": "a"}, True, id="one agent and any"),
        pytest.param(
            {"tool": "a", "tags": ("p",)}, {"tool": "a", "tags": ("q",)}, True, id="a task has both tags"
        ),
        pytest.param({"tool_versions": ">=1, <2"}, {"tool_versions": ">=2"}, False, id="versions apart"),
        pytest.param({"tool_versions": ">1, <2"}, {"tool_versions": ">=1.5"}, True, id="versions inside"),
        pytest.param({"tool_versions": ">1"}, {"tool_versions": "<2"}, True, id="open ranges that meet"),
        pytest.param(
            {"tool_versions": "1.2"}, {"tool_versions": "!=1.2"}, False, id="one version and not it"
        ),
    ],
)
def test_scopes__two_of_them__meet_where_one_call_is_in_both(one: dict, other: dict, meet: bool) -> None:
    first, second = Scope.model_validate(one), Scope.model_validate(other)

    assert scopes_meet(first, second) is meet
    assert scopes_meet(second, first) is meet


def test_globs__every_pair_of_short_patterns__meet_exactly_where_some_text_matches_both() -> None:
    matched = {pattern: {text for text in TEXTS if matches_glob(pattern, text)} for pattern in PATTERNS}
    # texts of the alphabet a, b up to four letters are enough for patterns of up to three signs
    wrong = [
        (one, other)
        for one in PATTERNS
        for other in PATTERNS
        if globs_meet(one, other) is not bool(matched[one] & matched[other])
    ]

    assert wrong == []
