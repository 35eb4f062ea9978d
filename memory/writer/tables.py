"""Bulk inserts that bypass the ORM but not the models: names and order come from ``_meta``."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any
from uuid import UUID

from django.db import connection, models

Row = tuple[Any, ...]


class Table:
    """Appends rows to a model's table: ``executemany`` on SQLite, ``COPY`` on PostgreSQL.

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
        with connection.cursor() as cursor:
            if connection.vendor == "postgresql":
                with cursor.copy(f"COPY {self.name} ({self.columns}) FROM STDIN") as copy:
                    for row in rows:
                        copy.write_row(row)
            else:
                cursor.executemany(f"{self._insert} VALUES ({self._marks})", rows)

    def append_missing(self, rows: Sequence[Row], *, unique: str, update: str = "") -> None:
        """Insert the rows that are not there yet, by the columns ``unique``.

        ``update`` is what happens to a row that is there: the text after ``DO UPDATE SET``.
        """
        if not rows:
            return
        action = f"UPDATE SET {update}" if update else "NOTHING"
        marks = ", ".join([f"({self._marks})"] * len(rows))
        sql = f"{self._insert} VALUES {marks} ON CONFLICT ({unique}) DO {action}"
        with connection.cursor() as cursor:
            cursor.execute(sql, [value for row in rows for value in row])

    def append_returning(self, rows: Sequence[Row], *, unique: str, key: str) -> dict[str, int]:
        """Insert the rows that are not there yet; the value of the column ``key`` -> the new id."""
        marks = ", ".join([f"({self._marks})"] * len(rows))
        sql = f"{self._insert} VALUES {marks} ON CONFLICT ({unique}) DO NOTHING RETURNING {key}, id"
        with connection.cursor() as cursor:
            cursor.execute(sql, [value for row in rows for value in row])
            return dict(cursor.fetchall())

    @cached_property
    def _insert(self) -> str:
        return f"INSERT INTO {self.name} ({self.columns})"

    @cached_property
    def _marks(self) -> str:
        return ", ".join(["%s"] * len(self.names))


def moment(value: datetime | None) -> Any:
    """A time as the database takes it."""
    return None if value is None else connection.ops.adapt_datetimefield_value(value)


def identifier(value: UUID) -> Any:
    """A UUID as the database takes it."""
    return value if connection.features.has_native_uuid_field else value.hex


def placeholders(values: Iterable[Any]) -> str:
    """``%s, %s, ...`` for a list of values."""
    return ", ".join("%s" for _ in values)
