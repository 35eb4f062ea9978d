"""Corrections: rules, versions, receipts."""

from django.apps import AppConfig


class CorrectionsConfig(AppConfig):
    """The corrections app."""

    name = "corrections"
    verbose_name = "Corrections"
