"""Cursor pages: newest first, stable while rows arrive, the same cost on every page."""

from rest_framework.exceptions import NotFound
from rest_framework.pagination import Cursor, CursorPagination
from rest_framework.request import Request


class NewestFirst(CursorPagination):
    """``?cursor=`` and ``?page_size=`` (1 to 200)."""

    ordering = "-id"
    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 200

    def decode_cursor(self, request: Request) -> Cursor | None:
        """The cursor. A position that is no id was not made here: 404."""
        cursor = super().decode_cursor(request)
        if cursor is not None and cursor.position is not None and not cursor.position.isdecimal():
            raise NotFound(self.invalid_cursor_message)
        return cursor
