"""What the guard and the storm watch say: the stored English by the API, the reader's language on a page."""

from typing import Any

import msgspec
import pytest
from django.utils import translation

from memory.domain.rewriting.guard import GuardFacts, guard
from memory.domain.rewriting.policy import RewritePolicy
from memory.domain.rewriting.storm import StormFacts, watch
from memory.web.rewrite_words import check_text, guard_text, signal_text, storm_text
from tests.conftest import Cast, page_client
from tests.memory.builders import make_alert, make_rewrite

GOOD: dict[str, Any] = {"version": 1, "reward": 0.1, "fruitless": 0}
VERDICTS = [
    pytest.param(GOOD, id="nothing against it"),
    pytest.param({"version": 7, "reward": 0.9, "fruitless": 5, "paused": "Why not."}, id="all against it"),
    pytest.param({**GOOD, "version": 7, "overruled_by": "Ann"}, id="overruled"),
]
STORM = StormFacts(versions=9, reasons=("same", "same", "same"), sizes=((2, 40),))


def stored(facts: dict[str, Any]) -> dict[str, Any]:
    """The verdict as a proposal keeps it."""
    verdict: dict[str, Any] = msgspec.to_builtins(guard(GuardFacts(**facts), RewritePolicy()))
    return verdict


@pytest.mark.parametrize("facts", VERDICTS)
def test_guard__in_english__is_the_stored_sentence(facts: dict[str, Any]) -> None:
    verdict = stored(facts)

    assert guard_text(verdict) == verdict["said"]
    assert [check_text(check) for check in verdict["checks"]] == [
        check["said"] for check in verdict["checks"]
    ]


@pytest.mark.parametrize("facts", VERDICTS)
def test_guard__in_chinese__has_no_english_left(facts: dict[str, Any]) -> None:
    verdict = stored({**facts, "paused": "由人暂停。"} if facts.get("paused") else facts)

    with translation.override("zh-hans"):
        said = [guard_text(verdict), *(check_text(check) for check in verdict["checks"])]

    assert not any(
        word in text for text in said for word in ("path", "version", "rewrite", "person", "asked")
    )
    assert all(said)


def test_storm__in_both_languages__says_its_numbers() -> None:
    storm = msgspec.to_builtins(watch(STORM))

    assert storm_text(storm) == storm["said"]
    assert [signal_text(signal) for signal in storm["signals"]] == [one["said"] for one in storm["signals"]]
    with translation.override("zh-hans"):
        assert storm_text(storm) == (
            "24 小时内有 9 个新版本和 3 份草稿。 24 小时内有 3 条理由几乎相同。 "
            "一次重写把 2 个节点变成了 40 个。"
        )


def test_words__stored_without_facts__are_shown_as_they_were_said() -> None:
    check = {"name": "reward", "ok": False, "said": "Old."}

    assert (check_text(check), guard_text({"said": "Older.", "checks": [check]})) == ("Old.", "Older.")
    assert (signal_text({"name": "nodes", "said": "Big."}), storm_text({"said": "Storm."})) == (
        "Big.",
        "Storm.",
    )


@pytest.mark.django_db
def test_pages__in_chinese__say_guard_and_storm_in_chinese(cast: Cast) -> None:
    verdict = stored({**GOOD, "version": 7, "paused": "9 new versions"})
    proposal = make_rewrite(cast.workspace, status="needs_human", guard=verdict, last_error=verdict["said"])
    lineage = proposal.lineage
    lineage.automatic_paused_at, lineage.pause_reason = proposal.requested_at, "9 new versions"
    lineage.save()
    make_alert(cast.workspace, proposal.path, detail=msgspec.to_builtins(watch(STORM)))
    client = page_client(cast.reviewer)
    client.cookies["django_language"] = "zh-hans"

    text = client.get(f"/w/acme/rewrites/{proposal.uuid}/").text
    inbox = client.get("/w/acme/alerts/").text

    assert "由人决定：这将是第 8 个版本" in text
    assert "9 new versions" not in text
    assert "该路径的自动重写已暂停：24 小时内有 9 个新版本" in text
    assert "一次重写把 2 个节点变成了 40 个。" in inbox
