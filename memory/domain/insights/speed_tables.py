"""Speed and retries as rows of numbers: what the API answers and a CSV holds."""

from collections.abc import Iterable
from typing import Any

from memory.domain.insights.fastest import Answer, Way
from memory.domain.insights.histograms import Quantile
from memory.domain.insights.latency import Latency
from memory.domain.insights.retrying import RetryCost

SPEED_HEADER = (
    "name", "calls", "failed", "failure_rate", "timed", "p50_ms", "p50_low_ms", "p50_high_ms", "p95_ms",
    "p95_low_ms", "p95_high_ms", "mean_ms",
)  # fmt: skip
RETRY_HEADER = (
    "name", "calls", "failures", "retries", "retry_ms", "share_of_calls", "share_of_time", "recovered",
    "given_up",
)  # fmt: skip


def speed_rows(found: Iterable[Latency]) -> list[tuple[Any, ...]]:
    """Under ``SPEED_HEADER``; a quantile that is not known is empty."""
    return [
        (
            item.name, item.n, item.failed.hits, _share(item.failed.value) if item.n else None, item.timed,
            *_numbers(item.p50), *_numbers(item.p95), _ms(item.mean_ms),
        )
        for item in found
    ]  # fmt: skip


def _numbers(found: Quantile) -> tuple[float | None, ...]:
    return (_ms(found.value), _ms(found.low), _ms(found.high)) if found.is_known else (None, None, None)


def retry_rows(found: Iterable[RetryCost]) -> list[tuple[Any, ...]]:
    """Under ``RETRY_HEADER``; a share without calls is empty."""
    return [
        (
            item.name, item.cost.calls, item.cost.failures, item.cost.retries, _ms(item.cost.retry_ms),
            _share(item.call_share.value) if item.call_share.n else None, _share(item.time_share),
            item.cost.recovered, item.cost.given_up,
        )
        for item in found
    ]  # fmt: skip


def speed_json(item: Latency) -> dict[str, Any]:
    """One line of the API. A quantile that is not known is null: not enough data."""
    return {
        "name": item.name,
        "calls": item.n,
        "timed": item.timed,
        "failed": item.failed.hits,
        "failure_rate": _share(item.failed.value) if item.failed.is_known else None,
        "p50": _quantile_json(item.p50),
        "p95": _quantile_json(item.p95),
        "mean_ms": _ms(item.mean_ms),
    }


def _quantile_json(found: Quantile) -> dict[str, Any] | None:
    if not found.is_known:
        return None
    return {"ms": _ms(found.value), "low_ms": _ms(found.low), "high_ms": _ms(found.high)}


def retry_json(item: RetryCost) -> dict[str, Any]:
    """One line of the API."""
    cost = item.cost
    return {
        "name": item.name,
        "failures": cost.failures,
        "retries": cost.retries,
        "retry_ms": _ms(cost.retry_ms),
        "share_of_calls": _share(item.call_share.value) if item.call_share.is_known else None,
        "share_of_time": _share(item.time_share),
        "recovered": cost.recovered,
        "given_up": cost.given_up,
    }


def answer_json(answer: Answer) -> dict[str, Any]:
    """The fastest ways, as a planner gets them."""
    return {
        "enough_data": answer.is_known,
        "asked": answer.asked.said(),
        "used": answer.used.said(),
        "widened": list(answer.widened),
        "ways": [_way_json(way) for way in answer.ways],
    }


def _way_json(way: Way) -> dict[str, Any]:
    return {
        "way": way.way,
        "steps": list(way.steps),
        "n": way.n,
        "succeeded": way.succeeded,
        "success_rate": _share(way.rate.value),
        "success_low": _share(way.rate.low),
        "success_high": _share(way.rate.high),
        "mean_ms": _ms(way.mean_ms),
        "expected_ms": _ms(way.expected_ms),
        "expected_low_ms": _ms(way.low_ms),
        "expected_high_ms": _ms(way.high_ms),
        "enough_data": way.is_known,
    }


def _ms(value: float | None) -> float | None:
    return None if value is None else round(value, 2)


def _share(value: float | None) -> float | None:
    return None if value is None else round(value, 6)
