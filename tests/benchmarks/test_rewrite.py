"""The rewrite benchmark on the first tasks: what it counts, and what memory may know."""

import importlib.util

import pytest

from benchmarks.bfcl import PlannedCall, Variant, load_tasks, play
from benchmarks.rewrite import Stream, execute, failing_variant, measure

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("bfcl_eval") is None, reason="the bfcl-eval wheel is not installed"
)


@pytest.fixture(scope="module")
def tasks():
    return load_tasks()[50:58]


def test_stream__leave_task_out__memory_never_holds_a_path_of_the_task(tasks):
    for failing, memory, _ in Stream(tasks, knows_task=False).walk():
        known = [*memory.successes, *(repair.fixed for repair in memory.repairs)]
        assert failing.task.goal not in {path.goal for path in known}


def test_stream__as_in_life__memory_knows_the_good_run_after_the_first_failure(tasks):
    met: set[str] = set()
    for failing, memory, _ in Stream(tasks, knows_task=True).walk():
        goals = {path.goal for path in memory.successes}
        assert (failing.task.goal in goals) == (failing.task.id in met)
        met.add(failing.task.id)
    assert met


def test_execute__gold_calls__run_and_are_right(tasks):
    task = tasks[0]
    calls = [PlannedCall(step.tool, step.args) for step in task.gold]

    assert execute(task, calls) == (True, True)
    assert execute(task, [PlannedCall("fly", {})]) == (False, False)


def test_failing_variant__a_good_walk__is_none(tasks):
    assert failing_variant(Variant(tasks[0])) is None


def test_measure__few_tasks__counts_every_failure_once_and_beats_the_word_for_word_fix(tasks):
    failing = [failing_variant(Variant(task, place)) for task in tasks for place in range(len(task.gold))]
    steps: list[int] = []

    tallies = measure(tasks, knows_task=False, advance=steps.append)

    recurrence, first = tallies["recurrence"], tallies["first time"]
    assert recurrence.count + first.count == len(steps) == sum(found is not None for found in failing)
    assert tallies["word for word"].count == recurrence.count
    assert recurrence.right >= tallies["word for word"].right
    assert recurrence.right > recurrence.count / 2
    assert recurrence.grown == first.grown == 0


def test_path_of__a_run__has_a_node_for_every_call(tasks):
    run = play(Variant(tasks[0]))
    (failing, _, _), *_ = Stream(tasks, knows_task=False).walk()

    assert len(failing.path.nodes) == len(failing.run.calls)
    assert failing.failure.node in {node.name for node in failing.path.nodes}
    assert run.ok
