"""The API keeps what its OpenAPI file promises, whatever is sent."""

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
import yaml
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance

from hgmem_site.wsgi import application
from memory.domain.access import Scope
from tests.architecture.tree import ROOT
from tests.conftest import Cast, make_key


def promised() -> dict[str, Any]:
    """The file without its security scheme (the test sends a key itself) and without binary bodies."""
    document = yaml.safe_load((ROOT / "docs/openapi.yaml").read_text(encoding="utf-8"))
    for operations in document["paths"].values():
        for operation in operations.values():
            operation.pop("security", None)
            operation.get("requestBody", {}).get("content", {}).pop("application/x-protobuf", None)
    return document


SCHEMA = schemathesis.openapi.from_dict(promised())
SCHEMA.app = application


@pytest.fixture
def secret(cast: Cast) -> Iterator[str]:
    """A key that may do everything."""
    for signal in (request_started, request_finished):  # or each request closes the test's connection
        signal.disconnect(close_old_connections)
    yield make_key(cast.workspace, Scope.ADMIN, name="conformance")
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@SCHEMA.parametrize()
@settings(
    max_examples=3,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_api__any_request__gets_an_answer_the_file_describes(case: Any, secret: str) -> None:
    case.call_and_validate(
        headers={"Authorization": f"Bearer {secret}", "Accept-Encoding": "identity"},
        checks=[not_a_server_error, status_code_conformance, response_schema_conformance],
    )
