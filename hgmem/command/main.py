"""``hgmem``: what there is to say on a terminal, and the errors of all commands."""

import argparse
import sys
from collections.abc import Sequence
from typing import Final

from hgmem import __version__
from hgmem.api.errors import HGMemError
from hgmem.command import doctor, importing, mcp, spool, tail

COMMANDS: Final = (doctor, tail, importing, spool, mcp)


def build_parser() -> argparse.ArgumentParser:
    """Every command with its options."""
    parser = argparse.ArgumentParser(
        prog="hgmem", description="Look after an agent's connection to HGMem.",
        epilog="HGMEM_URL and HGMEM_KEY say where the server is and who you are.",
    )  # fmt: skip
    parser.add_argument("--version", action="version", version=f"hgmem {__version__}")
    parser.add_argument("--url", help="the server's address (default: HGMEM_URL)")
    parser.add_argument("--key-file", help="a file with the API key (default: HGMEM_KEY)")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for module in COMMANDS:
        module.add_to(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; its exit code: 0 for all is well, 1 for what went wrong, 2 for a wrong call."""
    parser = build_parser()
    options = parser.parse_args(arguments)
    try:
        return int(options.run(options))
    except HGMemError as error:
        print(f"hgmem: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader of a pipe went away
        sys.stderr.close()
        return 1
