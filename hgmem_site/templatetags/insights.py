"""Filters of the insights pages: many numbers on one page, so they are cheap."""

from django import template

register = template.Library()


@register.filter
def grouped(count: int) -> str:
    """``1234567`` as ``1,234,567``, in every language alike."""
    return f"{count:,}"
