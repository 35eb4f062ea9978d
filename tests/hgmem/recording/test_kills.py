"""Recording and a real server, both killed while they are busy."""

from pathlib import Path

import pytest

from benchmarks.spool_kills import kill_again_and_again
from memory.models import ToolCall
from tests.conftest import Cast, make_key
from tests.servers import free_port, start_web


@pytest.mark.django_db(transaction=True)
def test_record__agents_and_server_are_killed__each_call_is_there_once(cast: Cast, tmp_path: Path) -> None:
    port = free_port()
    acknowledged = kill_again_and_again(
        lambda: start_web(var=tmp_path, port=port), make_key(cast.workspace), tmp_path, lives=1
    )
    stored = list(ToolCall.objects.values_list("task__external_id", "seq", "input"))
    assert len(acknowledged) > 50
    assert acknowledged <= {(task, seq) for task, seq, _ in stored}
    assert len({(task.rsplit("-", 1)[0], given["n"]) for task, _, given in stored}) == len(stored)
