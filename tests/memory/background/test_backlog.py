"""Working through a backlog: until nothing waits or the time is up, and again while the database is busy."""

from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError

from memory.background import backlog
from memory.background.backlog import ATTEMPTS, insist, work_through


@pytest.mark.parametrize(
    ("batches", "deadline_s", "expected"),
    [
        pytest.param([(3, 2), (1, 1), (0, 0)], 60.0, (3, False), id="nothing waits any more"),
        pytest.param([(3, 2)], 0.0, (0, True), id="no time"),
        pytest.param([(0, 0)], 60.0, (0, False), id="nothing waited"),
    ],
)
def test_work_through__batches__are_counted_and_the_end_is_known(
    batches: list[tuple[int, int]],
    deadline_s: float,
    expected: tuple[int, bool],
    settings: Any,
    tmp_path: Path,
) -> None:
    settings.VAR_DIR = tmp_path  # its turn is nobody else's
    left = iter(batches)

    assert work_through("test-backlog", lambda: next(left), deadline_s) == expected


@pytest.mark.parametrize(
    ("failures", "runs"),
    [
        pytest.param(0, 1, id="at once"),
        pytest.param(ATTEMPTS - 1, ATTEMPTS, id="the last time"),
        pytest.param(ATTEMPTS, ATTEMPTS, id="never"),
    ],
)
def test_insist__database_is_busy__is_tried_five_times(
    failures: int, runs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backlog.time, "sleep", lambda seconds: None)
    ran = []

    def work() -> str:
        ran.append(1)
        if len(ran) <= failures:
            raise OperationalError("database is locked")
        return "done"

    if failures == ATTEMPTS:
        with pytest.raises(OperationalError, match="locked"):
            insist(work)
    else:
        assert insist(work) == "done"
    assert len(ran) == runs


def test_insist__another_error__is_raised_at_once() -> None:
    ran = []

    def work() -> None:
        ran.append(1)
        raise ValueError("no such thing")

    with pytest.raises(ValueError, match="no such thing"):
        insist(work)
    assert len(ran) == 1
