"""A tracer provider for one test, where OpenTelemetry's SDK is installed."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import pytest

sdk = pytest.importorskip("opentelemetry.sdk.trace")


@contextmanager
def tracing_to(processor: Any) -> Iterator[Any]:
    """Yields a provider that everybody gets for the block, and that hands spans to the processor."""
    provider = sdk.TracerProvider()
    provider.add_span_processor(processor)
    with patch("opentelemetry.trace.get_tracer_provider", return_value=provider):
        yield provider
    provider.shutdown()
