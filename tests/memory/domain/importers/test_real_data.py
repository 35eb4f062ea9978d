"""The evaluation's own streams, where they are present."""

import os
from pathlib import Path

import msgspec
import pytest

from memory.domain.experience import ExperienceDoc
from memory.domain.importers import HEAD_BYTES, LineError, detect_format, read, summarise

CHECKOUT = Path(__file__).parents[4]
DATA = Path(os.environ.get("HGMEM_DATA") or CHECKOUT.parent / "shared" / "data")


def pieces_of(path):
    with path.open("rb") as file:
        while piece := file.read(HEAD_BYTES):
            yield piece


@pytest.mark.parametrize(
    ("name", "figures"),
    [
        pytest.param("tau_airline", (200, 1164, 73), id="tau_airline"),
        pytest.param("sql_gpt4_devdbs", (573, 3185, 868), id="sql_gpt4_devdbs"),
    ],
)
def test_read__evaluation_stream__has_its_published_counts(name, figures):
    path = DATA / f"{name}.jsonl.gz"
    if not path.exists():
        pytest.skip(f"{path.name} is not here (HGMEM_DATA names its folder)")

    items = list(read("runs", pieces_of(path), source=name))

    assert detect_format(next(pieces_of(path))) == "runs"
    assert not [item for item in items if isinstance(item, LineError)]
    for item in items:
        msgspec.convert(item.document, ExperienceDoc)
    plan = summarise(items)
    assert (plan.runs, plan.calls, plan.errors) == figures
    assert plan.notes == ()
