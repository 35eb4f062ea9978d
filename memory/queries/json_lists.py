"""Looking into JSON lists of text: tags, tools."""

from typing import TypeVar

from django.db import connection
from django.db.models import Model, Q, QuerySet, TextField
from django.db.models.functions import Cast

M = TypeVar("M", bound=Model)


def holding(rows: QuerySet[M], field: str, value: str) -> QuerySet[M]:
    """Rows whose list ``field`` has the value.

    SQLite has no JSON containment: there it is looked for in both spellings of what is not ASCII.
    """
    if connection.features.supports_json_field_contains:
        return rows.filter(**{f"{field}__contains": [value]})
    quoted = value.replace("\\", "\\\\").replace('"', '\\"')
    escaped = quoted.encode("ascii", "backslashreplace").decode()
    texts: dict[str, Cast] = {f"{field}_text": Cast(field, TextField())}
    rows = rows.alias(**texts)
    return rows.filter(
        Q(**{f"{field}_text__contains": f'"{quoted}"'}) | Q(**{f"{field}_text__contains": f'"{escaped}"'})
    )
