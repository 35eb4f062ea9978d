"""The databases of a recorded stream as SQLite copies in memory, to execute what a rule made of a query.

``DIR`` may hold ``*_dump.sql.gz`` (a MySQL dump of several databases) and ``*_tasks.jsonl.gz`` (rows of
``{db, query, gold}``). Only the benchmark knows SQL; the product never sees this module.
"""

import gzip
import json
import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

MAX_ROWS = 100_000
MAX_STEPS = 20_000_000
STEPS_A_LOOK = 10_000
READS = re.compile(r"(?i)\s*(select|with)\b")
_COMMENT = re.compile(r"/\*!.*?\*/;?", re.DOTALL)
_DATABASE = re.compile(r"CREATE DATABASE\s+(?:IF NOT EXISTS\s+)?`(\w+)`")
_CREATED = re.compile(r"CREATE TABLE `(\w+)`")
_NO_COLUMN = ("KEY ", "UNIQUE KEY", "CONSTRAINT", "FULLTEXT")
_OPTIONS = re.compile(r"AUTO_INCREMENT|COLLATE \w+|CHARACTER SET \w+|unsigned|COMMENT '.*?'")
_TEXT_TYPE = re.compile(r"(`\s+)(?:enum\([^)]*\)|(?:long|medium|tiny)?text|(?:var)?char(?:\([^)]*\))?)")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "0": "", "'": "''"}

Rows = list[str]
"""Rows in a form that compares: numbers rounded, order left out."""


@dataclass
class Databases:
    """Every database of a dump, opened when it is first asked."""

    scripts: dict[str, list[str]]
    gold: dict[tuple[str, str], str]
    _open: dict[str, sqlite3.Connection] = field(default_factory=dict)
    _answers: dict[tuple[str, str], Rows | None] = field(default_factory=dict)

    def rows(self, database: str, query: str) -> Rows | None:
        """What a query returns; None when it fails, does not only read, or takes too long."""
        key = (database, query)
        if key not in self._answers:
            self._answers[key] = self._run(database, query)
        return self._answers[key]

    def is_right(self, database: str, query: str, goal: str) -> bool:
        """Whether a query returns the rows of the goal's gold query."""
        gold = self.gold.get((database, goal))
        wanted = self.rows(database, gold) if gold else None
        return wanted is not None and self.rows(database, query) == wanted

    def renamed(self, suffix: str = "_2") -> "Databases":
        """The same databases with every table under another name."""
        scripts: dict[str, list[str]] = {}
        for database, statements in self.scripts.items():
            tables = [found[1] for statement in statements if (found := _CREATED.match(statement))]
            changes = [f"ALTER TABLE `{table}` RENAME TO `{table}{suffix}`" for table in tables]
            scripts[database] = [*statements, *changes]
        return Databases(scripts, self.gold)

    def _run(self, database: str, query: str) -> Rows | None:
        if database not in self.scripts or not READS.match(query):
            return None
        looks = iter(range(MAX_STEPS // STEPS_A_LOOK))
        connection = self._connection(database)
        connection.set_progress_handler(lambda: next(looks, None) is None, STEPS_A_LOOK)
        try:
            found = connection.execute(query).fetchmany(MAX_ROWS)
        except (sqlite3.Error, sqlite3.Warning):
            return None
        return sorted(repr(tuple(map(_comparable, row))) for row in found)

    def _connection(self, database: str) -> sqlite3.Connection:
        if database not in self._open:
            connection = sqlite3.connect(":memory:", isolation_level=None)
            for statement in self.scripts[database]:
                connection.execute(statement)
            connection.execute("PRAGMA query_only = 1")
            self._open[database] = connection
        return self._open[database]


def find_databases(folder: Path) -> Databases | None:
    """The databases of the first dump in a data folder; None without one."""
    dumps, tasks = sorted(folder.glob("*_dump.sql.gz")), sorted(folder.glob("*_tasks.jsonl.gz"))
    if not dumps or not tasks:
        return None
    scripts: dict[str, list[str]] = {}
    for dump in dumps:
        scripts |= read_dump(gzip.decompress(dump.read_bytes()).decode("utf-8"))
    lines = [line for path in tasks for line in gzip.decompress(path.read_bytes()).splitlines()]
    rows = [json.loads(line) for line in lines if line.strip()]
    return Databases(scripts, {(row["db"], row["query"]): row["gold"] for row in rows})


def read_dump(text: str) -> dict[str, list[str]]:
    """The statements of a MySQL dump that SQLite needs, by database."""
    scripts: dict[str, list[str]] = {}
    current: list[str] = []
    for statement in re.split(r";\s*\n", _COMMENT.sub("", text)):
        lines = [line for line in statement.splitlines() if line.strip() and not line.startswith("--")]
        plain = "\n".join(lines).strip()
        database = _DATABASE.match(plain)
        if database:
            current = scripts.setdefault(database[1], [])
        elif plain.startswith("CREATE TABLE"):
            current.append(_table(plain))
        elif plain.startswith("INSERT INTO"):
            current.append("".join(_unescaped(plain)))
    return scripts


def _table(statement: str) -> str:
    body = re.sub(r"\)\s*ENGINE=.*\Z", ")", statement, flags=re.DOTALL)
    lines = [line for line in body.split("\n") if not line.strip().startswith(_NO_COLUMN)]
    plain = [_TEXT_TYPE.sub(r"\1text COLLATE NOCASE", _OPTIONS.sub("", line)) for line in lines]
    return re.sub(r",\s*\)\Z", "\n)", "\n".join(plain))


def _unescaped(statement: str) -> Iterator[str]:
    """Backslash escapes inside quotes as SQLite reads them."""
    inside = escaped = False
    for char in statement:
        if escaped:
            escaped = False
            yield _ESCAPES.get(char, char)
        elif char == "\\" and inside:
            escaped = True
        else:
            inside ^= char == "'"
            yield char


def _comparable(value: object) -> object:
    return round(float(value), 4) if isinstance(value, int | float) else value
