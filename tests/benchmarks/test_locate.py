"""The localization benchmark on a handful of runs that can be counted by hand."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.locate import Judged, judge_peer, judge_product
from benchmarks.locate_peers import simple_methods
from benchmarks.locate_product import Memory
from benchmarks.locate_questions import load_corpus
from benchmarks.report import Report, parse_arguments
from benchmarks.streams import StreamError

ROWS = [
    ("How many singers are there?", "select count(*) from singer", "music", True),
    ("Count the singers.", "select count(*) from singer", "music", True),
    ("List the names of all singers.", "select name from singer", "music", True),
    ("Show every singer's name.", "select name from singer", "music", False),
    ("How many ships sank?", "select count(*) from ship where sank = 1", "navy", True),
    ("Count the ships that sank.", "select count(*) from ship where sank = 1", "navy", True),
]


def write_folder(folder: Path, qrels: list[dict[str, Any]], **files: list[dict[str, Any]]) -> Path:
    runs = [
        {
            "path_id": f"s:{task}:0", "order": task, "task_id": task, "domain": domain, "goal": goal,
            "success": solved, "reward": float(solved), "gold": "never read",
            "steps": [{"tool": "sql", "args": {"cmd": query}, "obs": "[]", "error": False}],
        }
        for task, (goal, query, domain, solved) in enumerate(ROWS)
    ]  # fmt: skip
    for name, rows in {"s.jsonl.gz": runs, "s.labels.jsonl.gz": [], **files}.items():
        with gzip.open(folder / name.replace("tasks", "spider_tasks.jsonl.gz"), "wt") as lines:
            lines.writelines(json.dumps(row) + "\n" for row in rows)
    (folder / "locate_qrels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in qrels))
    return folder


QRELS = [
    {"query_task": 0, "relevant": [1]},
    {"query_task": 2, "relevant": [3]},
    {"query_task": 4, "relevant": [5]},
]


def test_load_corpus__questions__keep_those_with_a_solved_run(tmp_path: Path) -> None:
    corpus = load_corpus(write_folder(tmp_path, QRELS))

    assert [(question.place, set(question.relevant)) for question in corpus.questions] == [(0, {1}), (4, {5})]
    assert corpus.asked == len(ROWS)
    assert corpus.excluded(corpus.questions[0]) == {0}


def test_load_corpus__another_source_with_the_same_numbers__is_not_mixed_up(tmp_path: Path) -> None:
    other = {"path_id": "t:1:0", "task_id": 1, "domain": "air", "goal": "Fly", "success": True, "steps": []}
    folder = write_folder(tmp_path, QRELS, **{"a.jsonl.gz": [other], "a.labels.jsonl.gz": []})
    corpus = load_corpus(folder)

    assert len(corpus.runs) == len(ROWS) + 1
    assert [(question.place, set(question.relevant)) for question in corpus.questions] == [(1, {2}), (5, {6})]


def test_load_corpus__no_foreign_questions__holds_domains_out(tmp_path: Path) -> None:
    corpus = load_corpus(write_folder(tmp_path, QRELS))

    assert corpus.negatives_are_held_out
    assert {negative.domain for negative in corpus.negatives} == {"music", "navy"}


def test_load_corpus__the_same_query_in_two_domains__is_no_negative(tmp_path: Path) -> None:
    tasks = [
        {"query": ROWS[0][0], "db": "music", "gold": "SELECT count(*) FROM singer"},
        {"query": "How many singers sail?", "db": "navy", "gold": "select  COUNT(*) from singer"},
    ]
    corpus = load_corpus(write_folder(tmp_path, QRELS, tasks=tasks))

    assert ROWS[0][0] not in {negative.goal for negative in corpus.negatives}


def test_load_corpus__enough_foreign_questions__asks_those(tmp_path: Path) -> None:
    tasks = [{"query": f"Question {n}", "db": "elsewhere", "gold": f"query {n}"} for n in range(120)]
    corpus = load_corpus(write_folder(tmp_path, QRELS, tasks=tasks))

    assert not corpus.negatives_are_held_out
    assert len(corpus.negatives) == 100


@pytest.mark.parametrize(
    ("qrels", "message"),
    [
        pytest.param([{"query_task": 77, "relevant": [78]}], "No stream", id="other tasks"),
        pytest.param([{"query_task": 0, "relevant": 1}], "line 1", id="wrong shape"),
    ],
)
def test_load_corpus__questions_of_other_runs__says_so(
    tmp_path: Path, qrels: list[dict[str, Any]], message: str
) -> None:
    with pytest.raises(StreamError, match=message):
        load_corpus(write_folder(tmp_path, qrels))


def test_load_corpus__no_questions__says_so(tmp_path: Path) -> None:
    with pytest.raises(StreamError, match="locate_qrels"):
        load_corpus(tmp_path)


def test_judged__ranks_and_scores__are_the_figures() -> None:
    judged = Judged(
        "m", ranks=[1, 2, 0, 4], right_scores=[0.9, 0.8], negative_scores=[0.1, 0.85], threshold=0.85
    )

    assert judged.hits(1).tolist() == [1, 0, 0, 0]
    assert judged.hits(3).mean() == 0.5
    assert judged.reciprocal.tolist() == [1, 0.5, 0, 0.25]
    assert judged.false_locate == 0.5
    assert judged.kept == 0.5


def test_simple_methods__a_question__score_every_run(tmp_path: Path) -> None:
    corpus = load_corpus(write_folder(tmp_path, QRELS))

    for method in simple_methods(corpus.runs):
        scores = method.score("Count the ships that sank.")
        assert scores.shape == (len(ROWS),)
        assert int(np.argmax(scores)) == 5
        assert len(judge_peer(method, corpus).ranks) == 2


@pytest.mark.django_db
def test_judge_product__small_corpus__finds_the_other_wording(
    tmp_path: Path, monkeypatch: Any, settings: Any
) -> None:
    settings.EMBEDDER = "builtin"  # put back afterwards
    corpus = load_corpus(write_folder(tmp_path, QRELS))
    monkeypatch.setattr("sys.argv", ["locate"])
    report = Report("locate", parse_arguments("test"))
    memory = Memory("builtin", corpus.runs)
    memory.learn(lambda _: None)

    plain, judged = judge_product(memory, corpus, 0.5, report)

    assert memory.paths == len(ROWS)
    assert judged.ranks == [1, 1]
    assert judged.solved == [True, True]
    assert len(judged.negative_scores) == len(plain.negative_scores) == len(corpus.negatives)
