"""``hgmem import``: recorded runs in any format that the server reads."""

import argparse
import sys
import time
from pathlib import Path
from typing import Any

from hgmem.api.errors import ConfigError
from hgmem.api.sync import Api
from hgmem.command.terminal import open_client, printable

POLL_S = 0.5
MAX_PROBLEMS = 10


def add_to(commands: Any) -> None:
    """Register the command."""
    parser = commands.add_parser("import", help="import recorded runs: first the plan, then the runs")
    parser.add_argument("files", nargs="+", metavar="FILE", help="a file of runs; gzip is fine")
    parser.add_argument("--format", default="", help="the format (default: told from the file)")
    parser.add_argument("--yes", action="store_true", help="apply the plan without asking")
    parser.add_argument("--plan", action="store_true", help="only show what would happen")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Import one file after the other; 1 when one could not be."""
    missing = [name for name in options.files if not Path(name).is_file()]
    if missing:
        raise ConfigError(f"there is no file {missing[0]}.")
    with open_client(options) as client:
        done = [_import(client.api, Path(name), options) for name in options.files]
    return int(not all(done))


def _import(api: Api, path: Path, options: argparse.Namespace) -> bool:
    with path.open("rb") as file:
        job = api.upload_import(file, path.name, options.format)
    print(f"{path.name}: {_told(job['plan'])} ({job['format']})")
    for problem in (job.get("problems") or [])[:MAX_PROBLEMS]:
        print(f"  {printable(problem, 200)}")
    if options.plan:
        return True
    if not options.yes and not _agreed(path):
        print("  not imported")
        return True
    return _apply(api, job["uuid"])


def _apply(api: Api, uuid: str) -> bool:
    job = api.apply_import(uuid)
    while job["status"] not in ("done", "failed", "cancelled"):
        if sys.stdout.isatty():
            print(f"\r  {job['cursor']:,} of {job['total']:,}", end="", flush=True)
        time.sleep(POLL_S)
        job = api.get_import(uuid)
    print(f"\r  {job['status']}: {_told(job['result'])}")
    return bool(job["status"] == "done")


def _agreed(path: Path) -> bool:
    if not sys.stdin.isatty():
        raise ConfigError("nobody can be asked here: add --yes to import, or --plan to look.")
    return input(f"  Import {path.name}? [y/N] ").strip().lower() in ("y", "yes")


def _told(counts: Any) -> str:
    if not isinstance(counts, dict):
        return printable(counts)
    shown = (
        f"{name.replace('_', ' ')} {value}"
        for name, value in counts.items()
        if not isinstance(value, dict | list)
    )
    return printable(", ".join(shown), 300) or "nothing"
