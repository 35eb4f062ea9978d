"""Sequences as rows: exact, within bounds, taken away again, judged later."""

import random
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory.background.insights import sequences
from memory.background.insights.sequences import apply, rank_kinds
from memory.domain.insights.sequences import sequence_digest, sequences_of
from memory.models import SequenceKind, ToolSequence, Workspace
from tests.builders import NOW
from tests.memory.winning_scenes import share

pytestmark = pytest.mark.django_db


def counts(workspace: Workspace) -> dict[tuple[str, str], tuple[int, int]]:
    """What is stored: by kind and sequence, won and lost."""
    rows = ToolSequence.objects.filter(workspace=workspace, tasks__gt=0).select_related("kind")
    return {(row.kind.name, "".join(row.tools)): (row.won, row.lost) for row in rows}


def recount(shares: list[Any]) -> dict[tuple[str, str], tuple[int, int]]:
    """The same by going through all tasks."""
    won: Counter[tuple[str, str]] = Counter()
    lost: Counter[tuple[str, str]] = Counter()
    for one in shares:
        for kind in one["kinds"]:
            for tools in sequences_of(tuple(one["steps"])):
                (won if one["won"] else lost)[kind, "".join(tools)] += 1
    return {key: (won[key], lost[key]) for key in won | lost}


def test_apply__tasks_come_go_and_change__counts_as_if_counted_anew(workspace: Workspace) -> None:
    chance = random.Random(1)
    present: dict[str, Any] = {}
    for _ in range(12):
        removed, added = [], []
        for name in {f"t{chance.randrange(40)}" for _ in range(10)}:
            if name in present:
                removed.append(present.pop(name))
            if chance.random() < 0.7:
                tools = "".join(chance.choices("abcd", k=chance.randrange(8)))
                tags = tuple(chance.sample("xy", k=chance.randrange(3)))
                present[name] = share(name, tools, won=chance.random() < 0.5, tags=tags, domain="shop")
                added.append(present[name])
        apply(workspace.pk, removed, added)

    assert counts(workspace) == recount(list(present.values()))
    whole = SequenceKind.objects.get(workspace=workspace, name="")
    assert (whole.won, whole.lost) == (
        sum(one["won"] for one in present.values()), sum(not one["won"] for one in present.values()),
    )  # fmt: skip


def test_apply__everything_taken_away__nothing_left(workspace: Workspace) -> None:
    shares = [share("t1", "abc"), share("t2", "abd", won=False)]
    apply(workspace.pk, [], shares)

    apply(workspace.pk, shares, [])

    assert not ToolSequence.objects.exists()
    assert list(SequenceKind.objects.values_list("won", "lost")) == [(0, 0)]


def test_apply__share_of_an_earlier_version__is_left_alone(workspace: Workspace) -> None:
    apply(workspace.pk, [{"old": 1}], [share("t1", "ab")])

    assert counts(workspace) == {("", "ab"): (1, 0)}


def test_apply__more_than_are_kept__rarest_go_and_leave_their_bound(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sequences, "KEPT", 20)
    common = [share(f"c{number}", "ab") for number in range(5)]
    apply(workspace.pk, [], common)
    rare = [share(f"r{number}", [f"x{number}", "y"]) for number in range(40)]
    for one in rare:
        apply(workspace.pk, [], [one])
    apply(workspace.pk, [], [share("again", ["x0", "y"])])

    kept = ToolSequence.objects.filter(workspace=workspace)
    whole = SequenceKind.objects.get(workspace=workspace, name="")
    assert kept.count() <= 22
    assert counts(workspace)["", "ab"] == (5, 0)
    assert whole.floor == 1
    back = kept.get(digest=sequence_digest(("x0", "y")))
    assert back.tasks <= 2 <= back.tasks + back.missed  # the truth lies within what is said


def test_apply__more_kinds_than_are_kept__counted_among_all_tasks(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sequences, "MOST_KINDS", 2)

    apply(workspace.pk, [], [share("t1", "ab", domain="one"), share("t2", "ab", domain="two")])

    assert counts(workspace) == {("", "ab"): (2, 0), ("domain:one", "ab"): (1, 0)}


def test_apply__more_tasks__costs_no_more_queries(workspace: Workspace) -> None:
    def cost(shares: list[Any]) -> int:
        with CaptureQueriesContext(connection) as captured:
            apply(workspace.pk, [], shares)
        return len(captured)

    cost([share("t", "abcd")])
    few = cost([share("t1", "abcd")])

    assert cost([share(f"u{number}", "abcd") for number in range(30)]) <= few


def test_rank_kinds__counted_tasks__verdicts_and_no_shorter_twin(workspace: Workspace) -> None:
    shares = [share(f"w{number}", "abc") for number in range(30)]
    shares += [share(f"l{number}", "xyz", won=False) for number in range(30)]
    apply(workspace.pk, [], shares)

    assert rank_kinds(NOW) == 1

    said = ToolSequence.objects.filter(is_closed=True).values_list("tools", "verdict")
    assert {"".join(tools): verdict for tools, verdict in said} == {"abc": "winning", "xyz": "losing"}


def test_rank_kinds__counts_change__judged_again_after_a_minute(workspace: Workspace) -> None:
    apply(workspace.pk, [], [share("t1", "ab")])
    rank_kinds(NOW)
    apply(workspace.pk, [], [share("t2", "ab")])

    assert rank_kinds(NOW + timedelta(seconds=10)) == 0
    assert rank_kinds(NOW + timedelta(seconds=90)) == 1
    assert rank_kinds(NOW + timedelta(seconds=900)) == 0


def test_rank_kinds__easy_and_hard_domain__all_tasks_say_what_each_domain_says(workspace: Workspace) -> None:
    """Only the hard domain's tasks hold "ab", where it does nothing."""
    shares = [share(f"e{number}", "xy", won=number % 10 > 0, domain="easy") for number in range(100)]
    shares += [share(f"h{number}", "ab", won=number % 5 == 0, domain="hard") for number in range(50)]
    shares += [share(f"k{number}", "cd", won=number % 5 == 0, domain="hard") for number in range(50)]
    apply(workspace.pk, [], shares)

    rank_kinds(NOW)

    row = ToolSequence.objects.get(kind__name="", digest=sequence_digest(("a", "b")))
    assert (row.verdict, row.lift) == ("unclear", pytest.approx(1.0))
