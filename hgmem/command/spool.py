"""``hgmem spool``: what waits to be delivered on this machine, and what the server refused."""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hgmem.command.terminal import open_client, printable
from hgmem.runtime.client import Client


def add_to(commands: Any) -> None:
    """Register the command."""
    parser = commands.add_parser("spool", help="what waits to be delivered, and what the server refused")
    parser.add_argument(
        "action", nargs="?", choices=("show", "deliver", "refused", "retry", "drop"), default="show",
        help="show it, deliver now, list refused ones, send them again, or drop them",
    )  # fmt: skip
    parser.add_argument(
        "--from-key", metavar="PREFIX",
        help="with deliver: also what waits for the key of this server that begins with these 12 characters",
    )  # fmt: skip
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Do one of the actions; 1 when something still waits after a delivery."""
    with open_client(options) as client:
        home = client.settings.folder
        if options.action == "refused":
            for row in _refused(home):
                print(printable(f"{row['kind']}: {json.dumps(row['reason'], ensure_ascii=False)}", 300))
        elif options.action == "drop":
            _drop(home)
        elif options.action == "show":
            _show(client.settings.home, home)
        else:
            return _deliver(client, options)
    return 0


def _deliver(client: Client, options: argparse.Namespace) -> int:
    if options.action == "retry":
        _retry(client)
    client.recorder.adopt()
    if options.from_key:
        other = client.settings.home / client.settings.destination(options.from_key)
        taken = client.recorder.adopt(other) if (other / "spool").is_dir() else 0
        print(f"{taken} files of {printable(options.from_key, 40)} are taken over")
    done = client.flush(30.0)
    print("all is delivered" if done else f"some waits: {client.stats().last_error}")
    return int(not done)


def _retry(client: Client) -> None:
    """Record it again; it is given up here only when all of it is safe there."""
    keep = {"experience": client.recorder.record, "receipt": client.recorder.note}
    if all(keep[row["kind"]](row["item"]) for row in _refused(client.settings.folder)):
        _drop(client.settings.folder)


def _show(whole: Path, home: Path) -> None:
    mine = _waiting(home)
    print(f"{mine:,} bytes wait in {home / 'spool'}; refused: {sum(1 for _ in _refused(home))}")
    others = sum(path.stat().st_size for path in whole.glob("*/spool/*/*.log")) - mine
    if others > 0:
        print(f"{others:,} bytes wait for other servers or keys; after a change of keys: deliver --from-key")


def _waiting(home: Path) -> int:
    return sum(path.stat().st_size for path in (home / "spool").glob("*/*.log"))


def _refused(home: Path) -> Iterator[dict[str, Any]]:
    for name in ("refused.old.jsonl", "refused.jsonl"):
        path = home / "refused" / name
        if path.exists():
            for line in path.read_text(encoding="utf-8", errors="surrogateescape").splitlines():
                try:
                    yield json.loads(line)
                except ValueError:  # cut off by a full disk
                    continue


def _drop(home: Path) -> None:
    for name in ("refused.old.jsonl", "refused.jsonl"):
        (home / "refused" / name).unlink(missing_ok=True)
