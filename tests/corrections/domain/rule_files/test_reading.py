"""Files that are wrong: every fault with its place, and nothing read by halves."""

import pytest

from corrections.domain.rule_files import RuleFileError, SourceFile, read_rule_files

GOOD = """\
- name: one
  applies_to: {tool: a}
  action_type: PRE_CALL_VALIDATION
  action_detail: {message: 'no'}
"""


def faults_of(text: str, name: str = "rules.yaml") -> list[str]:
    with pytest.raises(RuleFileError) as caught:
        read_rule_files([SourceFile(name, text)])
    return [str(fault) for fault in caught.value.faults]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        pytest.param("a: [1", "rules.yaml:2: no YAML: did not find expected ',' or ']'", id="syntax"),
        pytest.param("a: &x 1\nb: 2", "rules.yaml:1: anchors and aliases", id="anchor"),
        pytest.param("a: *x", "rules.yaml:1: anchors and aliases", id="alias"),
        pytest.param("a: !!python/object:os.system ls", "rules.yaml:1: tags are not read", id="tag"),
        pytest.param("name: a\nname: b", "rules.yaml:2: 'name' is here twice", id="a name twice"),
        pytest.param("? [a]\n: 1", "rules.yaml:1: a name must be plain text", id="a list as a name"),
        pytest.param("a: 1\n---\nb: 1", "rules.yaml:2: one file holds one document", id="two documents"),
        pytest.param("[" * 60 + "]" * 60, "rules.yaml:1: is nested too deep", id="deep"),
        pytest.param(
            "format: other/9\nrules: []", "rules.yaml:1: the format must be hgmem-rules/1", id="format"
        ),
        pytest.param("rules: {}", "rules.yaml:1: rules must be a list", id="rules is no list"),
        pytest.param("rules: []\nrule: 1", "rules.yaml:2: 'rule' is not known beside rules", id="unknown"),
        pytest.param("- 5", "rules.yaml:1: rule 1: A rule is an object", id="a number"),
        pytest.param("\x01", "rules.yaml: no YAML", id="control character"),
    ],
)
def test_yaml__wrong__says_file_and_line(text: str, fault: str) -> None:
    assert faults_of(text)[0].startswith(fault)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        pytest.param('{"a": 1,\n}', "r.json:2: no JSON: ", id="syntax"),
        pytest.param('{"a": 1, "a": 2}', "r.json: 'a' is here twice in one object", id="a name twice"),
        pytest.param("[NaN]", "r.json: no JSON: NaN is no number", id="nan"),
        pytest.param("[" * 60 + "]" * 60, "r.json: is nested too deep", id="deep"),
        pytest.param("[" * 100_000, "r.json: is nested too deep", id="very deep"),
        pytest.param("[" + "9" * 5_000 + "]", "r.json: no JSON: a number is too long", id="long number"),
    ],
)
def test_json__wrong__says_why(text: str, fault: str) -> None:
    assert faults_of(text, "r.json")[0].startswith(fault)


@pytest.mark.parametrize(
    ("change", "faults"),
    [
        pytest.param(
            ("name: one", "name: ''"), ["rules.yaml:1: rule 1: name: A rule in a file"], id="no name"
        ),
        pytest.param(
            ("'no'}", "'no', on_failure: shout}"),
            ["rules.yaml:4: rule 1 (one): action_detail.on_failure: Input should be 'block' or 'ask'"],
            id="in the action",
        ),
        pytest.param(
            ("name: one", "name: one\n  condition: input.x ==\n  uuid: 12\n  status: live"),
            [
                "rules.yaml:3: rule 1 (one): uuid: This is no uuid",
                "rules.yaml:4: rule 1 (one): status: must be one of active, disabled, draft",
                "rules.yaml:2: rule 1 (one): condition: ",
            ],
            id="several at once",
        ),
        pytest.param(
            ("name: one", "name: one\n  prioritty: 1"), ["rules.yaml:2: rule 1 (one): prioritty"], id="typo"
        ),
    ],
)
def test_rule__wrong__names_each_field_with_its_line(change: tuple[str, str], faults: list[str]) -> None:
    found = faults_of(GOOD.replace(*change))
    assert len(found) == len(faults)
    assert all(text.startswith(start) for text, start in zip(found, faults, strict=True))


def test_faults__of_several_files__come_together() -> None:
    with pytest.raises(RuleFileError) as caught:
        read_rule_files(
            [SourceFile("a.yaml", "- 1"), SourceFile("b.yaml", "- 2"), SourceFile("c.yaml", GOOD)]
        )
    assert [fault.file for fault in caught.value.faults] == ["a.yaml", "b.yaml"]


@pytest.mark.parametrize(
    "second",
    [
        pytest.param(GOOD, id="the same name and tool"),
        pytest.param(GOOD + "  uuid: 5b0f6f0e-4c9e-4f8e-9a57-0f6a6f0c2d11\n", id="once with a uuid"),
    ],
)
def test_two_files__one_rule__are_refused(second: str) -> None:
    with pytest.raises(RuleFileError, match="the same name and tool"):
        read_rule_files([SourceFile("a.yaml", GOOD), SourceFile("b.yaml", second)])


def test_two_files__one_uuid__are_refused() -> None:
    text = GOOD + "  uuid: 5b0f6f0e-4c9e-4f8e-9a57-0f6a6f0c2d11\n"
    with pytest.raises(RuleFileError, match=r"a.yaml:1 is the same rule"):
        read_rule_files([SourceFile("a.yaml", text), SourceFile("b.yaml", text.replace("one", "two"))])


def test_words__as_people_mean_them__stay_text() -> None:
    text = GOOD.replace("'no'", "no") + "  description: 2026-01-02\n"
    (rule,) = read_rule_files([SourceFile("a.yaml", text)])
    assert (rule.body["action_detail"]["message"], rule.body["description"]) == ("no", "2026-01-02")
    assert (rule.status, rule.uuid, rule.place) == ("active", "", "a.yaml:1")


def test_files__too_many_characters__are_refused() -> None:
    assert "more than 10,000,000 characters" in faults_of("x" * 10_000_001)[0]


@pytest.mark.parametrize("text", ["", "# nothing\n", "[]", "rules: []"])
def test_file__without_rules__is_no_fault(text: str) -> None:
    assert read_rule_files([SourceFile("a.yaml", text)]) == []
