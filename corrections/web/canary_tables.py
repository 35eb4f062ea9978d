"""What a canary gathered, to take home: looks, stages and exposed tasks as CSV."""

from dataclasses import asdict, fields
from typing import Any
from uuid import UUID

from django.http import StreamingHttpResponse
from django.views.decorators.http import require_GET

from corrections.domain.canary_counts import ArmNumbers
from corrections.domain.canary_figures import read_arm, read_seen
from corrections.models import CanaryLook, CanaryStage
from corrections.queries import canary_pages as queries
from corrections.web.canaries import canary_of
from memory.web.access import PageRequest, workspace_page
from memory.web.tables import csv_answer

COUNTED = [field.name for field in fields(ArmNumbers)]
STAGE_ARMS = ("canary", "control", "shadow")
STAGE_HEADER = [
    "stage", "phase", "share_of_10000", "begun_at", "ended_at",
    *(f"{arm}_{name}" for arm in STAGE_ARMS for name in COUNTED),
]  # fmt: skip
LOOK_HEADER = [
    "at", "decided", "harm_log_e", "benefit_log_e", "guard_log_e", "uplift_estimate", "uplift_lower",
    "uplift_upper", "mismatch_p",
]  # fmt: skip


@require_GET
@workspace_page("look")
def canary_looks_csv(request: PageRequest, uuid: UUID) -> StreamingHttpResponse:
    """Every look that is kept. E-values as natural logarithms."""
    row = canary_of(request, uuid)
    return csv_answer(f"looks-{uuid}.csv", LOOK_HEADER, map(_look_cells, queries.all_looks(row)))


@require_GET
@workspace_page("look")
def canary_stages_csv(request: PageRequest, uuid: UUID) -> StreamingHttpResponse:
    """Every stage with each arm's counts."""
    row = canary_of(request, uuid)
    return csv_answer(f"stages-{uuid}.csv", STAGE_HEADER, map(_stage_cells, queries.stages_of_all_time(row)))


@require_GET
@workspace_page("look")
def canary_exposures_csv(request: PageRequest, uuid: UUID) -> StreamingHttpResponse:
    """Every exposed task."""
    row = canary_of(request, uuid)
    return csv_answer(f"exposures-{uuid}.csv", list(queries.EXPOSURE_COLUMNS), queries.all_exposures(row))


def _stage_cells(stage: CanaryStage) -> list[Any]:
    cells: list[Any] = [stage.number, stage.phase, stage.share, stage.begun_at, stage.ended_at]
    for name in STAGE_ARMS:
        cells += asdict(read_arm(name, stage.counts).numbers).values()
    return cells


def _look_cells(look: CanaryLook) -> list[Any]:
    seen = read_seen(look.numbers)
    uplift = seen.uplift if isinstance(seen.uplift, dict) else {}
    bounds = [uplift.get(name) for name in ("estimate", "lower", "upper")]
    return [
        look.at,
        look.numbers.get("decided"),
        seen.harm,
        seen.benefit,
        seen.guard,
        *bounds,
        seen.mismatch_p,
    ]
