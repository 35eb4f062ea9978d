"""Conditions as coloured HTML: nothing is lost, nothing is executed."""

import html
import re

import pytest

from hgmem_site.templatetags.rules import cel, compact, quoted


@pytest.mark.parametrize(
    "source",
    [
        "",
        "input.city == null || input.city.trim() == ''",
        "<script>alert(1)</script> && \"<b>\" == '</span>'",
        r"""input.a.matches('(?i)\\bx\\b') ? 1.5 : -2""",
        "input.\n  city == '上海' // comment",
        "'unclosed",
        "&lt; &amp;",
    ],
)
def test_cel__any_text__is_escaped_and_complete(source: str) -> None:
    shown = cel(source)

    assert html.unescape(re.sub(r"</?span[^>]*>", "", shown)) == source
    assert re.sub(r'<span class="cel-[a-z]+">|</span>', "", shown).count("<") == 0


def test_cel__parts__have_their_class() -> None:
    shown = cel("input.tool.size() > 3 && tool.name in ['a']")

    assert '<span class="cel-root">input</span>.tool.<span class="cel-call">size</span>()' in shown
    assert '<span class="cel-number">3</span>' in shown
    assert '<span class="cel-root">tool</span>.name' in shown
    assert '<span class="cel-word">in</span>' in shown


@pytest.mark.parametrize(
    ("value", "one", "other"),
    [
        pytest.param("5", "5", '"5"', id="text"),
        pytest.param(5, "5", "5", id="number"),
        pytest.param({"a": "ü"}, '{"a": "ü"}', '{"a": "ü"}', id="object"),
        pytest.param("x" * 500, "x" * 399 + "…", '"' + "x" * 398 + "…", id="long"),
    ],
)
def test_compact_and_quoted__values__on_one_line(value: object, one: str, other: str) -> None:
    assert compact(value) == one
    assert quoted(value) == other
