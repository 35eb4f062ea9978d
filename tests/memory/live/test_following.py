"""Many threads and processes: each follows what the others write, and nobody misses anything."""

import sys
import threading
from pathlib import Path as File

import pytest
from django.db import connection, transaction

from memory.models import Path
from tests.builders import make_path
from tests.conftest import Cast
from tests.memory.live.vectors import Matrix, make_placed, make_vectors, near, place
from tests.servers import Process, database_environment, wait_until

pytestmark = pytest.mark.django_db(transaction=True)

WRITER = """
import sys, django
django.setup()
from tests.memory.live.vectors import make_placed, make_vectors
from memory.models import Workspace
workspace = Workspace.objects.get(slug="acme")
print("ready", flush=True)
for at, vector in enumerate(make_vectors(int(sys.argv[1]), seed=9)):
    make_placed(workspace, vector, key=f"path:child-{at}")
print("done", flush=True)
"""
WATCHER = """
import sys, time, django
django.setup()
from tests.memory.live.vectors import make_vectors, near
from memory.models import Workspace
workspace = Workspace.objects.get(slug="acme")
vector = make_vectors(1)[0]
seen = -1
while seen < int(sys.argv[1]):
    found = len(near(workspace, vector, limit=1000))
    if found != seen:
        seen = found
        print(f"sees {seen}", flush=True)
    time.sleep(0.02)
"""


def start(script: str, var: File, *arguments: str) -> Process:
    """A process of its own on the test's database."""
    environment = database_environment(var) | {"DJANGO_SETTINGS_MODULE": "hgmem_site.settings"}
    return Process([sys.executable, "-c", script, *arguments], var / f"{len(script)}.log", **environment)


def test_find_near__written_by_another_process__found(cast: Cast, tmp_path: File) -> None:
    vectors = make_vectors(20, seed=9)
    assert near(cast.workspace, vectors[0]) == {}

    child = start(WRITER, tmp_path, "20")
    try:
        wait_until(lambda: len(near(cast.workspace, vectors[0], limit=100)) == 20, process=child)
    finally:
        child.kill()

    last = Path.objects.get(lineage__key="path:child-19")
    assert (
        max(near(cast.workspace, vectors[19], limit=100).values(), key=lambda one: one.goal_cosine).path_id
        == last.pk
    )


def test_find_near__another_process_reads__sees_what_is_written_here(cast: Cast, tmp_path: File) -> None:
    vectors = make_vectors(3)
    child = start(WATCHER, tmp_path, "2")
    try:
        wait_until(lambda: "sees 0" in child.output, process=child)
        first = make_placed(cast.workspace, vectors[0])
        wait_until(lambda: "sees 1" in child.output, process=child)
        make_placed(cast.workspace, vectors[1])
        wait_until(lambda: "sees 2" in child.output)
    finally:
        child.kill()
    assert first.pk in near(cast.workspace, vectors[0])


def test_find_near__threads_write_and_read__no_error_and_nothing_missed(cast: Cast) -> None:
    writers, each = 3, 8
    vectors = make_vectors(writers * each)
    errors: list[BaseException] = []
    is_over = threading.Event()

    def run(work: object, *arguments: object) -> None:
        try:
            work(*arguments)  # type: ignore[operator]
        except BaseException as error:
            errors.append(error)
        finally:
            connection.close()

    def write(rows: Matrix) -> None:
        for vector in rows:
            path = make_placed(cast.workspace, vector)
            assert near(cast.workspace, vector)[path.pk].goal_cosine == pytest.approx(1.0, abs=2e-3)
            place(path, -vector)
            place(path, vector)

    def read() -> None:
        known = 0
        while not is_over.is_set():
            found = len(near(cast.workspace, vectors[0], limit=1000))
            assert found >= known
            known = found

    readers = [threading.Thread(target=run, args=(read,)) for _ in range(2)]
    working = [
        threading.Thread(target=run, args=(write, vectors[at * each : (at + 1) * each]))
        for at in range(writers)
    ]
    for thread in readers + working:
        thread.start()
    for thread in working:
        thread.join()
    is_over.set()
    for thread in readers:
        thread.join()

    assert errors == []
    assert len(near(cast.workspace, vectors[0], limit=1000)) == writers * each


def test_find_near__write_rolled_back__next_write_is_still_followed(cast: Cast) -> None:
    vectors = make_vectors(2)
    kept = make_placed(cast.workspace, vectors[0])
    assert kept.pk in near(cast.workspace, vectors[0])
    with transaction.atomic():
        place(make_path(cast.workspace), vectors[1])
        transaction.set_rollback(True)
    later = make_placed(cast.workspace, vectors[1])

    assert near(cast.workspace, vectors[1]).keys() == {kept.pk, later.pk}
