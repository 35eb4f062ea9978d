"""The API reference as a page of Markdown, made from the OpenAPI document."""

from collections import defaultdict
from typing import Any

Document = dict[str, Any]

HEAD = """# API

Made from [openapi.yaml](openapi.yaml) by `make openapi`; do not edit by hand.

Base path `/api/v1/`. Send a key of the workspace with every request: `Authorization: Bearer hgm_...`.
Errors have one shape: `{code, detail, field?, errors?: [{field, detail}]}`. Lists are cursor-paged: `{next,
previous, results}`, with `?cursor=` and `?page_size=`. `400` no JSON, `401` no or bad key, `403` the key's
scopes do not allow it, `404` nothing of that name in this workspace, `409` contradicts what is stored,
`413` too large, `422` not acceptable, with field paths, `429` too many requests, `503` the database is
away; the last two say `Retry-After`. A NUL character and half of a surrogate pair, which no database
stores, are kept as U+FFFD.
"""


def write_reference(document: Document) -> str:
    """The whole page, one table of endpoints a tag and one section an endpoint."""
    groups: dict[str, list[tuple[str, str, Document]]] = defaultdict(list)
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            groups[operation["tags"][0]].append((method.upper(), path, operation))
    parts = [HEAD]
    for tag, operations in sorted(groups.items()):
        parts.append(f"## {tag.capitalize()}\n")
        parts += [_endpoint(document, *operation) for operation in operations]
    return "\n".join(parts).rstrip() + "\n"


def _endpoint(document: Document, method: str, path: str, operation: Document) -> str:
    lines = [f"### `{method} {path}`", "", f"**{operation.get('summary', '')}.**"]
    if operation.get("description"):
        lines += ["", operation["description"].strip()]
    fields = [_parameter(parameter) for parameter in operation.get("parameters", [])]
    fields += _body(document, operation.get("requestBody", {}))
    if fields:
        lines += ["", "| name | in | type | |", "|---|---|---|---|", *fields]
    answers = [_answer(status, answer) for status, answer in sorted(operation.get("responses", {}).items())]
    return "\n".join([*lines, "", "Answers: " + " · ".join(answers), ""])


def _parameter(parameter: Document) -> str:
    note = parameter.get("description", "")
    return _row(
        parameter["name"], parameter["in"], parameter.get("schema", {}), note, parameter.get("required")
    )


def _body(document: Document, body: Document) -> list[str]:
    schema = _resolve(document, _content(body).get("schema", {}))
    required = set(schema.get("required", []))
    return [
        _row(name, "body", field, field.get("description", ""), name in required)
        for name, field in schema.get("properties", {}).items()
    ]


def _content(part: Document) -> Document:
    """The first form in which a body or an answer comes; all of ours are JSON."""
    return next(iter(part.get("content", {}).values()), {})


def _resolve(document: Document, schema: Document) -> Document:
    """Follow a reference; of alternatives, the first (the others are in the OpenAPI file)."""
    while True:
        for key in ("oneOf", "anyOf", "allOf"):
            if key in schema:
                schema = schema[key][0]
                break
        else:
            if "$ref" not in schema:
                return schema
            schema = document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]


def _row(name: str, place: str, schema: Document, note: str, required: bool | None) -> str:
    kind = _kind(schema).replace("|", "\\|")
    note = " ".join(f"{'Required. ' if required else ''}{note}".split()).replace("|", "\\|")
    return f"| `{name}` | {place} | {kind} | {note} |"


def _kind(schema: Document) -> str:
    if "$ref" in schema:
        return str(schema["$ref"].rsplit("/", 1)[1])
    for key in ("oneOf", "anyOf", "allOf"):
        if key in schema:
            return " or ".join(dict.fromkeys(_kind(part) for part in schema[key]))
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    kind = schema.get("type", "any")
    if "prefixItems" in schema:
        return f"[{', '.join(_kind(part) for part in schema['prefixItems'])}]"
    if kind == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    words = " or ".join(kind) if isinstance(kind, list) else str(kind)
    return f"{words} ({schema['format']})" if "format" in schema else words


def _answer(status: str, answer: Document) -> str:
    schema = _content(answer).get("schema")
    return f"`{status}` {_kind(schema)}" if schema else f"`{status}`"
