"""The life of a change request, and whose approvals count."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from corrections.domain.changes import (
    CHANGE_INITIAL,
    CHANGE_TRANSITIONS,
    ChangePolicy,
    check_current,
    check_loosening,
    missing_approvals,
    safe_policy,
    serving_kind,
)
from corrections.domain.lifecycle import Refused
from memory.domain.lifecycle import mermaid


@dataclass
class Yes:
    revision: int
    actor_kind: str
    actor_uuid: str


def test_diagram__in_the_documentation__is_the_table() -> None:
    text = Path("docs/corrections.md").read_text(encoding="utf-8")
    assert f"```mermaid\n{mermaid(CHANGE_INITIAL, CHANGE_TRANSITIONS)}\n```" in text


@pytest.mark.parametrize(
    ("policy", "given", "missing"),
    [
        pytest.param({}, [], 1, id="none"),
        pytest.param({}, [Yes(2, "user", "a")], 0, id="one"),
        pytest.param({}, [Yes(1, "user", "a")], 1, id="of an earlier revision"),
        pytest.param({}, [Yes(2, "user", "me")], 1, id="of the author"),
        pytest.param({"self_approval": True}, [Yes(2, "user", "me")], 0, id="of the author where allowed"),
        pytest.param({}, [Yes(2, "key", "k")], 1, id="of a key"),
        pytest.param({"key_approval": True}, [Yes(2, "key", "k")], 0, id="of a key where allowed"),
        pytest.param({"required_approvals": 3}, [Yes(2, "user", "a"), Yes(2, "user", "a")], 2, id="twice"),
        pytest.param({"required_approvals": 3}, [Yes(2, "system", "")], 0, id="of the system"),
    ],
)
def test_missing__approvals_given__counts_those_that_count(
    policy: dict[str, Any], given: list[Yes], missing: int
) -> None:
    kept = ChangePolicy(**policy)
    assert missing_approvals(kept, approvals=given, revision=2, authors=["me"]) == missing


@pytest.mark.parametrize(
    ("status", "kind"),
    [("draft", "create"), ("active", "edit"), ("disabled", "enable"), ("expired", "enable")],
)
def test_serving__status__gives_the_kind(status: str, kind: str) -> None:
    assert serving_kind(status) == kind


def test_current__moved_on__says_both() -> None:
    check_current(base=(1, "active"), now=(1, "active"))
    with pytest.raises(Refused, match="active with version 1, now it is disabled"):
        check_current(base=(1, "active"), now=(None, "disabled"))


def test_policy__unreadable__is_the_strict_one() -> None:
    assert safe_policy({"changes": {"required_approvals": "many"}}) == ChangePolicy()


@pytest.mark.parametrize(
    ("new", "looser"),
    [
        pytest.param({"required_approvals": 3}, False, id="more approvals"),
        pytest.param({"required_approvals": 1}, True, id="fewer"),
        pytest.param({"required_approvals": 2, "urgent_disable": True}, True, id="something new is allowed"),
    ],
)
def test_loosening__by_a_key__is_refused(new: dict[str, Any], looser: bool) -> None:
    if not looser:
        check_loosening(ChangePolicy(required_approvals=2), ChangePolicy(**new))
        return
    with pytest.raises(Refused):
        check_loosening(ChangePolicy(required_approvals=2), ChangePolicy(**new))
