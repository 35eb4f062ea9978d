"""Size caps: what stays in the row and what is stored beside it."""

import hashlib
from typing import Any

import msgspec
import pytest

from memory.domain.payloads import cap_value, is_reference, restore


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(None, id="null"),
        pytest.param("x" * 98, id="just-fits"),
        pytest.param({"a": [1, "中"]}, id="nested"),
    ],
)
def test_cap_value__small__is_kept(value: Any) -> None:
    capped = cap_value(value, cap=100)

    assert capped.value == value
    assert msgspec.json.decode(capped.encoded) == value
    assert capped.payload is None
    assert restore(capped.value, None) == value


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("x" * 99, id="one-byte-over"),
        pytest.param({"a": ["中" * 50]}, id="bytes-count-not-characters"),
        pytest.param({"$payload": "forged", "size": 1}, id="forged-reference"),
    ],
)
def test_cap_value__large__is_referred_to_and_comes_back(value: Any) -> None:
    capped = cap_value(value, cap=100)

    assert is_reference(capped.value)
    assert capped.payload is not None
    assert capped.value["$payload"] == capped.payload.digest
    assert capped.payload.digest == hashlib.sha256(capped.payload.content.encode()).hexdigest()
    assert restore(capped.value, capped.payload) == value


def test_cap_value__same_content__same_digest_whatever_the_order_of_keys() -> None:
    first, second = cap_value({"a": 1, "b": 2}, cap=1), cap_value({"b": 2, "a": 1}, cap=1)

    assert first.value == second.value


def test_cap_value__over_the_hard_cap__is_cut_at_a_character_and_says_so() -> None:
    capped = cap_value("中" * 100, cap=10, hard_cap=50)

    assert capped.payload is not None
    assert capped.payload.truncated
    assert capped.value["truncated"] is True
    assert capped.payload.content == '"' + "中" * 16
    assert capped.payload.size == 302
    assert restore(capped.value, capped.payload) == '"' + "中" * 16


def test_cap_value__preview__is_short() -> None:
    capped = cap_value({"text": "y" * 50_000})

    assert len(capped.value["preview"]) == 1_000
    assert restore(capped.value, None) == capped.value["preview"]
