"""The benchmark of effect on a small hand-made stream: executed changes, the reference, poison."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.databases import Databases, find_databases, read_dump
from benchmarks.effect import executor
from benchmarks.effect_canary import Controller, replay_on_trial
from benchmarks.effect_poison import Poison
from benchmarks.effect_reference import reference, renamed
from benchmarks.effect_replay import halves, replay
from benchmarks.induced import Induced
from benchmarks.streams import Call, Run, Stream

DUMP = """CREATE DATABASE  IF NOT EXISTS `zoo` /*!40100 DEFAULT CHARACTER SET utf8mb4 */;
USE `zoo`;
-- a comment
DROP TABLE IF EXISTS `animal`;
CREATE TABLE `animal` (
  `Animal_ID` int NOT NULL AUTO_INCREMENT,
  `Name` text COLLATE utf8mb4_general_ci,
  `Kind` varchar(20) DEFAULT NULL,
  PRIMARY KEY (`Animal_ID`),
  KEY `by_kind` (`Kind`)
) ENGINE=InnoDB AUTO_INCREMENT=3 DEFAULT CHARSET=utf8mb4;
LOCK TABLES `animal` WRITE;
INSERT INTO `animal` VALUES (1,'Rosa','rabbit'),(2,'O\\'Leary; the\\ncat','cat');
UNLOCK TABLES;
"""
GOAL = "Which animals are there?"
GOLD = "SELECT Name FROM animal"
MISSING = "Table 'zoo.animals' doesn't exist"


@pytest.fixture
def databases() -> Databases:
    return Databases(read_dump(DUMP), {("zoo", GOAL): GOLD})


def run(name: str, *calls: tuple[str, str], goal: str = GOAL) -> Run:
    """Calls as query and error."""
    made = tuple(Call("sql", {"q": query}, error or "[]", bool(error)) for query, error in calls)
    return Run(name, "zoo", goal, "", made, None, None)


def fixed(name: str, what: str) -> Run:
    return run(name, (f"SELECT {what} FROM animals", MISSING), (f"SELECT {what} FROM animal", ""))


def test_read_dump__mysql_dump__is_a_database_that_answers(databases: Databases) -> None:
    assert databases.rows("zoo", "select NAME from ANIMAL where kind = 'CAT'") == [
        repr(("O'Leary; the\ncat",))
    ]


@pytest.mark.parametrize(
    "query",
    [
        pytest.param("SELECT Name FROM animals", id="fails"),
        pytest.param("DELETE FROM animal", id="does-not-only-read"),
        pytest.param(
            "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n",
            id="ends-not",
        ),
    ],
)
def test_rows__no_answer__is_none(databases: Databases, query: str) -> None:
    assert databases.rows("zoo", query) is None
    assert databases.rows("nowhere", "SELECT 1") is None


def test_is_right__same_rows_in_another_order__is_right(databases: Databases) -> None:
    assert databases.is_right("zoo", "SELECT Name FROM animal ORDER BY Name", GOAL)
    assert not databases.is_right("zoo", "SELECT Kind FROM animal", GOAL)
    assert not databases.is_right("zoo", GOLD, "another goal")


def test_renamed__every_table__has_another_name(databases: Databases) -> None:
    later = databases.renamed("_b")

    assert later.rows("zoo", GOLD) is None
    assert later.rows("zoo", "SELECT Name FROM animal_b") == databases.rows("zoo", GOLD)


def test_find_databases__folder__is_found_or_none(tmp_path: Path) -> None:
    assert find_databases(tmp_path) is None
    (tmp_path / "x_dump.sql.gz").write_bytes(gzip.compress(DUMP.encode()))
    row = {"db": "zoo", "query": GOAL, "gold": GOLD}
    (tmp_path / "x_tasks.jsonl.gz").write_bytes(gzip.compress(json.dumps(row).encode()))

    found = find_databases(tmp_path)

    assert found is not None
    assert found.is_right("zoo", GOLD, GOAL)


def test_replay__mistake_that_was_repaired_before__is_executed_and_judged(databases: Databases) -> None:
    runs = [fixed("r1", "Kind"), run("r2", ("SELECT Name FROM animals", MISSING)), run("r3", (GOLD, ""))]
    induced = Induced()

    effects = replay(runs, induced, executor(databases))

    (fired,) = effects.fired
    assert (fired.was_failing, fired.ran, fired.right) == (True, True, True)
    assert (effects.ran, effects.right, effects.broke) == (1, 1, 0)
    assert [effect.outcomes for effect in induced.effects.values()] == [1]


def test_reference__missing_table__is_renamed_as_the_run_itself_did(databases: Databases) -> None:
    runs = (fixed("r1", "Name"), run("r2", ("SELECT Name FROM animals", MISSING)))

    assert renamed(runs[0], 0) == {"q": "SELECT Name FROM animal"}
    assert renamed(runs[1], 0) is None
    assert reference(runs, executor(databases)) == (1, 1, 1)


def test_induced__repair_that_never_works__is_retired(databases: Databases) -> None:
    def swap(proposal: Any) -> dict[str, Any]:
        text = json.dumps(proposal.document()).replace('"animal"', '"stone"')
        return dict(json.loads(text))

    again = [run(f"r{n}", (f"SELECT Name, {n} FROM animals", MISSING)) for n in range(2, 8)]
    induced = Induced(swap)

    effects = replay([fixed("r1", "Kind"), *again], induced, executor(databases))

    assert (effects.ran, len(effects.fired)) == (0, 3)
    assert len(induced.retired) == 1


def test_poison__every_fifth_repair__gets_another_ones_replacement() -> None:
    poison, induced = Poison(), Induced()
    words = ["ants", "bees", "cats", "dogs", "eels", "figs"]
    for at, word in enumerate(words):
        calls = run(
            f"r{at}", (f"count the {word} now", f"no such thing '{word}'"), (f"count the {word[:-1]} now", "")
        )
        for seq, call in enumerate(calls.calls):
            induced.learn(calls.id, seq, call, "zoo")
        induced.end(calls.id)
    proposals = [one for one in induced.proposals.values() if one.priority == 1]

    documents = [poison(one) for one in proposals]

    assert poison.keys == {proposals[4].key}
    assert documents[4]["action_detail"]["operations"][0]["words"] == {"eels": "dog"}


def test_halves__stream__is_cut_in_the_middle() -> None:
    stream = Stream("s", tuple(run(f"r{n}") for n in range(5)), {})

    first, second = halves(stream)

    assert [one.id for one in (*first, *second)] == [f"r{n}" for n in range(5)]
    assert len(first) == 2


def word_repair(word: str) -> dict[str, Any]:
    return {
        "name": "Another table", "applies_to": {"point": "before", "tool": "sql"},
        "condition": "input.q.contains('animals')", "action_type": "PARAMETER_TRANSFORM",
        "action_detail": {
            "operations": [{"op": "replace_words", "field": "q", "words": {"animals": word}}]
        },
    }  # fmt: skip


@pytest.mark.parametrize(
    ("word", "state"),
    [pytest.param("animal", "holdout", id="works"), pytest.param("anymal", "withdrawn", id="works-never")],
)
def test_trial__repair_in_many_tasks__comes_to_its_end(databases: Databases, word: str, state: str) -> None:
    runs = [fixed("a", "Name"), fixed("b", "Kind"), fixed("c", "Name, Kind"), fixed("d", "Animal_ID")]
    controller = Controller({"key": word_repair(word)}, {"key": 0.5})

    for _day in range(12):
        replay_on_trial(runs, controller, executor(databases))

    assert controller.rules["key"].state == state
