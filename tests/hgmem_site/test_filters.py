"""The filters of our pages."""

from datetime import datetime, timedelta

import pytest

from hgmem_site.templatetags.hgmem import moment, took

START = datetime.fromisoformat("2026-05-01T10:00:00+00:00")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        pytest.param(0.25, "250 ms", id="below-a-second"),
        pytest.param(9, "9.0 s", id="seconds"),
        pytest.param(119, "119.0 s", id="nearly-two-minutes"),
        pytest.param(7_500, "2\xa0hours, 5\xa0minutes", id="hours"),
    ],
)
def test_took__any_span__in_the_unit_that_reads_best(seconds: float, text: str) -> None:
    assert took(START, START + timedelta(seconds=seconds)) == text


def test_moment__text_of_a_document__is_the_time() -> None:
    assert moment("2026-05-01T10:00:00+00:00") == START
