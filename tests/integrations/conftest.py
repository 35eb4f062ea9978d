"""Integrations are tried where their framework is installed; in CI a missing one fails."""

import importlib.util
import os
from types import ModuleType

import pytest


def need(*modules: str, extra: str) -> None:
    """Skip the test file with the reason when a framework is not installed here."""
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} is not installed here: hgmem[{extra}]", allow_module_level=True)


__all__ = ["ModuleType", "need", "os"]
