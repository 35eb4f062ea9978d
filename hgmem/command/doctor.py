"""``hgmem doctor``: is everything as it should be between this machine and the server?"""

import argparse
import json
import os
import platform
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

from hgmem import __version__
from hgmem.api.errors import AuthError, ConnectionFailed, HGMemError
from hgmem.api.shapes import Me
from hgmem.command.terminal import open_client, printable
from hgmem.runtime.client import Client

State = Literal["ok", "warn", "fail"]
NEEDED = {
    "query_corrections": "rules:read: ask for corrections",
    "record_experience": "experience:write: record what agents do",
}
DECISIONS = 2_000
SLOW_US = 1_000.0
STALE_S = 120.0


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    state: State
    what: str
    said: str


def add_to(commands: Any) -> None:
    """Register the command."""
    parser = commands.add_parser(
        "doctor", help="check the connection, the key, the rules and the speed of decisions"
    )
    parser.add_argument("--json", action="store_true", help="print findings as JSON")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print findings; 1 when something has to be mended."""
    with open_client(options) as client:
        findings = list(examine(client))
    if options.json:
        print(json.dumps([asdict(finding) for finding in findings], ensure_ascii=False, indent=2))
    else:
        for finding in findings:
            print(f"{finding.state:4}  {finding.what:10}  {printable(finding.said)}")
    return int(any(finding.state == "fail" for finding in findings))


def examine(client: Client) -> Iterator[Finding]:
    """Look at one thing after the other; what cannot be looked at without an earlier one is left out."""
    yield Finding("ok", "library", f"hgmem {__version__}, Python {platform.python_version()}")
    yield _home(client)
    yield _spool(client)
    me, finding = _reach(client)
    yield finding
    if me is None:
        return
    yield _key(me)
    if "query_corrections" not in me["may"]:
        return
    finding = _rules(client)
    yield finding
    if finding.state != "fail":
        yield _local_speed(client)
    yield _server_speed(client)


def _home(client: Client) -> Finding:
    home = client.settings.home
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        writable = os.access(home, os.W_OK | os.X_OK)
    except OSError as error:
        return Finding("fail", "folder", f"{home} cannot be made: {error}. Set HGMEM_HOME to another one.")
    if not writable:
        return Finding("fail", "folder", f"{home} cannot be written. Set HGMEM_HOME to another one.")
    return Finding("ok", "folder", str(home))


def _spool(client: Client) -> Finding:
    folder = client.settings.folder / "spool"
    size = sum(path.stat().st_size for path in folder.glob("*/*.log")) if folder.is_dir() else 0
    refused = client.settings.folder / "refused" / "refused.jsonl"
    if refused.exists():
        return Finding("warn", "spool", f"{size:,} bytes wait; the server refused some: hgmem spool refused")
    return Finding("ok", "spool", f"{size:,} bytes wait to be delivered")


def _reach(client: Client) -> tuple[Me | None, Finding]:
    url = client.settings.url
    try:
        began = time.perf_counter()
        me = client.api.whoami()
        first = time.perf_counter() - began
        began = time.perf_counter()
        client.api.whoami()
        again = time.perf_counter() - began
    except AuthError as error:
        return None, Finding("fail", "key", f"{error} Make another one on the page Keys.")
    except ConnectionFailed as error:
        return None, Finding("fail", "server", f"{url}: {error}")
    except HGMemError as error:
        return None, Finding("fail", "server", f"{url}: {error} Is this HGMem?")
    said = f"{url} answers in {again * 1_000:.1f} ms (the first time in {first * 1_000:.0f} ms)"
    return me, Finding("ok" if again < 0.5 else "warn", "server", said)


def _key(me: Me) -> Finding:
    lacking = [words for action, words in NEEDED.items() if action not in me["may"]]
    where = f"{me['name']} in {me['workspace']['name']}, may {', '.join(me['scopes'])}"
    if lacking:
        return Finding("warn", "key", f"{where}; lacks {'; '.join(lacking)}")
    return Finding("ok", "key", where)


def _rules(client: Client) -> Finding:
    client.rules.load()
    before = client.rules.freshness()
    try:
        began = time.perf_counter()
        changed = client.rules.refresh()
        took_ms = (time.perf_counter() - began) * 1_000
    except HGMemError as error:
        if before.age_s is None:
            return Finding("fail", "rules", f"there are none here, and none can be had: {error}")
        return Finding("warn", "rules", f"version {before.version}, {before.age_s:.0f} s old: {error}")
    now = client.rules.freshness()
    news = "fetched now" if changed else "current"
    kept = "" if before.age_s is None else f"; the copy on disk was {before.age_s:.0f} s old"
    return Finding(
        "ok", "rules", f"version {now.version}, {now.rules} rules, {news} in {took_ms:.0f} ms{kept}"
    )


def _local_speed(client: Client) -> Finding:
    p50, p99 = _timed(lambda: client.decide(_question()), DECISIONS)
    said = f"decides here in {p50:.0f} microseconds (p50), {p99:.0f} (p99), without any rule of a tool"
    return Finding("ok" if p99 < SLOW_US else "warn", "decision", said)


def _server_speed(client: Client) -> Finding:
    try:
        p50, p99 = _timed(lambda: client.api.get_corrections(_question()), 20)
    except HGMemError as error:
        return Finding("warn", "decision", f"the server does not decide: {error}")
    deadline_ms = client.settings.deadline_s * 1_000
    said = f"the server decides in {p50 / 1_000:.1f} ms (p50), {p99 / 1_000:.1f} (slowest of 20)"
    if p99 / 1_000 > deadline_ms:
        return Finding("warn", "decision", f"{said}: longer than the deadline of {deadline_ms:.0f} ms")
    return Finding("ok", "decision", said)


def _timed(work: Callable[[], Any], count: int) -> tuple[float, float]:
    """p50 and p99 of a piece of work, in microseconds."""
    times = []
    for _ in range(count):
        began = time.perf_counter()
        work()
        times.append((time.perf_counter() - began) * 1_000_000)
    times.sort()
    return times[count // 2], times[min(count - 1, int(count * 0.99))]


def _question() -> dict[str, Any]:
    return {"point": "before", "tool": "hgmem_doctor", "input": {"question": "how fast"}}
