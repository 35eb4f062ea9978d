"""The guard against undefined template variables works, or every page test would be blind."""

from pathlib import Path

import pytest
from django.template import Context, Origin, Template

from tests.strict_templates import OURS, UndefinedVariable


def render(folder: Path, text: str) -> str:
    """A template that stands in ``folder``."""
    return Template(text, origin=Origin(str(folder / "x.html"))).render(Context({"known": "here"}))


def test_template__of_ours_with_an_unknown_variable__fails_with_its_name() -> None:
    with pytest.raises(UndefinedVariable, match=r"\{\{ unknown \}\} in x.html"):
        render(OURS, "{% if known %}{{ unknown }}{% endif %}")


def test_template__of_ours_with_known_variables__renders() -> None:
    assert render(OURS, "{{ known }}{% if unknown %}!{% endif %}") == "here"


def test_template__of_a_package__may_leave_variables_out() -> None:
    assert render(Path("elsewhere"), "[{{ unknown }}]") == "[]"
