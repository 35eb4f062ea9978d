"""What commands print: untrusted text without anything that a terminal would obey."""

import argparse
from pathlib import Path
from typing import Any

from hgmem.api.errors import ConfigError
from hgmem.runtime.client import Client


def open_client(options: argparse.Namespace, **settings: Any) -> Client:
    """The client of a command. Raises ConfigError when there is no server to talk to."""
    key = None
    if options.key_file:
        try:
            key = Path(options.key_file).read_text().strip()
        except OSError as error:
            raise ConfigError(f"the key file cannot be read: {error}") from None
    client = Client(options.url, key, **settings)
    if not client.settings.is_on:
        raise ConfigError("set HGMEM_URL and HGMEM_KEY, or give --url and --key-file.")
    return client


def printable(text: object, width: int = 0) -> str:
    """Text on one line, control characters shown as escapes, cut to ``width`` characters (0: whole)."""
    shown = "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in str(text)
    )
    return f"{shown[: width - 1]}…" if width and len(shown) > width else shown
