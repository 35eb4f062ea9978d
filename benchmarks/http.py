"""``corrections/query`` over HTTP, beside an empty REST framework POST on the same server, in one run.

A granian server with 10,000 active rules over 50 tools in a database of its own; 8 keep-alive connections
from one client process. Short rounds alternate between the empty view and the query, so that both see the
same machine; the ratios are medians over neighbouring rounds. 60 % of the rules have an equality atom; the
others ask for presence, prefixes, bounds or several fields. About a third of the contexts match a rule (and
store a receipt).

In the same run: how long after the commit of a change the last answer from the old rules was sent.

The empty view asks for no key and reads no body: everything the query does comes on top. Middleware is the
product's own for both.
"""

import argparse
import json
import random
import re
import socket
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmarks.load import LoadResult, prepare_post, run_load
from benchmarks.report import Report, median, parse_arguments
from benchmarks.serving import granian, prepare_site

TOOLS = 50
MIN_RATE = 0.6
MAX_P99 = 1.5
MAX_STALE_S = 1.0
CHANGES = 7
SURE = 20
"""So many fresh answers in a row, over new connections, mean that no process is behind."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What can be varied."""
    parser.add_argument("--rules", type=int, default=10_000)
    parser.add_argument("--canaries", type=int, default=0, help="so many of the rules are on trial")
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each round of each view")


def rule_document(number: int) -> dict[str, Any]:
    """One rule of the mix; six of ten have an equality atom."""
    kinds = [
        f"input.customer == 'c{number}'",
        f"input.city == 'city-{number}' && input.days > 3",
        f"input.kind == 'k{number}' || input.kind == 'q{number}'",
        f"input.code in ['a{number}', 'b{number}', 'c{number}']",
        f"input.region == 'r{number}' && !has(input.unit)",
        f"task.agent == 'agent-{number}' && input.limit == null",
        f"input.path.startsWith('/data/{number}/')",
        f"has(input.amount) && input.amount > {number * 10} && input.amount < {number * 10 + 5}",
        f"input.query.contains('table_{number}')",
        f"input.email == null && size(input.items) > {number}",
    ]
    return {
        "name": f"Rule {number}",
        "applies_to": {"tool": f"tool_{number % TOOLS}"},
        "condition": kinds[number // TOOLS % len(kinds)],
        "action_type": "PARAMETER_TRANSFORM",
        "action_detail": {"transform": "set_default", "field": "unit", "default_value": "metric"},
        "priority": number % 3,
    }


def context(number: int, rules: int, rng: random.Random) -> dict[str, Any]:
    """A call an agent is about to make; one in three matches the rule of its number."""
    call_input: dict[str, Any] = {
        "customer": f"customer-{rng.randrange(10**6)}", "city": "Paris", "days": rng.randrange(10),
        "kind": "order", "code": "zz", "region": "eu", "limit": 20, "path": "/home/x", "amount": -1,
        "query": "select 1", "email": "nobody", "items": [1, 2, 3],
    }  # fmt: skip
    if number % 3 == 0:
        rule = rng.randrange(0, rules // (TOOLS * 10)) * TOOLS * 10 + number % TOOLS
        call_input["customer"] = f"c{rule}"
        number = rule
    return {
        "tool": {"name": f"tool_{number % TOOLS}", "version": "1.2"},
        "input": call_input,
        "task": {"id": f"t{number}", "goal": "Find the order", "tags": ["order"], "agent": "a"},
        "env": {"domain": "shop"},
        "history": [{"tool": "login", "input": {"user": "x"}, "status": "ok", "error": None}],
    }


def fill(rules: int, canaries: int, report: Report) -> str:
    """Store the rules, active but for those on trial, and a key; returns the key's secret."""
    from django.db import transaction
    from django.utils import timezone

    from corrections.actions.publishing import stamp_ruleset
    from corrections.domain.documents import body_of, read_document
    from corrections.models import Rule, RuleVersion
    from memory.actions.accounts import create_key, create_workspace
    from memory.domain.access import Scope
    from memory.permissions import SYSTEM

    workspace = create_workspace(slug="bench", name="Bench", owner=None, by=SYSTEM)
    author = {"created_at": timezone.now(), "created_by": "bench", "created_by_kind": "human"}
    with report.progress("rules", total=rules) as advance, transaction.atomic():
        stored = Rule.objects.bulk_create(
            Rule(workspace=workspace, name=f"Rule {number}", updated_at=timezone.now(), **author)
            for number in range(rules)
        )
        versions = []
        for number, rule in enumerate(stored):
            parsed = read_document(rule_document(number), author="human")
            versions.append(
                RuleVersion(
                    rule=rule,
                    number=1,
                    body=body_of(parsed),
                    tool=parsed.applies_to.tool,
                    action_type=parsed.action.action_type,
                    priority=parsed.priority,
                    **author,
                )
            )
            advance(1)
        for rule, version in zip(stored, RuleVersion.objects.bulk_create(versions), strict=True):
            rule.latest_version = rule.live_version = version
            rule.status = "active"
        Rule.objects.bulk_update(stored, ["latest_version", "live_version", "status"], batch_size=300)
        put_on_trial(stored[10 * TOOLS :][:canaries])
        stamp_ruleset(workspace.pk)
    return create_key(workspace=workspace, name="bench", scopes=[Scope.RULES_READ], by=SYSTEM)[1]


def put_on_trial(rules: list[Any]) -> None:
    """A running canary for each, half of the tasks."""
    from django.utils import timezone

    from corrections.domain.canaries import BUCKETS
    from corrections.models import Canary, Rule

    now = timezone.now()
    Rule.objects.filter(pk__in=[rule.pk for rule in rules]).update(status="canary")
    Canary.objects.bulk_create(
        Canary(
            workspace=rule.workspace,
            rule=rule,
            version=rule.live_version,
            state="running",
            salt="bench",
            share=BUCKETS // 2,
            requested_at=now,
            updated_at=now,
        )
        for rule in rules
    )


def measure(
    url: str, secret: str, arguments: argparse.Namespace, report: Report
) -> dict[str, list[LoadResult]]:
    """Alternating rounds of each view."""
    rng = random.Random(7)
    headers = {"Authorization": f"Bearer {secret}"}
    bodies = [json.dumps(context(number, arguments.rules, rng)).encode() for number in range(2_000)]
    query = f"{url}/api/v1/corrections/query"
    views = {
        "empty REST framework POST": [prepare_post(f"{url}/api/v1/empty", b"{}", {})],
        "plain Django POST": [prepare_post(f"{url}/api/v1/plain", b"{}", {})],
        "corrections/query": [prepare_post(query, body, headers) for body in bodies],
    }
    warm_up(url, views["corrections/query"][0], arguments)
    for requests in views.values():
        run_load(url, requests, connections=arguments.connections, seconds=1.0)
    results: dict[str, list[LoadResult]] = {name: [] for name in views}
    with report.progress("rounds", total=arguments.rounds * len(views)) as advance:
        for _ in range(arguments.rounds):
            for name, requests in views.items():
                results[name].append(
                    run_load(url, requests, connections=arguments.connections, seconds=arguments.seconds)
                )
                advance(1)
    return results


def warm_up(url: str, question: bytes, arguments: argparse.Namespace) -> None:
    """Ask on many connections until every worker has compiled its rules."""
    for _ in range(4 * arguments.workers):
        ask_once(url, question)


def ask_once(url: str, question: bytes) -> dict[str, Any]:
    """One question over a connection of its own."""
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname or "", parts.port or 80), timeout=120) as connection:
        connection.sendall(question)
        received = b""
        while b"\r\n\r\n" not in received:
            received += connection.recv(65_536)
        head, _, body = received.partition(b"\r\n\r\n")
        found = re.search(rb"content-length: *(\d+)", head.lower())
        length = int(found[1]) if found else 0
        while len(body) < length:
            body += connection.recv(65_536)
    answer: dict[str, Any] = json.loads(body)
    return answer


def measure_staleness(url: str, secret: str, report: Report) -> list[float]:
    """Seconds from the commit of a change to the last answer that did not know it, for several changes."""
    from corrections.actions.rules import activate_rule, disable_rule
    from corrections.models import Rule, RulesetStamp
    from memory.permissions import SYSTEM

    body = json.dumps({"tool": "tool_0", "input": {}}).encode()
    question = prepare_post(
        f"{url}/api/v1/corrections/query", body, {"Authorization": f"Bearer {secret}", "Connection": "close"}
    )
    ages = []
    with report.progress("changes", total=CHANGES) as advance:
        for number in range(CHANGES):
            rule = Rule.objects.get(name=f"Rule {number // 2 * TOOLS}")
            change = activate_rule if rule.status == "disabled" else disable_rule
            change(rule=rule, by=SYSTEM)
            committed, last_old, fresh = time.perf_counter(), 0.0, 0
            version = str(RulesetStamp.objects.get().version)
            while fresh < SURE:
                asked = time.perf_counter()
                if ask_once(url, question)["ruleset_version"] == version:
                    fresh += 1
                else:
                    last_old, fresh = asked - committed, 0
            ages.append(max(last_old, 0.0))
            advance(1)
    return ages


def main() -> int:
    """Run it."""
    arguments = parse_arguments("corrections/query beside an empty POST on the same server.", add_arguments)
    report = Report("http", arguments)
    with tempfile.TemporaryDirectory(prefix="hgmem-bench-") as var:
        prepare_site(Path(var))
        secret = fill(arguments.rules, arguments.canaries, report)
        with granian(workers=arguments.workers) as url:
            results = measure(url, secret, arguments, report)
            ages = measure_staleness(url, secret, report)
    show(report, arguments, results)
    report.figure("stale_s", ages)
    report.goal("age of the last old answer after a change", measured=max(ages), limit=MAX_STALE_S, unit="s")
    return report.finish()


def join(rounds: list[LoadResult]) -> LoadResult:
    """All rounds of a view as one."""
    whole = LoadResult()
    for one in rounds:
        whole.add(one)
    return whole


def show(report: Report, arguments: argparse.Namespace, rounds: dict[str, list[LoadResult]]) -> None:
    """The table and the goals. Ratios are medians over the pairs of neighbouring rounds."""
    results = {name: join(some) for name, some in rounds.items()}
    columns = ["view", "answers/s", "p50 ms", "p99 ms", "answers", "not 200", "client CPU share"]
    rows = [
        [name, result.rate, result.quantile_ms(0.5), result.quantile_ms(0.99), len(result.latencies),
         len(result.latencies) - result.statuses.get(200, 0), result.client_share]
        for name, result in results.items()
    ]  # fmt: skip
    title = (
        f"{arguments.rules:,} rules, {arguments.connections} connections, {arguments.workers} worker(s), "
        f"{arguments.rounds} rounds of {arguments.seconds:g} s"
    )
    report.table(title, columns, rows)
    ours = results["corrections/query"]
    if ours.statuses.keys() != {200}:
        report.note(f"Some questions were not answered with 200: {ours.statuses}")
    pairs = list(zip(rounds["empty REST framework POST"], rounds["corrections/query"], strict=True))
    rate = median([our.rate / floor.rate for floor, our in pairs])
    p99 = median([our.quantile_ms(0.99) / floor.quantile_ms(0.99) for floor, our in pairs])
    report.figure("rate_ratio", rate)
    report.figure("p99_ratio", p99)
    report.goal("rate against the empty POST", measured=rate, limit=MIN_RATE, better="higher")
    report.goal("p99 against the empty POST", measured=p99, limit=MAX_P99)


if __name__ == "__main__":
    sys.exit(main())
