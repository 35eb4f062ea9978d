"""The site: settings, URLs, the Celery app and the shell. No models, no business code."""

import os

# Before anything imports numpy. With several threads OpenBLAS lays half a megabyte on the stack of the asking
# thread for each step of a factorisation; a server's thread has two: it was overrun, past the guard page, and
# the process died. One thread is steadier for questions that come side by side anyway.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from hgmem_site.celery import app as celery_app

__all__ = ["celery_app"]
