"""English and Simplified Chinese."""

import gettext
import json
import re
from pathlib import Path

from django.conf import settings
from django.test import Client

from tests.conftest import Cast, page_client

CATALOG = Path(settings.LOCALE_PATHS[0], "zh_Hans", "LC_MESSAGES")
ENTRY = re.compile(r'^msgid ((?:".*"\n)+)(?:msgid_plural (?:".*"\n)+)?msgstr(?:\[0\])? ((?:".*"\n?)+)', re.M)


def read_text(quoted: str) -> str:
    """The text of the catalog's quoted lines."""
    return "".join(json.loads(line) for line in quoted.splitlines())


def test_catalog__compiled__says_what_the_source_says() -> None:
    source = (CATALOG / "django.po").read_text()
    with (CATALOG / "django.mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)

    entries = {read_text(one): read_text(other) for one, other in ENTRY.findall(source)}
    entries.pop("")

    assert len(entries) > 300
    assert [one for one, other in entries.items() if not other] == []
    said = {one: (compiled.gettext(one), compiled.ngettext(one, one, 1)) for one in entries}
    stale = [one for one, other in entries.items() if other not in said[one]]
    assert stale == []


def test_page__chinese_reader__is_in_chinese(cast: Cast) -> None:
    client = page_client(cast.viewer)

    text = client.get("/w/acme/tasks/", headers={"accept-language": "zh-CN"}).text

    assert '<html lang="zh-hans"' in text
    assert "错误模式" in text
    assert "Error patterns" not in text


def test_language__chosen__is_kept(cast: Cast) -> None:
    client: Client = page_client(cast.viewer)

    client.post("/i18n/setlang/", {"language": "zh-hans", "next": "/w/acme/"})

    assert "总览" in client.get("/w/acme/").text
