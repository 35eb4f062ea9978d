"""What is written is read again as the same rules, and the plan then says: nothing to do."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corrections.domain.rule_files import (
    KeptRule,
    SourceFile,
    plan_changes,
    read_rule_files,
    write_rule_file,
    write_rule_folder,
)
from corrections.domain.rule_files.json_text import read_json, write_json
from corrections.domain.rule_files.yaml_text import read_yaml, write_yaml
from tests.corrections.domain.rule_files.samples import DETAILS, body, kept

AWKWARD = st.sampled_from(
    ["yes", "No", "on", "null", "~", "true", "1", "007", "1e5", "0x1f", "1_000", "12:30", "2026-01-02", ".5",
     "- a", "# not a comment", "a: b", " padded ", "two\nlines", "ends\n\n", "\ttab", "{", "&x", "*x", "!t",
     "\u2028", "\x85", "中文", "a" * 95 + " b", "word " * 40 + "x", "\n", "\r\n", "'", '"', "%",
     "|", ">-"]
)  # fmt: skip
TEXTS = AWKWARD | st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=120)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | TEXTS
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(VALUES)
def test_yaml__any_value__reads_what_it_wrote(value: Any) -> None:
    assert read_yaml(write_yaml(value)).value == value


@given(VALUES)
def test_json__any_value__reads_what_it_wrote(value: Any) -> None:
    assert read_json(write_json(value)).value == value


@pytest.mark.parametrize("format", ["yaml", "json"])
@pytest.mark.parametrize("folder", [False, True], ids=["one file", "a folder"])
@given(
    action=st.sampled_from(sorted(DETAILS)),
    description=TEXTS,
    value=VALUES,
    priority=st.integers(-5, 5),
    status=st.sampled_from(["active", "disabled", "draft", "expired"]),
)
def test_rules__written_and_read__leave_nothing_to_do(
    format: str, folder: bool, action: str, description: str, value: Any, priority: int, status: str
) -> None:
    fields = {"description": description, "priority": priority, "valid_until": "2027-01-01T00:00:00Z"}
    if action == "PARAMETER_TRANSFORM":
        detail = {"op": "set", "field": "x", "value": value}
        fields["action_detail"] = {"operations": [detail]}
    rules = [kept("a" * 32, status, name="one", action_type=action, **fields), kept("b" * 32, name="two")]
    files = (
        write_rule_folder(rules, format)
        if folder
        else [SourceFile(f"r.{format}", write_rule_file(rules, format))]
    )

    plan = plan_changes(read_rule_files(files), rules, prune=True)

    assert [change.verb for change in plan.changes] == ["keep", "keep"]


def test_file__any_order_of_rules__is_the_same_text() -> None:
    rules = [kept("a" * 32, name="b"), kept("b" * 32, name="a"), kept("c" * 32, applies_to={"tool": "ask"})]
    text = write_rule_file(rules, "yaml")
    assert text == write_rule_file(reversed(rules), "yaml")
    assert [line for line in text.splitlines() if "name:" in line] == [
        "    name: city",
        "    name: a",
        "    name: b",
    ]


def test_file__a_rule_with_defaults__shows_only_what_was_said() -> None:
    text = write_rule_file([kept("a" * 32, description="Line one.\nLine two.")], "yaml")
    assert text == (
        "format: hgmem-rules/1\n"
        "rules:\n"
        "  - uuid: aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa\n"
        "    name: city\n"
        "    status: active\n"
        "    description: |-\n"
        "      Line one.\n"
        "      Line two.\n"
        "    applies_to:\n"
        "      point: before\n"
        "      tool: weather\n"
        "    action_type: PRE_CALL_VALIDATION\n"
        "    action_detail:\n"
        "      check: input.amount > 0\n"
        "      on_failure: ask\n"
        "      message: |-\n"
        "        Why?\n"
        "          Because: #1\n"
    )


def test_file__an_active_rule_with_a_later_version__holds_what_is_served() -> None:
    rule = kept("a" * 32, later=body(condition="input.x == 1"))
    assert "input.x" not in write_rule_file([rule], "yaml")


def test_file__a_stored_document_that_cannot_be_read__is_kept_whole() -> None:
    broken = {"name": "old", "applies_to": {"tool": "t"}, "condition": "(((", "action_type": "GONE"}
    rule = KeptRule("a" * 8, "old", "disabled", 1, broken)
    assert "condition: (((" in write_rule_file([rule], "yaml")
