"""The part of a workspace's settings that is about paths: several policies keep their fields in it."""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

SECTION = "paths"
P = TypeVar("P", bound=msgspec.Struct)


def path_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The section as it is kept; empty where there is none, or something that is no object."""
    stored = settings.get(SECTION)
    return dict(stored) if isinstance(stored, Mapping) else {}


def readable_settings(settings: Mapping[str, Any], policy: type[P]) -> tuple[P, bool]:
    """The policy field by field, what is missing or unreadable at its default; and whether all was readable.

    Other names in the section belong to other policies.
    """
    stored = path_settings(settings)
    named = {name: stored[name] for name in policy.__struct_fields__ if name in stored}
    good = {name: value for name, value in named.items() if _is_readable({name: value}, policy)}
    is_whole = len(good) == len(named) and isinstance(settings.get(SECTION, {}), Mapping)
    return msgspec.convert(good, policy), is_whole


def changed_settings(settings: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """All settings with these fields of the section changed; what belongs to others stays."""
    return {**settings, SECTION: {**path_settings(settings), **changes}}


def _is_readable(part: dict[str, Any], policy: type[P]) -> bool:
    try:
        msgspec.convert(part, policy)
    except msgspec.ValidationError:
        return False
    return True
