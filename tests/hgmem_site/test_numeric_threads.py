"""A thread of the web server is small: the linear algebra of a ranking must fit into what is left of it."""

import subprocess
import sys

import pytest

from tests.architecture.tree import ROOT

STACK_BYTES = 1024 * 1024
"""Half of what the web server gives a thread: the rest is for the frameworks in front."""

RANKING = f"""
import hgmem_site  # as in every process of the product
import threading
import numpy as np
from memory.domain.locating.prediction import Likeness, predict

def judge():
    rows = np.random.default_rng(7).random((300, 300), dtype=np.float32)
    near = rows @ rows.T / 100
    print(len(predict(Likeness(near, near[0], near)).agreement))

threading.stack_size({STACK_BYTES})
thread = threading.Thread(target=judge)
thread.start()
thread.join()
"""


def test_predict__in_a_small_thread__is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(
        "OPENBLAS_NUM_THREADS", raising=False
    )  # set by the product itself, in this process too

    command = [sys.executable, "-c", RANKING]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert (ended.returncode, ended.stdout.strip()) == (0, "300"), ended.stderr
