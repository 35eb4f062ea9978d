"""Writing the changed cells of a counter: whole rows, in statements of bounded size, in one order."""

from collections.abc import Sequence

from memory.writer.tables import Row, Table

ROWS_OF_A_STATEMENT = 400


def save_cells(table: Table, rows: Sequence[Row], *, unique: int) -> None:
    """Insert the rows or put them in place of those that are there.

    The first ``unique`` fields of the table are its key. Call it inside a transaction.
    """
    columns = table.columns.replace('"', "").split(", ")
    moved = ", ".join(f"{name} = excluded.{name}" for name in columns[unique:])
    ordered = sorted(rows, key=lambda row: row[:unique])
    for start in range(0, len(ordered), ROWS_OF_A_STATEMENT):
        chunk = ordered[start : start + ROWS_OF_A_STATEMENT]
        table.append_missing(chunk, unique=", ".join(columns[:unique]), update=moved)
