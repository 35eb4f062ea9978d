"""A real worker, really killed in the middle of a scan: another one finishes it, nothing doubled."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from corrections.actions.scanning import scan_everything
from corrections.background import scanning
from corrections.models import Conflict, ConflictScan
from memory.models import Workspace
from memory.permissions import SYSTEM
from tests.corrections.builders import make_rule
from tests.servers import start_celery, start_worker, wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.worker]
RULES = 40


def test_scan__its_worker_is_killed__another_one_finishes_it(workspace: Workspace, tmp_path: Path) -> None:
    for number in range(RULES):
        make_rule(workspace, name=f"r{number}", condition=f"input.n > {number} && input.city == null",
                  action_detail={"op": "set", "field": "city", "value": f"c{number}"})  # fmt: skip
    ConflictScan.objects.all().delete()
    scan = scan_everything(workspace_id=workspace.pk, by=SYSTEM)

    def done() -> int:
        scan.refresh_from_db()
        return int(scan.done)

    with start_celery("beat", var=tmp_path):
        with start_worker(var=tmp_path) as first:
            wait_until(lambda: ConflictScan.objects.filter(status="running").exists(), process=first)
            first.kill()
        over = timezone.now() - timedelta(seconds=scanning.LEASE_S + 1)
        ConflictScan.objects.filter(claimed_at__isnull=False).update(claimed_at=over)
        with start_worker(var=tmp_path) as second:
            wait_until(lambda: done() == scan.total > 0 and scan.status == "done", process=second)

    assert scan.total == RULES * (RULES + 1) // 2
    pairs = list(Conflict.objects.values_list("rule_a", "rule_b", "kind", "field"))
    assert len(pairs) == len(set(pairs)) >= RULES - 1
