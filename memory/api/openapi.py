"""OpenAPI from the very structs that are decoded and encoded: one description, no second to drift."""

from collections.abc import Iterator
from typing import Any

import msgspec
from drf_spectacular.extensions import OpenApiAuthenticationExtension, OpenApiSerializerExtension
from drf_spectacular.plumbing import ResolvedComponent
from drf_spectacular.utils import Direction


class StructExtension(OpenApiSerializerExtension):
    """Lets views name a ``msgspec.Struct`` as their request or response."""

    target_class = "msgspec.Struct"
    match_subclasses = True

    def get_name(self, auto_schema: Any, direction: Direction) -> str:
        """The component's name."""
        return self._struct.__name__

    def map_serializer(self, auto_schema: Any, direction: Direction) -> dict[str, Any]:
        """The struct's JSON Schema; the structs inside it become components of their own."""
        _, parts = msgspec.json.schema_components([self._struct], ref_template="#/components/schemas/{name}")
        own = parts.pop(self._struct.__name__)
        structs = {struct.__name__: struct for struct in _subclasses(msgspec.Struct)}
        for name, schema in parts.items():
            component = ResolvedComponent(
                name, ResolvedComponent.SCHEMA, _typed(schema), object=structs[name]
            )
            auto_schema.registry.register_on_missing(component)
        return dict(_typed(own))

    @property
    def _struct(self) -> type[msgspec.Struct]:
        return self.target if isinstance(self.target, type) else type(self.target)


def _typed(schema: dict[str, Any]) -> dict[str, Any]:
    """The same with the type of text enumerations said, which msgspec leaves out and spectacular reads."""
    if isinstance(schema, list):
        return [_typed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    typed = {name: _typed(item) for name, item in schema.items()}
    if "enum" in typed and "type" not in typed:
        typed["type"] = "string"
    return typed


def _subclasses(base: type[msgspec.Struct]) -> Iterator[type[msgspec.Struct]]:
    for child in base.__subclasses__():
        yield child
        yield from _subclasses(child)


class KeyScheme(OpenApiAuthenticationExtension):
    """``Authorization: Bearer hgm_...``."""

    target_class = "memory.api.authentication.KeyAuthentication"
    name = "apiKey"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """An API key, sent as a bearer token."""
        return {"type": "http", "scheme": "bearer", "bearerFormat": "hgm_..."}
