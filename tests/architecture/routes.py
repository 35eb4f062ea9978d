"""Every route of the site, found by walking the resolver."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver

METHODS = ("get", "post", "put", "patch", "delete")


@dataclass(frozen=True)
class Route:
    """One route: its path with converters, its name, its view."""

    path: str
    name: str
    view: Callable[..., Any]

    @property
    def is_api(self) -> bool:
        """Below the API's root."""
        return self.path.startswith("api/")

    @property
    def is_page(self) -> bool:
        """A page of a workspace."""
        return self.path.startswith("w/<slug:slug>/")

    @property
    def view_class(self) -> Any:
        """The class behind an API view."""
        return getattr(self.view, "cls", None) or getattr(self.view, "view_class", None)

    @property
    def parts(self) -> list[str]:
        """What the path asks for, beside the workspace."""
        return [
            part.strip("<>")
            for part in self.path.split("/")
            if part.startswith("<") and "slug:slug" not in part
        ]

    def url(self, values: dict[str, str], slug: str = "acme") -> str:
        """The path with its parts filled in; KeyError for a part nobody named a value for."""
        url = self.path.replace("<slug:slug>", slug)
        for part in self.parts:
            url = url.replace(f"<{part}>", values[part])
        return f"/{url}"


def walk(resolver: URLResolver | None = None, prefix: str = "") -> Iterator[Route]:
    """All of them; the admin's are Django's own and left out."""
    for entry in (resolver or get_resolver()).url_patterns:
        path = prefix + str(entry.pattern)
        if path.startswith("admin/"):
            continue
        if isinstance(entry, URLResolver):
            yield from walk(entry, path)
        elif isinstance(entry, URLPattern):
            yield Route(path, entry.name or "", entry.callback)


ROUTES = list(walk())
API = [route for route in ROUTES if route.is_api]
PAGES = [route for route in ROUTES if route.is_page]
ELSE = [route for route in ROUTES if not route.is_api and not route.is_page]
