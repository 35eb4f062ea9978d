"""Several people, workers or agents at the same moment."""

import threading
from collections.abc import Callable
from typing import Any

from django.db import connection


def at_once(*works: Callable[[], Any]) -> list[Any]:
    """Run them in threads that start together; their results or exceptions."""
    barrier = threading.Barrier(len(works))
    results: list[Any] = [None] * len(works)

    def run(index: int, work: Callable[[], Any]) -> None:
        barrier.wait()
        try:
            results[index] = work()
        except Exception as error:
            results[index] = error
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results
