"""The live demo source: real tasks, real tools, real errors."""

import importlib.util
import subprocess
import sys

import msgspec
import pytest

from benchmarks.bfcl import PlannedCall, Variant, load_tasks, play, variants
from benchmarks.bfcl.__main__ import count
from benchmarks.bfcl.tools import Environment
from memory.domain.experience import ExperienceDoc

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("bfcl_eval") is None, reason="the bfcl-eval wheel is not installed"
)


def first_failing():
    return next(run for run in map(play, variants(load_tasks())) if run.errors)


def test_count__all_variants__are_those_of_the_evaluation():
    figures = count()

    assert (figures["tasks"], figures["variants"]) == (200, 1142)
    assert (figures["failing"], figures["errors"], figures["patterns"]) == (286, 424, 74)


def test_play__every_gold_path__is_ok():
    runs = [play(Variant(task)) for task in load_tasks()]

    assert all(run.ok for run in runs)


def test_play__twice__gives_the_same_calls_and_state():
    first = first_failing()

    assert play(first.variant) == first


def test_play__missing_step_that_changes_nothing__reaches_gold():
    runs = [play(variant) for variant in variants(load_tasks())]

    assert any(run.ok for run in runs)
    assert any(not run.errors and not run.reaches_gold for run in runs)


def test_play__hook_puts_the_forgotten_step_back__is_ok():
    variant = first_failing().variant
    forgotten = variant.task.gold[variant.left_out]

    def put_back(planned, made):
        if len(made) == variant.left_out:
            return [PlannedCall(forgotten.tool, forgotten.args), planned]
        return None

    run = play(variant, put_back)

    assert run.ok
    assert len(run.calls) == len(variant.task.gold)


def test_play__hook_drops_every_call__makes_none():
    run = play(Variant(load_tasks()[0]), lambda planned, made: [])

    assert run.calls == ()
    assert not run.ok


@pytest.mark.parametrize(
    ("tool", "args", "message"),
    [
        pytest.param("fly", {}, "Unknown tool: fly", id="unknown_tool"),
        pytest.param("_load_scenario", {"scenario": {}}, "Unknown tool: _load_scenario", id="private_method"),
        pytest.param("mkdir", {"no_such": 1}, "unexpected keyword", id="unknown_argument"),
        pytest.param("cd", {"folder": "nowhere"}, "nowhere", id="tool_error"),
    ],
)
def test_environment_call__bad_call__is_an_error_not_an_exception(tool, args, message):
    task = load_tasks()[0]

    _, error = Environment(task.classes, task.initial).call(tool, args)

    assert message in error


def test_to_document__failing_run__is_a_valid_document_with_its_errors():
    run = first_failing()

    document = msgspec.convert(msgspec.json.decode(msgspec.json.encode(run.to_document())), ExperienceDoc)

    assert [call.tool for call in document.calls] == [call.tool for call in run.calls]
    assert [call.status == "error" for call in document.calls] == [
        call.error is not None for call in run.calls
    ]
    assert document.outcome.by == "evaluator"


def test_to_document__all_variants__have_ids_of_their_own_and_are_valid():
    documents = [play(variant).to_document() for variant in variants(load_tasks())]

    assert len({document["external_id"] for document in documents}) == 1142
    for document in documents:
        msgspec.convert(document, ExperienceDoc)


def test_import__tools__stays_light():
    code = (
        "import sys; from benchmarks.bfcl import load_tasks; load_tasks();"
        "print(sorted(set(sys.modules) & {'numpy', 'torch', 'faiss', 'openai', 'requests', 'bs4'}))"
    )

    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert shown.stdout.strip() == "[]"
