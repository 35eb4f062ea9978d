"""Several policies in one section of a workspace's settings."""

from typing import Any

import pytest

from memory.domain.path_settings import changed_settings


@pytest.mark.parametrize(
    ("stored", "section"),
    [
        pytest.param({}, {"b": 2}, id="no section"),
        pytest.param({"paths": {"a": 1, "b": 1}}, {"a": 1, "b": 2}, id="what belongs to others stays"),
        pytest.param({"paths": [1]}, {"b": 2}, id="no object"),
    ],
)
def test_changed_settings__fields__are_changed_in_the_section_alone(
    stored: dict[str, Any], section: dict[str, Any]
) -> None:
    settings = {"redaction": {"x": 1}, **stored}

    assert changed_settings(settings, {"b": 2}) == {"redaction": {"x": 1}, "paths": section}
    assert settings == {"redaction": {"x": 1}, **stored}
