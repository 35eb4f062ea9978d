"""Bulk inserts that bypass the ORM but not the models: names and order come from ``_meta``."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import Any
from uuid import UUID

from django.db import connection, models

Row = tuple[Any, ...]

COPY_FROM = 40
"""Rows from which COPY, with its three round trips, beats one INSERT."""

KEYS_OF_A_STATEMENT = 2_000

CHUNKS = (100, 10, 1)
"""Rows of a statement on SQLite: few different statements, so that the connection keeps them prepared. One
statement lets go of the interpreter's lock once, where ``executemany`` does so for every row, and beside busy
threads each time costs a wait for it."""


class Table:
    """Appends rows to a model's table: statements of many rows on SQLite, ``COPY`` on PostgreSQL.

    ``names`` are the model's fields in the order of a row's values. Values are what the database takes: JSON
    as text, times through :func:`moment`, UUIDs through :func:`identifier`.
    """

    def __init__(self, model: type[models.Model], names: Sequence[str]) -> None:
        self.model = model
        self.names = tuple(names)

    @cached_property
    def name(self) -> str:
        """The quoted name of the table."""
        return connection.ops.quote_name(self.model._meta.db_table)

    @cached_property
    def columns(self) -> str:
        """The quoted columns, in the order of a row. KeyError for a name the model lost."""
        fields = {field.name: str(field.column) for field in self.model._meta.concrete_fields}
        return ", ".join(connection.ops.quote_name(fields[name]) for name in self.names)

    def append(self, rows: Sequence[Row]) -> None:
        """Insert the rows. Raises IntegrityError like any insert; call it inside a transaction."""
        if not rows:
            return
        if connection.vendor != "postgresql":
            self._append_chunks(rows)
            return
        with connection.cursor() as cursor:
            if len(rows) < COPY_FROM:
                cursor.execute(*self._statement(cursor, rows))
            else:
                with cursor.copy(f"COPY {self.name} ({self.columns}) FROM STDIN") as copy:
                    for row in rows:
                        copy.write_row(row)

    def _append_chunks(self, rows: Sequence[Row]) -> None:
        """Past Django's cursor, which would rewrite the thousand marks of each statement every time."""
        start = 0
        with connection.wrap_database_errors:
            for size in CHUNKS:
                while len(rows) - start >= size:
                    values = [value for row in rows[start : start + size] for value in row]
                    connection.connection.execute(self._chunk_inserts[size], values).close()
                    start += size

    @cached_property
    def _chunk_inserts(self) -> dict[int, str]:
        """SQLite's statement for each number of rows."""
        marks = "(" + ", ".join("?" * len(self.names)) + ")"
        return {size: f"{self._insert} VALUES {', '.join([marks] * size)}" for size in CHUNKS}

    def append_missing(self, rows: Sequence[Row], *, unique: str, update: str = "") -> None:
        """Insert the rows that are not there yet, by the columns ``unique``.

        ``update`` is what happens to a row that is there: the text after ``DO UPDATE SET``.
        """
        if not rows:
            return
        action = f"UPDATE SET {update}" if update else "NOTHING"
        with connection.cursor() as cursor:
            cursor.execute(*self._statement(cursor, rows, f" ON CONFLICT ({unique}) DO {action}"))

    def append_returning(self, rows: Sequence[Row], *, unique: str, key: str) -> dict[str, int]:
        """Insert the rows that are not there yet; the value of the column ``key`` -> the new id."""
        ending = f" ON CONFLICT ({unique}) DO NOTHING RETURNING {key}, id"
        with connection.cursor() as cursor:
            cursor.execute(*self._statement(cursor, rows, ending))
            return dict(cursor.fetchall())

    def _statement(self, cursor: Any, rows: Sequence[Row], ending: str = "") -> tuple[str, list[Any] | None]:
        """A multi-row insert and its parameters.

        psycopg takes a statement with hundreds of marks apart each time; those of one row it knows. So there
        each row is bound by itself and the statement has no parameters left.
        """
        if connection.vendor == "postgresql":
            values = ", ".join(cursor.mogrify(self._marks, row) for row in rows)
            return f"{self._insert} VALUES {values}{ending}", None
        values = ", ".join([self._marks] * len(rows))
        return f"{self._insert} VALUES {values}{ending}", [value for row in rows for value in row]

    @cached_property
    def _insert(self) -> str:
        return f"INSERT INTO {self.name} ({self.columns})"

    @cached_property
    def _marks(self) -> str:
        return "(" + ", ".join(["%s"] * len(self.names)) + ")"


def update_rows(
    model: type[models.Model], names: Sequence[str], rows: Sequence[Row], *, key: str = "id"
) -> None:
    """Set the fields ``names`` row by row; the last value of each row is that of the column ``key``."""
    if not rows:
        return
    columns = {field.name: str(field.column) for field in model._meta.concrete_fields}
    sets = ", ".join(f"{connection.ops.quote_name(columns[name])} = %s" for name in names)
    table = connection.ops.quote_name(model._meta.db_table)
    with connection.cursor() as cursor:
        cursor.executemany(f"UPDATE {table} SET {sets} WHERE {key} = %s", rows)  # noqa: S608 - model's names


def delete_rows(model: type[models.Model], keys: Sequence[tuple[int]]) -> None:
    """Delete the rows with these ids, one by one; nothing may refer to them."""
    if not keys:
        return
    table = connection.ops.quote_name(model._meta.db_table)
    with connection.cursor() as cursor:
        cursor.executemany(f"DELETE FROM {table} WHERE id = %s", keys)  # noqa: S608 - the model's name


def find_rows(
    model: type[models.Model], names: Sequence[str], keys: Sequence[Row], *, by: Sequence[str]
) -> list[Row]:
    """The fields ``names`` of the rows whose fields ``by`` are one of the keys, as the database gives them.

    Numbers and texts only; JSON comes as text. The fields ``by`` should have an index.
    """
    columns = {field.name: _selected(field) for field in model._meta.concrete_fields}
    table = connection.ops.quote_name(model._meta.db_table)
    told = f"({', '.join(columns[name] for name in by)})"
    head = f"SELECT {', '.join(columns[name] for name in names)} FROM {table} WHERE {told} IN (VALUES "  # noqa: S608 - names of the model
    marks = "(" + ", ".join(["%s"] * len(by)) + ")"
    found: list[Row] = []
    with connection.cursor() as cursor:
        for start in range(0, len(keys), KEYS_OF_A_STATEMENT):
            chunk = keys[start : start + KEYS_OF_A_STATEMENT]
            values = [value for key in chunk for value in key]
            cursor.execute(f"{head}{', '.join([marks] * len(chunk))})", values)
            found += cursor.fetchall()
    return found


def _selected(field: Any) -> str:
    """The quoted column; JSON as text, which PostgreSQL would give decoded."""
    column = connection.ops.quote_name(str(field.column))
    return f"CAST({column} AS TEXT)" if isinstance(field, models.JSONField) else column


def moment(value: datetime | None) -> Any:
    """A time as the database takes it."""
    return None if value is None else _MOMENT[connection.vendor](value)


def _sqlite_moment(value: datetime) -> str:
    """What ``adapt_datetimefield_value`` says, in a fraction of its time (it looks the zone up each time)."""
    return str(value.astimezone(UTC).replace(tzinfo=None))


_MOMENT: dict[str, Callable[[datetime], Any]] = {"sqlite": _sqlite_moment, "postgresql": lambda value: value}


def identifier(value: UUID) -> Any:
    """A UUID as the database takes it."""
    return value if connection.features.has_native_uuid_field else value.hex
