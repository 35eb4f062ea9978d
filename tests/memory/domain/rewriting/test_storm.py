"""The three signals of a rewrite storm."""

import pytest

from memory.domain.rewriting.storm import StormFacts, likeness, watch

OTHERS = ("Log in first.", "The file is elsewhere.", "Ask for the date.", "No refund.", "Retry later.")
SAME = (
    "Adds lockDoors before startEngine: the doors were open.",
    "Adds lockDoors before startEngine: the doors were open!",
    "adds  lockDoors before startEngine: the doors were open",
)


@pytest.mark.parametrize(
    ("facts", "storms"),
    [
        pytest.param(StormFacts(), [], id="nothing happened"),
        pytest.param(StormFacts(versions=2, reasons=OTHERS[:3]), [], id="an ordinary day"),
        pytest.param(StormFacts(versions=3), ["versions"], id="versions grow"),
        pytest.param(StormFacts(reasons=(*OTHERS, "Pay first.")), ["versions"], id="drafts pile up"),
        pytest.param(StormFacts(reasons=SAME[:2]), [], id="the same reason twice"),
        pytest.param(StormFacts(reasons=SAME), ["reasons"], id="the same reason three times"),
        pytest.param(
            StormFacts(reasons=("", "", "")), [], id="drafts that came to nothing are no reason at all"
        ),
        pytest.param(StormFacts(sizes=((3, 8),)), [], id="a few nodes more"),
        pytest.param(StormFacts(sizes=((20, 32),)), [], id="many nodes, but not many for this path"),
        pytest.param(StormFacts(sizes=((5, 6), (6, 20))), ["nodes"], id="nodes jump"),
        pytest.param(StormFacts(sizes=((40, 8),)), [], id="a path that became shorter"),
        pytest.param(
            StormFacts(versions=4, reasons=SAME, sizes=((2, 40),)),
            ["versions", "reasons", "nodes"],
            id="everything at once",
        ),
    ],
)
def test_watch__facts_of_a_lineage__raise_the_signals(facts: StormFacts, storms: list[str]) -> None:
    storm = watch(facts)

    assert [signal.name for signal in storm.signals if signal.is_storm] == storms
    assert storm.is_storm == bool(storms)
    assert bool(storm.said) == storm.is_storm


def test_watch__nodes_jump__says_the_numbers() -> None:
    storm = watch(StormFacts(sizes=((6, 20), (50, 55))))

    assert storm.said == "A rewrite turned 6 nodes into 20."
    assert [signal.value for signal in storm.signals] == [0, 0, 14]


@pytest.mark.parametrize(
    ("first", "second", "alike"),
    [
        pytest.param("缺少缓存检查导致重复查询", "缺少缓存检查，导致重复查询", True, id="Chinese"),
        pytest.param("缺少缓存检查导致重复查询", "没有先登录", False, id="Chinese, something else"),
        pytest.param(SAME[0], SAME[1], True, id="English"),
        pytest.param(SAME[0], OTHERS[0], False, id="English, something else"),
    ],
)
def test_likeness__either_language__tells_a_variation_from_another_reason(
    first: str, second: str, alike: bool
) -> None:
    assert (likeness(first, second) >= 0.7) == alike
    assert likeness(first, second) == likeness(second, first)
    assert likeness(first, first) == 1.0
