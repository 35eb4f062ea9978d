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
            return 0
        if options.action == "drop":
            return _drop(home)
        if options.action == "retry":
            rows = list(_refused(home))
            for row in rows:
                kept = client.recorder.record if row["kind"] == "experience" else client.recorder.note
                kept(row["item"])
            _drop(home)
        if options.action in ("deliver", "retry"):
            client.recorder.adopt()
            if options.from_key:
                _take_over(client, options.from_key)
            done = client.flush(30.0)
            print("all is delivered" if done else f"some waits: {client.stats().last_error}")
            return int(not done)
        print(f"{_waiting(home):,} bytes wait in {home / 'spool'}; refused: {sum(1 for _ in _refused(home))}")
        others = sum(_waiting(other) for other in client.settings.home.iterdir() if other != home)
        if others:
            print(f"{others:,} bytes wait for other servers or keys; after a change of keys: --from-key")
    return 0


def _take_over(client: Client, key_prefix: str) -> None:
    other = client.settings.home / client.settings.destination(key_prefix)
    taken = client.recorder.adopt(other) if (other / "spool").is_dir() else 0
    print(f"{taken} files of {printable(key_prefix, 40)} are taken over")


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


def _drop(home: Path) -> int:
    for name in ("refused.old.jsonl", "refused.jsonl"):
        (home / "refused" / name).unlink(missing_ok=True)
    return 0
