"""Three documents side by side, and one made of them; two texts word by word."""

from typing import Any

import pytest

from corrections.domain.threeway import compare_three, merge_mine
from corrections.domain.words import diff_words

BASE: dict[str, Any] = {
    "name": "n", "priority": 0, "condition": "a", "action_type": "X",
    "action_detail": {"field": "city", "operations": [{"op": "set"}]},
}  # fmt: skip


@pytest.mark.parametrize(
    ("theirs", "mine", "rows", "merged"),
    [
        pytest.param({}, {}, [], {}, id="nothing differs"),
        pytest.param({"priority": 3}, {}, [("priority", False)], {"priority": 3}, id="theirs alone"),
        pytest.param({}, {"priority": 3}, [("priority", False)], {"priority": 3}, id="mine alone"),
        pytest.param(
            {"priority": 2}, {"priority": 3}, [("priority", True)], {"priority": 3}, id="both, differently"
        ),
        pytest.param({"name": "m"}, {"name": "m"}, [("name", False)], {"name": "m"}, id="both, alike"),
        pytest.param(
            {"priority": 2}, {"condition": "b"}, [("condition", False), ("priority", False)],
            {"priority": 2, "condition": "b"}, id="different fields",
        ),
        pytest.param(
            {"action_detail": {**BASE["action_detail"], "field": "town"}}, {"priority": 1},
            [("action_detail.field", False), ("priority", False)],
            {"action_detail": {**BASE["action_detail"], "field": "town"}, "priority": 1},
            id="inside the detail",
        ),
        pytest.param(
            {"action_detail": {**BASE["action_detail"], "field": "town"}},
            {"action_type": "Y", "action_detail": {"text": "t"}},
            None, {"action_type": "Y", "action_detail": {"text": "t"}}, id="a detail follows its type",
        ),
    ],
)  # fmt: skip
def test_three__each_side__is_shown_and_merged(
    theirs: dict[str, Any], mine: dict[str, Any], rows: list[tuple[str, bool]] | None, merged: dict[str, Any]
) -> None:
    sides = compare_three(BASE, BASE | theirs, BASE | mine)
    if rows is not None:
        assert [(side.field, side.collides) for side in sides] == rows
    assert merge_mine(BASE, BASE | theirs, BASE | mine) == BASE | merged


def test_merge__field_removed_by_mine__is_gone() -> None:
    mine = {name: value for name, value in BASE.items() if name != "priority"}
    assert "priority" not in merge_mine(BASE, BASE | {"name": "m"}, mine)


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        pytest.param("input.a == 1", "input.a == 2", ["1", "2"], id="a number"),
        pytest.param("", "input.a", ["input.a"], id="from nothing"),
        pytest.param("a && b", "a", [" && b"], id="shorter"),
        pytest.param("城市 == 1", "城市 == 1", [], id="the same"),
    ],
)
def test_words__pieces__rebuild_both_texts(old: str, new: str, changed: list[str]) -> None:
    pieces = diff_words(old, new)
    assert "".join(piece.text for piece in pieces if piece.kind != "new") == old
    assert "".join(piece.text for piece in pieces if piece.kind != "gone") == new
    assert [piece.text for piece in pieces if piece.kind != "same"] == changed
