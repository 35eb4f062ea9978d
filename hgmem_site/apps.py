"""The site itself as an app: the shell, its static files and its commands."""

from django.apps import AppConfig


class SiteConfig(AppConfig):
    """No models, no business code."""

    name = "hgmem_site"
    verbose_name = "HGMem"
