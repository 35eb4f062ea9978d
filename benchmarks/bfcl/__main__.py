"""``python -m benchmarks.bfcl``: how many variants fail, with how many errors of how many patterns."""

import argparse
import json
import re
import time
from pathlib import Path

from benchmarks.bfcl import load_tasks, play, variants

LITERALS = re.compile(r"'[^']*'|\d+")


def count() -> dict[str, int | float]:
    """Play every variant once. Seconds are wall time of one process."""
    started = time.perf_counter()
    runs = [play(variant) for variant in variants(load_tasks())]
    errors = [call for run in runs for call in run.errors]
    return {
        "tasks": len(load_tasks()),
        "variants": len(runs),
        "failing": sum(bool(run.errors) for run in runs),
        "errors": len(errors),
        "patterns": len({(call.tool, LITERALS.sub("<>", call.error or "")) for call in errors}),
        "reach_gold": sum(run.reaches_gold for run in runs),
        "seconds": round(time.perf_counter() - started, 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", metavar="FILE", help="write the figures to FILE")
    arguments = parser.parse_args()
    figures = count()
    for name, value in figures.items():
        print(f"{name:>12}  {value}")
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
