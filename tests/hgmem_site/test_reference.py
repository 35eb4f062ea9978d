"""The API reference and the answers to unknown addresses."""

from django.conf import settings
from django.test import Client
from drf_spectacular.generators import SchemaGenerator

from hgmem_site.reference import write_reference


def test_reference__committed_page__is_current() -> None:
    document = SchemaGenerator().get_schema(request=None, public=True)

    assert (settings.BASE_DIR / "docs" / "api.md").read_text() == write_reference(document), (
        "run make openapi"
    )


def test_unknown_address__under_the_api__answers_json() -> None:
    answer = Client().get("/api/v1/nothing-here")

    assert answer.status_code == 404
    assert answer.json() == {"code": "not_found", "detail": "There is no such address in this API."}


def test_unknown_address__for_a_person__answers_a_page(db: None) -> None:
    answer = Client().get("/nothing-here")

    assert answer.status_code == 404
    assert "There is nothing here" in answer.content.decode()
