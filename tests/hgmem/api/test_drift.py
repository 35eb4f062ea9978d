"""The library's calls and the server's OpenAPI file say the same."""

import inspect
import io
import json
from functools import cache
from pathlib import Path
from typing import Any, NotRequired, get_origin, get_type_hints
from uuid import UUID

import pytest
import yaml

from hgmem.api import calls, shapes
from hgmem.api.asynchronous import AsyncApi
from hgmem.api.calls import Request
from hgmem.api.errors import BY_STATUS
from hgmem.api.sync import Api

ROOT = Path(__file__).parents[3]
SOME = str(UUID(int=1))
MADE: dict[str, tuple[Request[Any], str, type | None]] = {
    "get_corrections": (
        calls.get_corrections({"tool": "t", "input": {}, "task": {}}, explain=True),
        "corrections_query",
        shapes.Corrections,
    ),
    "record_experience": (
        calls.record_experience({"external_id": "x"}), "record_experience", None,
    ),
    "post_receipts": (calls.post_receipts([{"token": "a.b.c"}]), "receipts_create", None),
    "locate": (
        calls.locate("g", **dict.fromkeys(("nodes", "tags", "filters", "top_k", "min_score", "env"), 1)),
        "paths_locate",
        shapes.Located,
    ),
    "judge_task": (
        calls.judge_task(SOME, {"result": "success", "reward": 1, "by": "human", "note": "n"}),
        "judge_task",
        None,
    ),
    "whoami": (calls.whoami(), "me_retrieve", shapes.Me),
    "get_path": (calls.get_path(SOME), "paths_retrieve", None),
    "get_path_prompt": (calls.get_path_prompt(SOME, 100), "paths_prompt_retrieve", shapes.PathPrompt),
    "list_paths": (calls.list_paths(tag="t", q="x"), "paths_list", shapes.Page),
    "get_rule": (calls.get_rule(SOME), "rules_retrieve", None),
    "list_rules": (calls.list_rules(page_size=5, tool="t", status="active"), "rules_list", shapes.Page),
    "get_experience": (calls.get_experience(SOME, 3), "experiences_retrieve", None),
    "list_experiences": (calls.list_experiences(agent="a", page_size=5), "experiences_list", shapes.Page),
    "upload_import": (calls.upload_import(io.BytesIO(), "a", "runs"), "imports_create", None),
    "get_import": (calls.get_import(SOME), "imports_retrieve", None),
    "apply_import": (calls.apply_import(SOME), "imports_apply_create", None),
    "get_ruleset": (calls.get_ruleset('"1"'), "ruleset_retrieve", None),
}  # fmt: skip
CALLS = [pytest.param(*made, id=name) for name, made in MADE.items()]


@cache
def document() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "docs/openapi.yaml").read_text())
    return found


@cache
def operation(operation_id: str) -> tuple[str, str, dict[str, Any]]:
    for path, methods in document()["paths"].items():
        for method, found in methods.items():
            if isinstance(found, dict) and found.get("operationId") == operation_id:
                return path, method.upper(), found
    raise LookupError(operation_id)


def schema(reference: Any) -> dict[str, Any]:
    if "$ref" in reference:
        return dict(document()["components"]["schemas"][reference["$ref"].rpartition("/")[2]])
    return dict(reference)


@pytest.mark.parametrize(("request_", "operation_id", "shape"), CALLS)
def test_call__path_method_and_parameters__are_the_servers(
    request_: Request[Any], operation_id: str, shape: type | None
) -> None:
    path, method, found = operation(operation_id)
    assert request_.path == path.replace("{uuid}", SOME)
    assert request_.method == method
    known = {item["name"] for item in found.get("parameters", ()) if item["in"] == "query"}
    assert request_.params.keys() <= known


@pytest.mark.parametrize(
    ("request_", "operation_id", "shape"), [case for case in CALLS if isinstance(case.values[0].body, bytes)]
)
def test_call__body__has_only_fields_that_the_server_reads(
    request_: Request[Any], operation_id: str, shape: type | None
) -> None:
    content = operation(operation_id)[2].get("requestBody", {}).get("content", {})
    if "application/json" not in content:
        assert json.loads(request_.body) == {}
        return
    accepted = schema(content["application/json"]["schema"])
    kinds = [schema(kind) for kind in accepted.get("oneOf", ())] or [accepted]
    sent = json.loads(request_.body)
    fitting = [kind for kind in kinds if sent.keys() <= kind["properties"].keys()]
    assert fitting
    assert any(set(kind.get("required", ())) <= sent.keys() for kind in fitting)


@pytest.mark.parametrize(
    ("request_", "operation_id", "shape"), [case for case in CALLS if case.values[2] is not None]
)
def test_answer__every_field__is_known_on_both_sides(
    request_: Request[Any], operation_id: str, shape: type
) -> None:
    answered = schema(operation(operation_id)[2]["responses"]["200"]["content"]["application/json"]["schema"])
    hints = get_type_hints(shape, include_extras=True)
    optional = {name for name, kind in hints.items() if get_origin(kind) is NotRequired}
    said = set(answered["properties"])
    if shape is shapes.Page:
        said -= {"stopped_early"}  # paths alone; a page is a page
    undocumented = {"point", "matched", "error"} if shape is shapes.Corrections else set()
    assert set(hints) - undocumented == said
    assert (
        set(answered.get("required", ())) - {"stopped_early"} >= set(hints) - optional or shape is shapes.Page
    )


def test_calls__every_one__is_a_method_of_both_clients() -> None:
    for name in MADE:
        maker, sync, awaited = getattr(calls, name), getattr(Api, name), getattr(AsyncApi, name)
        assert inspect.iscoroutinefunction(awaited)
        assert not inspect.iscoroutinefunction(sync)
        parameters = [list(inspect.signature(method).parameters)[1:] for method in (sync, awaited)]
        assert parameters[0] == parameters[1] == list(inspect.signature(maker).parameters)
    public = {name for name, value in vars(Api).items() if inspect.isfunction(value) and name[0] != "_"}
    assert public - {"send", "close"} == set(MADE)


def test_errors__every_status_of_the_file__has_a_class() -> None:
    named = {
        int(status)
        for methods in document()["paths"].values()
        for found in methods.values()
        for status in found["responses"]
        if status.isdigit() and 400 <= int(status) < 500
    }
    assert named - {415, 428} <= set(BY_STATUS)
