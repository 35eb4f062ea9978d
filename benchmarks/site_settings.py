"""The product's settings with one more route: the empty view that is the floor."""

from hgmem_site.settings import *  # noqa: F403

ROOT_URLCONF = "benchmarks.site_urls"
