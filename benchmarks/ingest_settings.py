"""The product's settings with the peer's route."""

from hgmem_site.settings import *  # noqa: F403

ROOT_URLCONF = "benchmarks.ingest_peer"
