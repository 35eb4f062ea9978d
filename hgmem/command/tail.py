"""``hgmem tail``: recorded tasks and their calls as they arrive."""

import argparse
import json
import time
from collections.abc import Iterator
from typing import Any

from hgmem.api.sync import Api
from hgmem.command.terminal import open_client, printable

MARKS = {"ok": " ", "error": "x", "timeout": "x", "rejected": "!", "cancelled": "-", "unknown": "?"}
MAX_SEEN = 10_000


def add_to(commands: Any) -> None:
    """Register the command."""
    parser = commands.add_parser("tail", help="follow what agents do, call by call")
    parser.add_argument("--agent", help="only tasks of this agent")
    parser.add_argument("--tool", help="only calls of this tool")
    parser.add_argument("--failures", action="store_true", help="only calls that did not work")
    parser.add_argument("--tasks", type=int, default=5, help="tasks to begin with (default: 5)")
    parser.add_argument("--interval", type=float, default=1.0, help="seconds between looks (default: 1)")
    parser.add_argument("--once", action="store_true", help="show what is there and end")
    parser.add_argument("--json", action="store_true", help="print a JSON object a call")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Follow until interrupted."""
    with open_client(options) as client:
        follower = Follower(client.api, options)
        while True:
            for line in follower.look():
                print(line, flush=True)
            if options.once:
                return 0
            time.sleep(max(options.interval, 0.2))


class Follower:
    """Shows each call once, by its task and its place in it."""

    def __init__(self, api: Api, options: argparse.Namespace) -> None:
        self._api = api
        self._options = options
        self._seen: dict[str, tuple[int, int]] = {}

    def look(self) -> Iterator[str]:
        """The lines of calls that are new since the last look, oldest task first."""
        page = self._api.list_experiences(
            agent=self._options.agent, tool=self._options.tool, page_size=max(1, min(self._options.tasks, 50))
        )
        for task in reversed(page["results"]):
            last, count = self._seen.get(task["uuid"], (-1, 0))
            if task["call_count"] != count:
                calls = self._new_calls(task["uuid"], last)
                self._seen[task["uuid"]] = (max([last, *(call["seq"] for call in calls)]), task["call_count"])
                yield from (self._line(task, call) for call in calls if self._wanted(call))
        while len(self._seen) > MAX_SEEN:
            self._seen.pop(next(iter(self._seen)))

    def _new_calls(self, uuid: str, after: int) -> list[dict[str, Any]]:
        calls: list[dict[str, Any]] = []
        at: int | None = after if after >= 0 else None
        while True:
            detail = self._api.get_experience(uuid, at)
            calls += detail["calls"]
            at = detail.get("next_after_seq")
            if at is None:
                return calls

    def _wanted(self, call: dict[str, Any]) -> bool:
        if self._options.tool and call["tool"] != self._options.tool:
            return False
        return not self._options.failures or call["status"] not in ("ok", "unknown")

    def _line(self, task: dict[str, Any], call: dict[str, Any]) -> str:
        if self._options.json:
            return json.dumps(
                {"task": task["external_id"], "agent": task["agent"], **call}, ensure_ascii=False
            )
        error = call.get("error") or {}
        told = error.get("message") if isinstance(error, dict) else error
        shown = json.dumps(call.get("input"), ensure_ascii=False)
        took = f"{call['duration_ms']:.0f} ms" if call.get("duration_ms") is not None else ""
        parts = (
            MARKS.get(call["status"], "?"), f"{printable(task['external_id'], 24):24}", f"{call['seq']:>4}",
            f"{printable(call['tool'], 24):24}", f"{took:>9}", printable(shown, 60),
            f"-> {printable(told, 80)}" if told else "",
        )  # fmt: skip
        return " ".join(parts).rstrip()
