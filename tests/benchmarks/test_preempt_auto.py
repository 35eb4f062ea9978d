"""Mode ``auto`` of the pre-emption benchmark on a stream small enough to count by hand."""

from pathlib import Path

from benchmarks.auto import Auto

from .test_preempt import LABELS, RUNS, step, write_stream


def test_auto__recurring_mistake__is_caught_by_what_the_inducer_proposes(tmp_path: Path) -> None:
    auto = Auto(write_stream(tmp_path, [*RUNS, [step("go east"), step("north is shut now")]], LABELS))

    auto.run(lambda steps: None)

    tally = auto.tally
    assert (tally.recurrences, tally.caught, tally.right, tally.wrong, tally.good) == (2, 2, 2, 1, 6)
    assert {simple.name: simple.caught for simple in auto.simple}["same call failed before"] == 0
    (_name, rules, made, errors, *_times) = auto.cost()
    assert rules
    assert made > rules - 1
    assert errors == 0


def test_auto__rule_that_hit_a_good_call__does_not_hit_it_twice(tmp_path: Path) -> None:
    runs = [*RUNS, [step("north is shut now")]]
    auto = Auto(write_stream(tmp_path, runs, LABELS))

    auto.run(lambda steps: None)

    assert auto.tally.wrong == 1
    assert all(tool == "act" for _action, tool, *_rest in auto.listed())
