"""Cursor pages: newest first, stable while rows arrive, the same cost on every page."""

from rest_framework.pagination import CursorPagination


class NewestFirst(CursorPagination):
    """``?cursor=`` and ``?page_size=`` (1 to 200)."""

    ordering = "-id"
    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 200
