"""The pre-emption benchmark on streams small enough to count by hand."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.one_shot import read_label, write_correction
from benchmarks.past import Notebook
from benchmarks.preempt import OneShot
from benchmarks.product import Product
from benchmarks.streams import Stream, StreamError, discover
from hgmem.rules import Condition, parse_context

DOMAIN = "depot"
SCOPE = 'env.domain == "depot" && '


def context(args: dict[str, Any]) -> dict[str, Any]:
    return {"tool": "act", "input": args, "env": {"domain": DOMAIN}}


def correct(
    fine: str, args: dict[str, Any], good: list[dict[str, Any]], returned: str = ""
) -> tuple[str, str]:
    notebook = Notebook()
    for other in good:
        notebook.write(context(other), returned)
    blame = read_label(fine, tool="act", domain=DOMAIN, args=args)
    correction = write_correction(blame, notebook.about("act", DOMAIN))
    assert correction is not None
    assert Condition.compile(correction.condition).evaluate(parse_context(context(args))) is True
    return correction.reading, correction.condition.removeprefix(SCOPE)


@pytest.mark.parametrize(
    ("fine", "args", "good", "reading", "condition"),
    [
        pytest.param(
            "depot|act|No shelf <q>|hall.north",
            {"text": "go to North now"},
            [],
            "word",
            r'input.text.matches("(?i)\\bnorth\\b")',
            id="last-part-of-the-identifier-is-a-word-of-a-text",
        ),
        pytest.param(
            "act|Error: crate C7 is locked on 2024-05-01",
            {"crates": [{"code": "C7", "day": "2024-05-01", "count": 2}]},
            [],
            "value",
            'input.crates.exists(x, x.code == "C7" && x.day == "2024-05-01")',
            id="codes-of-the-sentence-in-one-element-of-a-list",
        ),
        pytest.param(
            "act|Error: total is 9, but paid 7",
            {"goods": [{"code": "nut"}], "payments": [{"amount": 3}, {"amount": 4}]},
            [],
            "amount",
            'input.goods == [{"code": "nut"}] && '
            "((input.payments.size() > 0 ? double(input.payments[0].amount) : 0.0)"
            " + (input.payments.size() > 1 ? double(input.payments[1].amount) : 0.0)"
            " + (input.payments.size() > 2 ? double(input.payments[2].amount) : 0.0)) != 9.0",
            id="one-number-is-the-sum-that-was-given-and-the-other-what-it-should-be",
        ),
        pytest.param(
            "act|Error: a day pass cannot open this door",
            {"door": "east", "ticket": "day_pass_31"},
            [],
            "phrase",
            'input.ticket.startsWith("day_pass")',
            id="words-of-the-sentence-that-a-value-is-made-of",
        ),
        pytest.param(
            "act|Error: a day pass cannot open this door",
            {"id": "R1", "door": "east", "ticket": "day_pass_31"},
            [{"id": "R2", "door": "west", "ticket": "day_pass_44"}],
            "phrase, narrowed",
            'input.ticket.startsWith("day_pass") && input.door == "east"',
            id="a-good-call-is-spared-by-the-argument-that-reads-like-a-kind",
        ),
        pytest.param(
            "act|Error: shelf not found",
            {"shelf_id": "s9", "note": "x"},
            [],
            "argument",
            'input.shelf_id == "s9"',
            id="the-sentence-names-an-argument",
        ),
        pytest.param(
            "depot|act|Say it like this:|",
            {"text": "PLEASE open it"},
            [],
            "opening",
            'input.text.startsWith("PLEASE ")',
            id="nothing-is-blamed-and-no-good-call-begins-like-that",
        ),
        pytest.param(
            "depot|act|Say it like this:|",
            {"text": "open it"},
            [{"text": "open the door"}],
            "same call",
            'input.text == "open it"',
            id="nothing-is-blamed-and-good-calls-begin-like-that",
        ),
    ],
)
def test_write_correction__label_and_call__says_what_a_person_would(
    fine: str, args: dict[str, Any], good: list[dict[str, Any]], reading: str, condition: str
) -> None:
    assert correct(fine, args, good) == (reading, condition)


def test_write_correction__identifier_is_a_real_name_here__only_the_same_call() -> None:
    reading, condition = correct(
        "act|No shelf <q>|north", {"text": "go north"}, [{"text": "list"}], "north, south"
    )

    assert (reading, condition) == ("same call", 'input.text == "go north"')


def test_write_correction__every_condition_hits_a_good_call__files_nothing() -> None:
    notebook = Notebook()
    notebook.write(context({"text": "go"}), "fine")
    blame = read_label("act|Busy|", tool="act", domain=DOMAIN, args={"text": "go"})

    assert write_correction(blame, notebook.about("act", DOMAIN)) is None


def step(text: str, error: str = "") -> dict[str, Any]:
    return {"tool": "act", "args": {"text": text}, "obs": error or "done", "error": bool(error)}


def write_stream(
    folder: Path, runs: list[list[dict[str, Any]]], labels: dict[tuple[int, int], str]
) -> Stream:
    rows = [
        {"path_id": f"r{at}", "order": at, "domain": DOMAIN, "goal": "tidy", "success": True, "reward": 1.0,
         "gold": "open sesame", "steps": steps}
        for at, steps in enumerate(runs)
    ]  # fmt: skip
    marks = [
        {"path_id": f"r{run}", "step": at, "sig": fine.rpartition("|")[0], "fine": fine}
        for (run, at), fine in labels.items()
    ]
    for name, lines in (("tiny.jsonl.gz", rows[::-1]), ("tiny.labels.jsonl.gz", marks)):
        with gzip.open(folder / name, "wt") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
    (stream,) = discover(folder)
    return stream


NORTH, FINE = "No shelf 'north'", "depot|act|No shelf <q>|north"
RUNS = [
    [step("go north", NORTH), step("go south")],
    [step("look north please", NORTH), step("go south")],
    [step("go south"), step("look north", NORTH), step("north is shut now")],
]
LABELS = {(0, 0): FINE, (1, 0): FINE, (2, 1): FINE}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("timing", ["after-run", "at-once"])
def test_replay__recurring_mistake__is_caught_from_the_next_run_on(tmp_path: Path, timing: str) -> None:
    stream = write_stream(tmp_path, RUNS, LABELS)

    replay = OneShot(stream, Product(f"tiny-{timing}"), timing=timing).run(lambda steps: None)

    tally = replay.product
    assert (tally.recurrences, tally.caught, tally.right, tally.wrong, tally.good) == (2, 2, 2, 1, 4)
    assert tally.precision == pytest.approx(2 / 3)
    assert [correction.reading for correction in replay.filed.values()] == ["word"]
    assert list(replay.disturbed.values()) == [1]
    assert replay.covered == 1
    assert {simple.name: simple.caught for simple in replay.simple} == {
        "tool failed before": 2,
        "same call failed before": 0,
        "nearest call failed": 0,
    }


def test_discover__broken_line__is_named(tmp_path: Path) -> None:
    write_stream(tmp_path, RUNS, LABELS)
    with gzip.open(tmp_path / "tiny.jsonl.gz", "at") as file:
        file.write("{oops\n")

    with pytest.raises(StreamError, match=r"tiny\.jsonl\.gz, line 4"):
        discover(tmp_path)


def test_discover__gold__reaches_nobody(tmp_path: Path) -> None:
    stream = write_stream(tmp_path, RUNS, LABELS)

    assert "sesame" not in repr(stream)
