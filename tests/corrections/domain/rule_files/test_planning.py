"""What the plan makes of a file and a rule."""

from typing import Any

import pytest

from corrections.domain.rule_files import FileRule, KeptRule, RuleFileError, plan_changes
from tests.corrections.domain.rule_files.samples import body, kept

ONE = "0" * 31 + "1"
UUID = f"{'0' * 8}-0000-0000-0000-{'0' * 11}1"
NEW = {"condition": "input.x == 1"}


def wanted(status: str = "active", uuid: str = UUID, place: str = "r.yaml:1", **fields: Any) -> FileRule:
    document = body(**fields)
    return FileRule(place, uuid, document["name"], status, document)


@pytest.mark.parametrize(
    ("file", "rule", "verb", "writes"),
    [
        pytest.param(wanted(), kept(), "keep", False, id="the same"),
        pytest.param(wanted(**NEW), kept(), "edit", True, id="changed"),
        pytest.param(
            wanted(**NEW), kept(later=body(**NEW)), "edit", False, id="changed, and written already"
        ),
        pytest.param(
            wanted(**NEW), kept(later=body(**NEW), waiting=["edit"]), "wait", False, id="edit waits"
        ),
        pytest.param(wanted(**NEW), kept(waiting=["edit"]), "edit", True, id="another edit waits"),
        pytest.param(wanted(), kept(later=body(**NEW)), "keep", False, id="a later draft is left alone"),
        pytest.param(wanted(), kept(status="disabled"), "enable", False, id="to be served"),
        pytest.param(wanted(**NEW), kept(status="expired"), "enable", True, id="changed and to be served"),
        pytest.param(
            wanted(), kept(status="draft", waiting=["create"]), "wait", False, id="waits to be served"
        ),
        pytest.param(wanted("disabled"), kept(), "disable", False, id="not to be served"),
        pytest.param(wanted("disabled"), kept(waiting=["disable"]), "wait", False, id="disable waits"),
        pytest.param(wanted("disabled", **NEW), kept(), "disable", True, id="changed and not to be served"),
        pytest.param(wanted("disabled"), kept(status="expired"), "keep", False, id="expired is not served"),
        pytest.param(wanted("draft"), kept(status="disabled"), "keep", False, id="draft is not served"),
        pytest.param(wanted("draft", **NEW), kept(status="draft"), "edit", True, id="a draft is edited"),
        pytest.param(wanted(uuid=""), kept(), "keep", False, id="found by its name"),
        pytest.param(wanted(uuid="f" * 8), kept(), "keep", False, id="a foreign uuid, found by its name"),
        pytest.param(wanted(name="other"), kept(), "edit", True, id="renamed, found by its uuid"),
        pytest.param(wanted(uuid=""), kept(applies_to={"tool": "b"}), "create", True, id="another tool"),
        pytest.param(wanted(uuid=""), kept(status="retired"), "create", True, id="the namesake has ended"),
    ],
)
def test_plan__file_and_rule__has_the_verb(file: FileRule, rule: KeptRule, verb: str, writes: bool) -> None:
    (change,) = plan_changes([file], [rule]).changes
    assert (change.verb, change.writes) == (verb, writes)


def test_plan__changed_field__is_shown() -> None:
    (change,) = plan_changes([wanted(**NEW)], [kept()]).changes
    assert [(row.field, row.old, row.new) for row in change.changes] == [("condition", "", "input.x == 1")]


@pytest.mark.parametrize(
    ("status", "waiting", "verbs"),
    [
        pytest.param("active", [], ["retire"], id="served"),
        pytest.param("draft", [], ["retire"], id="a draft"),
        pytest.param("active", ["retire"], ["wait"], id="waits"),
        pytest.param("retired", [], [], id="has ended"),
        pytest.param("deleted", [], [], id="is deleted"),
    ],
)
def test_prune__rule_that_no_file_names__is_retired(
    status: str, waiting: list[str], verbs: list[str]
) -> None:
    rule = kept("a" * 32, status, name="left", waiting=waiting)
    plan = plan_changes([], [rule], prune=True)
    assert [change.verb for change in plan.changes] == verbs
    assert plan_changes([], [rule]).changes == ()


@pytest.mark.parametrize(
    ("files", "rules", "fault"),
    [
        pytest.param(
            [wanted(uuid="")], [kept(), kept("a" * 32)], "2 rules have this name", id="two namesakes"
        ),
        pytest.param([wanted()], [kept(status="retired")], "This rule is retired", id="has ended"),
    ],
)
def test_plan__unclear__is_refused(files: list[FileRule], rules: list[KeptRule], fault: str) -> None:
    with pytest.raises(RuleFileError, match=fault):
        plan_changes(files, rules)


def test_plan__a_namesake_named_by_uuid__leaves_the_other_one_to_the_name() -> None:
    files = [wanted(uuid=""), wanted(uuid="aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa", name="second")]
    plan = plan_changes(files, [kept(), kept("a" * 32)])
    assert sorted(change.verb for change in plan.changes) == ["edit", "keep"]


def test_digest__a_rule_that_moved__is_another() -> None:
    first = plan_changes([wanted(**NEW)], [kept()]).digest
    assert first == plan_changes([wanted(**NEW)], [kept()]).digest
    assert first != plan_changes([wanted(**NEW)], [kept(later=body(priority=3))]).digest


def test_counts__of_a_plan__add_up() -> None:
    plan = plan_changes(
        [wanted(**NEW), wanted(uuid="", name="new")], [kept(), kept("a" * 32, name="x")], prune=True
    )
    assert (plan.counts.create, plan.counts.edit, plan.counts.retire, len(plan.work)) == (1, 1, 1, 3)
