"""How soon a drawn page of 1,000 nodes can be used, in Chromium.

A granian server on a database of its own with one path of 1,000 steps (every seventh with a branch). A
signed-in browser opens the page; the clock runs from the start of the navigation until the drawing is painted
and has answered a key (``End`` selects the last node). Cold: a new browser context, nothing cached (the
server has answered once before, so its templates are read). Warm: the page again. The same for the explorer,
whose nodes are the steps of that path. Beside them the empty list of validators: what any page of the site
costs, shell included. The server's own part (the answer's first byte) and the CPU time of the page's main
thread are shown apart.
"""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.report import Report, median, parse_arguments, quantile
from benchmarks.serving import granian, prepare_site

MAX_S = 2.0
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
]  # fmt: skip
USED = """name => new Promise(resolve => {
  const figure = document.querySelector(`[data-graph="${name}"]`);
  const look = () => {
    if (!figure.dataset.drawn) return requestAnimationFrame(look);
    const canvas = figure.querySelector('[data-graph-canvas]');
    canvas.focus();
    canvas.dispatchEvent(new KeyboardEvent('keydown', { key: 'End', bubbles: true }));
    requestAnimationFrame(() => resolve([figure.dataset.selected, performance.now()]));
  };
  look();
})"""
FIRST_BYTE = "performance.getEntriesByType('navigation')[0].responseStart"
LOADED = "performance.getEntriesByType('navigation')[0].domComplete"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What can be varied."""
    parser.add_argument("--nodes", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=10)


def fill(nodes: int) -> tuple[str, str]:
    """Store the path and somebody who may look at it; the page's address and a session."""
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.sessions.backends.db import SessionStore
    from django.utils import timezone

    from memory.actions.accounts import create_workspace
    from memory.domain.paths.document import EdgeDoc, NodeDoc, PathDoc, chain
    from memory.models import User
    from memory.permissions import SYSTEM
    from memory.writer.paths import NewPath, store_paths

    user = User.objects.create_user(username="bench", password="a long enough password")
    workspace = create_workspace(slug="bench", name="Bench", owner=user, by=SYSTEM)
    steps = tuple(
        NodeDoc(name=f"n{i}", tool=f"tool_{i % 17}", params={"number": i, "text": "as long as usual " * 3})
        for i in range(nodes)
    )
    branches = [
        EdgeDoc(source=f"n{i}", target=f"n{i + 4}", condition="error: not found")
        for i in range(0, nodes - 4, 7)
    ]
    doc = PathDoc(goal="Long", nodes=steps, edges=(*chain([step.name for step in steps]), *branches))
    path = store_paths(
        workspace.pk, [NewPath(lineage_key="bench", doc=doc, origin="hand")], now=timezone.now()
    )[0]
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.save()
    return f"/w/bench/paths/{path.uuid}/", str(session.session_key)


def opened(page: Any, address: str, name: str) -> tuple[float, float]:
    """Milliseconds until the last node was selected, and the main thread's CPU time until then."""
    counter = page.context.new_cdp_session(page)
    counter.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(address, wait_until="commit")
    page.wait_for_selector(f"[data-graph={name}]", state="attached")
    selected, took = page.evaluate(USED, name)
    if not selected:
        raise SystemExit(f"{address}: the key was not answered.")
    metrics = {one["name"]: one["value"] for one in counter.send("Performance.getMetrics")["metrics"]}
    counter.detach()
    return took, 1000 * metrics["TaskDuration"]


def warm_up(browser: Any, addresses: list[str], session: str) -> None:
    """Let the server answer each page once."""
    context = browser.new_context()
    context.add_cookies([{"name": "sessionid", "value": session, "url": addresses[0]}])
    page = context.new_page()
    for address in addresses:
        page.goto(address)
    context.close()


def measure(
    url: str, path: str, session: str, arguments: argparse.Namespace, report: Report
) -> dict[str, Any]:
    """Milliseconds by what was measured."""
    from playwright.sync_api import sync_playwright

    states = ("cold", "warm", "cold CPU", "warm CPU")
    names = (*states, *(f"explorer {state}" for state in states), "first byte", "any page")
    found: dict[str, list[float]] = {name: [] for name in names}
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        raise SystemExit("There is no Chromium on this system.")
    with sync_playwright() as playwright, report.progress("rounds", total=arguments.rounds) as advance:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        warm_up(browser, [url + path, f"{url}/w/bench/graph/", f"{url}/w/bench/validators/"], session)
        for _ in range(arguments.rounds):
            for start, address, name in (("", path, "path"), ("explorer ", "/w/bench/graph/", "explorer")):
                context = browser.new_context(viewport={"width": 1280, "height": 800})
                context.add_cookies([{"name": "sessionid", "value": session, "url": url}])
                page = context.new_page()
                for state in ("cold", "warm"):
                    took, cpu = opened(page, url + address, name)
                    found[f"{start}{state}"].append(took)
                    found[f"{start}{state} CPU"].append(cpu)
                if name == "path":
                    found["first byte"].append(page.evaluate(FIRST_BYTE))
                    page.goto(f"{url}/w/bench/validators/")
                    found["any page"].append(page.evaluate(LOADED))
                context.close()
            advance(1)
        browser.close()
    return found


def main() -> int:
    """Run it."""
    arguments = parse_arguments("A page with 1,000 drawn nodes in Chromium.", add_arguments)
    report = Report("graph_page", arguments)
    with tempfile.TemporaryDirectory(prefix="hgmem-bench-") as var:
        prepare_site(Path(var))
        path, session = fill(arguments.nodes)
        with granian(workers=1, threads=2) as url:
            found = measure(url, path, session, arguments, report)
    rows = [
        [title, median(found[name]), quantile(found[name], 0.95), max(found[name])]
        for name, title in (
            ("cold", "path: drawn and answering a key, nothing cached"),
            ("cold CPU", "of that CPU time of the page's main thread"),
            ("warm", "the same, cached"),
            ("warm CPU", "of that CPU time of the page's main thread"),
            ("first byte", "of that the server's part (first byte)"),
            ("explorer cold", "graph explorer: the same, nothing cached"),
            ("explorer cold CPU", "of that CPU time of the page's main thread"),
            ("explorer warm", "the same, cached"),
            ("any page", "an empty list page, loaded"),
        )
    ]
    report.table(
        f"{arguments.nodes:,} nodes, {arguments.rounds} rounds, ms", ["what", "p50", "p95", "max"], rows
    )
    for name, title in (("cold", "a path, nothing cached, p95"), ("explorer cold", "the explorer, p95")):
        report.goal(title, measured=quantile(found[name], 0.95) / 1000, limit=MAX_S, unit="s")
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
