"""Integrations are tried where their framework is installed; in CI a missing one fails."""

import gc
import importlib.util
import os
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def need(*modules: str, extra: str) -> None:
    """Skip the test file, with the reason, where a framework is not installed.

    ``HGMEM_TEST_AGENTS`` lists the extras that this environment must have: one of those fails.
    """
    missing = [name for name in modules if not is_there(name)]
    if missing and extra in os.environ.get("HGMEM_TEST_AGENTS", "").split(","):
        pytest.fail(f"{', '.join(missing)} is not installed here", pytrace=False)
    if missing:
        pytest.skip(f"{', '.join(missing)} is not installed here: hgmem[{extra}]", allow_module_level=True)


def is_there(name: str) -> bool:
    """Whether a module could be imported."""
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What frameworks deprecate among themselves is their own affair."""
    for item in items:
        if HERE in item.path.parents:
            for kind in ("DeprecationWarning", "ResourceWarning", "pytest.PytestUnraisableExceptionWarning"):
                item.add_marker(pytest.mark.filterwarnings(f"ignore::{kind}"))


@pytest.fixture(autouse=True, scope="module")
def sweep_up() -> Iterator[None]:
    """What a framework left open must not be found in the tests of others."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gc.collect()
