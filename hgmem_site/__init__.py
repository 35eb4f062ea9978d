"""The site: settings, URLs, the Celery app and the shell. No models, no business code."""

from hgmem_site.celery import app as celery_app

__all__ = ["celery_app"]
