"""The editor's forms: a document goes in and comes out the same, and every fault lands beside its field."""

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from django.http import QueryDict

from corrections.domain.documents import body_of, read_document
from corrections.web.editor import Editor, editor_of_post, texts_of
from corrections.web.forms.details import ACTIONS
from corrections.web.forms.operations import OPERATIONS, OUTPUT_OPERATIONS
from hgmem.rules import ACTION_TYPES, RuleError
from hgmem.rules.operations import OPERATION_NAMES
from hgmem.rules.outputs import OUTPUT_OPERATION_NAMES

SET = {"op": "set", "field": "a"}
OPERATION_CASES = [
    pytest.param({"op": "set_default", "field": "city", "default_value": "Shanghai"}, id="default-text"),
    pytest.param({"op": "set_default", "field": "a.b[0]", "default_value": None}, id="default-null"),
    pytest.param({**SET, "value": ""}, id="empty-text"),
    pytest.param({**SET, "value": "  spaces "}, id="spaces"),
    pytest.param({**SET, "value": "5"}, id="text-of-a-number"),
    pytest.param({**SET, "value": "true"}, id="text-of-a-word"),
    pytest.param({**SET, "value": "null"}, id="text-null"),
    pytest.param({**SET, "value": '"quoted"'}, id="text-with-quotes"),
    pytest.param({**SET, "value": '{"a": 1}'}, id="text-that-is-json"),
    pytest.param({**SET, "value": "NaN"}, id="text-nan"),
    pytest.param({**SET, "value": 5}, id="number"),
    pytest.param({**SET, "value": 10**30}, id="huge-number"),
    pytest.param({**SET, "value": False}, id="false"),
    pytest.param({**SET, "value": {"a": [1, None, "ü"]}}, id="object"),
    pytest.param({**SET, "value": "上海\nsecond line"}, id="lines-and-script"),
    pytest.param({"op": "rename", "field": "a", "to": "b"}, id="rename"),
    pytest.param({"op": "remove", "field": '["a.b"]'}, id="remove-quoted-path"),
    pytest.param({"op": "cast", "field": "a", "to": "json"}, id="cast"),
    pytest.param({"op": "map_values", "field": "a", "mapping": {"NYC": "New York", "5": 6}}, id="map"),
    pytest.param(
        {"op": "regex_replace", "field": "a", "pattern": " +$", "replacement": ""}, id="regex-with-spaces"
    ),
    pytest.param(
        {"op": "regex_replace", "field": "a", "pattern": "(x)", "replacement": r"\1\\ "}, id="regex"
    ),
    pytest.param(
        {"op": "replace_words", "field": "a", "words": {"o.id": "o.No", "cities": "city"}}, id="words"
    ),
    pytest.param({"op": "clamp", "field": "a", "min": 0, "max": 2.5}, id="clamp"),
    pytest.param({"op": "clamp", "field": "a", "min": None, "max": -1}, id="clamp-one-side"),
    pytest.param({"op": "expression", "field": "a", "expression": "input.a + 1"}, id="expression"),
]
DETAIL_CASES = [
    pytest.param(
        "TOOL_SWITCH",
        {"tool": "other", "parameters": {"q": "query"}, "constants": {"n": 1}, "keep_unmapped": False},
        id="switch",
    ),
    pytest.param("TOOL_SWITCH", {"tool": "other", "keep_unmapped": True}, id="switch-keep"),
    pytest.param("PRE_CALL_VALIDATION", {"on_failure": "ask", "message": "Why {{ input.a }}?"}, id="ask"),
    pytest.param(
        "PRE_CALL_VALIDATION",
        {"check": "input.a > 0", "schema": {"type": "object"}, "message": "two\nlines"},
        id="check-and-schema",
    ),
    pytest.param("PRE_CALL_VALIDATION", {}, id="plain-block"),
    pytest.param("PROMPT_ENHANCEMENT", {"text": "Mind the {{ input.unit }}"}, id="prompt"),
    pytest.param(
        "INSERT_STEP", {"tool": "login", "arguments": {"id": "{{ input.id }}"}, "reason": "first"}, id="step"
    ),
    pytest.param(
        "POST_CALL_PARSING_ADJUST",
        {
            "operations": [
                {"op": "extract", "path": "$.items", "to": "list", "many": True},
                {"op": "extract", "path": "$.a", "to": "", "many": False},
                {"op": "treat_as_error", "message": "empty", "type": "Empty"},
            ]
        },
        id="output",
    ),
]
SCOPES = [
    pytest.param({"tool": "book", "point": "before"}, id="tool"),
    pytest.param({"tool": "book_*", "tool_versions": ">=1.2, <2"}, id="glob-and-versions"),
    pytest.param({"tool": "*", "tags": ["a", "b c"], "agent": "gpt"}, id="tags-and-agent"),
    pytest.param({"tool": "*", "tags": ["a, b", "[c]"]}, id="tags-with-commas"),
    pytest.param({"tool": "*", "tags": ["[c"]}, id="tag-with-bracket"),
    pytest.param("TOOL_CALL:weather_api", id="article"),
]


def document(**changes: Any) -> dict[str, Any]:
    """A valid document as a version keeps it."""
    given = {
        "name": "N", "applies_to": {"tool": "t"}, "condition": "input.a == 1",
        "action_type": "PRE_CALL_VALIDATION", "action_detail": {}, "description": "d",
        "priority": 3, **changes,
    }  # fmt: skip
    return body_of(read_document(given, author="human"))


def through_the_form(body: dict[str, Any]) -> dict[str, Any]:
    """The document after it stood in the form, as the engine reads it."""
    return body_of(read_document(Editor.of_document(body).document(), author="human"))


def posted(**texts: str) -> QueryDict:
    """What a browser sends."""
    post = QueryDict(mutable=True)
    post.update(texts)
    return post


@pytest.mark.parametrize("operation", OPERATION_CASES)
def test_form__operation__comes_out_as_it_went_in(operation: dict[str, Any]) -> None:
    body = document(
        action_type="PARAMETER_TRANSFORM",
        action_detail={"operations": [{"op": "remove", "field": "z"}, operation]},
    )

    assert through_the_form(body) == body


@pytest.mark.parametrize(("action_type", "detail"), DETAIL_CASES)
def test_form__action__comes_out_as_it_went_in(action_type: str, detail: dict[str, Any]) -> None:
    body = document(action_type=action_type, action_detail=detail)

    assert through_the_form(body) == body


@pytest.mark.parametrize("scope", SCOPES)
def test_form__scope__comes_out_as_it_went_in(scope: Any) -> None:
    body = document(applies_to=scope)

    assert through_the_form(body) == body


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param(
            {"valid_from": "2026-01-01T00:00:00Z", "valid_until": "2027-01-01T10:20:30Z"}, id="window"
        ),
        pytest.param({"priority": -1_000_000}, id="negative-priority"),
        pytest.param({"condition": ""}, id="always"),
        pytest.param({"condition": "input.a == 'x' ||\n  input.b == null"}, id="lines"),
        pytest.param({"description": "Zeile\n\n上海 <b>"}, id="description"),
        pytest.param({"error_pattern": "err_pat_001"}, id="article-pattern"),
        pytest.param({"name": ""}, id="no-name"),
    ],
)
def test_form__top_of_the_rule__comes_out_as_it_went_in(changes: dict[str, Any]) -> None:
    body = document(**changes)

    assert through_the_form(body) == body


def test_form__moment_in_another_zone__stays_the_same_moment() -> None:
    body = document(valid_from="2026-01-01T02:00:00+02:00")

    assert through_the_form(body)["valid_from"] == "2026-01-01T00:00:00Z"


def case_rules() -> Iterator[Any]:
    """Every rule of the decision cases."""
    for path in sorted(Path("tests/cases/rules").glob("*.json")):
        for rule in json.loads(path.read_text())["rules"]:
            yield pytest.param(rule, id=f"{path.stem}-{rule.get('uuid') or rule.get('correction_id')}")


@pytest.mark.parametrize("rule", list(case_rules()))
def test_form__rule_of_the_decision_cases__means_the_same_after_it(rule: dict[str, Any]) -> None:
    body = body_of(read_document(rule, author="human"))

    assert with_moments(through_the_form(body)) == with_moments(body)


def with_moments(body: dict[str, Any]) -> dict[str, Any]:
    """The window as moments: the form speaks in the server's time zone."""
    texts = {name: body[name] for name in ("valid_from", "valid_until") if body[name]}
    return body | {name: datetime.fromisoformat(text) for name, text in texts.items()}


def test_tables__every_action_and_operation_of_the_engine__has_a_form() -> None:
    assert tuple(ACTIONS) == ACTION_TYPES
    assert tuple(OPERATIONS) == OPERATION_NAMES
    assert set(OUTPUT_OPERATIONS) == set(OUTPUT_OPERATION_NAMES)


ARTICLE = {
    "correction_id": "corr_001",
    "error_pattern_id": "err_pat_001",
    "applies_to": "TOOL_CALL:weather_api",
    "condition": "input.city == null || input.city.trim() == ''",
    "action_type": "PARAMETER_TRANSFORM",
    "action_detail": {"transform": "set_default", "field": "city", "default_value": "Shanghai"},
    "description": "当city参数为空时，默认设置为Shanghai。",
    "created_by": "human",
    "effectiveness_score": 0.95,
}


def test_json__article_rule__becomes_a_form_and_json_again() -> None:
    editor = editor_of_post(posted(mode="json", document=json.dumps(ARTICLE)), "as-form")

    assert editor.mode == "form"
    assert editor.scope.cleaned_data["tool"] == "weather_api"
    assert editor.operations[0].form.data["op-0-field"] == "city"
    back = editor_of_post(posted(**texts_of(editor.document())), "as-json")
    assert back.document()["action_detail"]["operations"][0]["default_value"] == "Shanghai"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("", "no JSON", id="empty"),
        pytest.param("{", "no JSON", id="broken"),
        pytest.param("[1]", "JSON object", id="list"),
        pytest.param('{"a": NaN}', "NaN", id="nan"),
        pytest.param("[" * 100_000, "nested too deep", id="deep"),
        pytest.param('{"action_type": "NOPE"}', "NOPE", id="unknown-action"),
    ],
)
def test_json__not_readable__says_why(text: str, said: str) -> None:
    with pytest.raises(RuleError, match=said):
        editor_of_post(posted(mode="json", document=text), "as-form")


FAULTS = [
    pytest.param({"condition": "input.a =="}, "rule", "condition", id="condition"),
    pytest.param({"applies_to": {"tool_versions": "~1"}}, "scope", "tool_versions", id="versions"),
    pytest.param({"applies_to": {"tool": "t", "point": "after"}}, "scope", "point", id="point"),
    pytest.param(
        {"valid_from": "2027-01-01T00:00:00Z", "valid_until": "2026-01-01T00:00:00Z"}, "rule", "valid_until",
        id="window",
    ),
    pytest.param({"action_detail": {"check": "input.a =="}}, "detail", "check", id="check"),
    pytest.param({"action_detail": {"message": "{{ nope.x }}"}}, "detail", "message", id="message"),
    pytest.param({"action_detail": {"schema": {"type": 5}}}, "detail", "schema", id="schema"),
    pytest.param({"priority": 10**9}, "rule", "priority", id="priority"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "form", "field"), FAULTS)
def test_fault__of_the_engine__stands_beside_its_field(
    changes: dict[str, Any], form: str, field: str
) -> None:
    editor = Editor.of_document({**document(), **changes})

    with pytest.raises(RuleError) as raised:
        read_document(editor.document(), author="human")
    editor.say(raised.value)

    assert field in getattr(editor, form).errors


def test_fault__in_the_second_operation__stands_beside_it() -> None:
    texts = {
        "action-action_type": "PARAMETER_TRANSFORM",
        "operations": "2",
        "op-0-op": "remove",
        "op-0-field": "a",
    }
    editor = Editor({**texts, "op-1-op": "clamp", "op-1-field": "a[", "op-1-min": "1"})

    with pytest.raises(RuleError) as raised:
        read_document(editor.document(), author="human")
    editor.say(raised.value)

    assert list(editor.operations[1].form.errors) == ["field"]
    assert not editor.operations[0].form.errors


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        pytest.param("rule-priority", "high", "no number", id="priority"),
        pytest.param("rule-valid_from", "soon", "valid date", id="moment"),
        pytest.param("detail-PRE_CALL_VALIDATION-schema", "{", "no JSON", id="schema"),
        pytest.param("detail-PRE_CALL_VALIDATION-schema", "[]", "JSON object", id="schema-list"),
        pytest.param("scope-tags", "[1", "no JSON list", id="tags"),
        pytest.param("scope-point", "sideways", "not one of", id="point"),
    ],
)
def test_text__that_cannot_be_read__is_said_and_kept(name: str, text: str, said: str) -> None:
    editor = Editor({name: text})

    with pytest.raises(RuleError, match="cannot be read"):
        editor.document()

    form = next(form for form in editor._forms() if form.errors)
    assert said in str(form.errors)
    assert form.data[name] == text


def test_operations__added_and_removed__keep_what_was_typed() -> None:
    post = posted(**texts_of(document(
        action_type="PARAMETER_TRANSFORM",
        action_detail={"operations": [{"op": "remove", "field": name} for name in "abc"]},
    )))  # fmt: skip

    fewer = editor_of_post(post, "remove-operation-1")
    more = editor_of_post(post, "add-operation")

    assert [row.form.data[f"op-{row.number}-field"] for row in fewer.operations] == ["a", "c"]
    assert [row.op for row in more.operations] == ["remove", "remove", "remove", "set_default"]


@pytest.mark.parametrize("count", ["-1", "x", "9" * 50, "", "51", "٣"])
def test_operations__nonsense_count__is_bounded(count: str) -> None:
    editor = Editor({"action-action_type": "PARAMETER_TRANSFORM", "operations": count})

    assert 1 <= len(editor.operations) <= 50


def test_action__changed_and_back__brings_the_typed_text_back() -> None:
    texts = texts_of(document(action_detail={"message": "Do not lose me"}))
    other = editor_of_post(posted(**{**texts, "action-action_type": "PROMPT_ENHANCEMENT"}), "change")

    sent = {**dict(other.carried), "action-action_type": "PRE_CALL_VALIDATION", "rule-condition": "true"}
    back = editor_of_post(posted(**sent), "change")

    assert back.document()["action_detail"]["message"] == "Do not lose me"


def test_action__tool_switch_chosen_first__passes_other_fields_on() -> None:
    editor = editor_of_post(posted(**{"action-action_type": "TOOL_SWITCH"}), "change")

    assert editor.document()["action_detail"] == {"keep_unmapped": True}


def test_action__tool_switch_unticked__stays_unticked() -> None:
    post = posted(**{"action-action_type": "TOOL_SWITCH", "seen-TOOL_SWITCH": "1"})

    assert editor_of_post(post, "check").document()["action_detail"] == {"keep_unmapped": False}
