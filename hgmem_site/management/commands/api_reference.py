"""``manage.py api_reference``: write docs/api.md from the code."""

from typing import Any

from django.conf import settings
from django.core.management import BaseCommand
from drf_spectacular.generators import SchemaGenerator

from hgmem_site.reference import write_reference


class Command(BaseCommand):
    """The page a person reads; the OpenAPI file is what tools read."""

    help = "Write docs/api.md from the code."

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the page."""
        document = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
        (settings.BASE_DIR / "docs" / "api.md").write_text(write_reference(document), encoding="utf-8")
