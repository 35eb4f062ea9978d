"""Reading the bodies of the management API: what no database stores never gets past here."""

from collections.abc import Mapping
from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser

from memory.domain import intake


class StrictJSONParser(BaseParser):
    """JSON by its standard: no NaN, no NUL, no half surrogate pair, no bottomless nesting."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """The value. Answers 400 with the reason for anything else."""
        try:
            return intake.decode_value(stream.read())
        except intake.InvalidBodyError as error:
            raise ParseError(str(error)) from error
