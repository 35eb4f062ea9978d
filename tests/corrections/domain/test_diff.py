"""Two rule documents, field by field."""

from typing import Any

import pytest

from corrections.domain.diff import diff_documents

BASE = {
    "name": "City",
    "condition": "input.city == null",
    "action_type": "PARAMETER_TRANSFORM",
    "action_detail": {"operations": [{"op": "set_default", "field": "city", "value": "Shanghai"}]},
    "priority": 0,
    "valid_until": None,
}


@pytest.mark.parametrize(
    ("change", "rows"),
    [
        pytest.param({}, [], id="the same"),
        pytest.param({"priority": 5}, [("priority", "changed", 0, 5)], id="a number"),
        pytest.param(
            {"valid_until": "2027-01-01T00:00:00Z"},
            [("valid_until", "added", None, "2027-01-01T00:00:00Z")],
            id="from null",
        ),
        pytest.param({"name": None}, [("name", "removed", "City", None)], id="to null"),
        pytest.param({"note": None}, [], id="null is the same as missing"),
        pytest.param({"priority": 0.0}, [("priority", "changed", 0, 0.0)], id="another type"),
        pytest.param({"priority": False}, [("priority", "changed", 0, False)], id="false is not zero"),
        pytest.param(
            {"action_detail": {"operations": [{"op": "set", "field": "city", "value": "Paris"}]}},
            [
                ("action_detail.operations.0.op", "changed", "set_default", "set"),
                ("action_detail.operations.0.value", "changed", "Shanghai", "Paris"),
            ],
            id="inside the action",
        ),
        pytest.param(
            {
                "action_detail": {
                    "operations": [*BASE["action_detail"]["operations"], {"op": "remove", "field": "x"}]
                }
            },
            [("action_detail.operations.1", "added", None, {"op": "remove", "field": "x"})],
            id="one operation more",
        ),
        pytest.param(
            {"action_detail": {"operations": []}},
            [("action_detail.operations.0", "removed", BASE["action_detail"]["operations"][0], None)],
            id="one operation less",
        ),
        pytest.param(
            {"action_detail": "x"},
            [("action_detail", "changed", BASE["action_detail"], "x")],
            id="another shape",
        ),
    ],
)
def test_diff__one_change__gives_its_rows(change: dict[str, Any], rows: list[tuple[Any, ...]]) -> None:
    found = diff_documents(BASE, BASE | change)
    assert [(row.field, row.kind, row.old, row.new) for row in found] == rows


def test_diff__several_fields__come_in_reading_order() -> None:
    found = diff_documents({}, {"zebra": 1, "priority": 1, "condition": "true", "name": "x"})
    assert [row.field for row in found] == ["name", "condition", "priority", "zebra"]
