"""Takes the README's screenshots: starts the demo in a folder of its own, signs in, photographs three pages.

make screenshot            # HGMEM_DATA=DIR for another demo
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "images"
PORT = "8197"
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


def main() -> int:
    """Start, photograph, stop. Exit status 1 when the demo did not come up."""
    with tempfile.TemporaryDirectory() as var:
        data = os.environ.get("HGMEM_DATA", var)  # an empty folder: the demo that anybody can play
        environment = {**os.environ, "HGMEM_VAR": var, "HGMEM_PORT": PORT, "HGMEM_DATA": data}
        with subprocess.Popen(
            [sys.executable, "manage.py", "up"], cwd=ROOT, env=environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        ) as server:  # fmt: skip
            try:
                secrets = wait_for_secrets(server)
                if secrets is None:
                    return 1
                photograph(f"http://127.0.0.1:{PORT}", *secrets)
            finally:
                server.send_signal(signal.SIGINT)
                server.communicate(timeout=60)
    return 0


def wait_for_secrets(server: "subprocess.Popen[str]") -> tuple[str, str] | None:
    """The password and the API key that the demo prints; None when it stopped without being ready."""
    password = key = ""
    for line in server.stdout or ():
        password = found[1] if (found := re.search(r"Password\s+(\S+)", line)) else password
        key = found[1] if (found := re.search(r"API key\s+(hgm_\S+)", line)) else key
        if "is ready" in line:
            return password, key
    return None


def steps_of_tour(heading: str) -> list[str]:
    """The shell blocks of a step of the README's tour."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    step = text.split(f"**{heading}", 1)[1].split("\n**", 1)[0]
    return re.findall(r"```sh\n(.*?)```", step, re.DOTALL)


def run_in_shell(block: str, environment: dict[str, str]) -> None:
    """Run a block of the README; it is our own text."""
    command = ["/bin/sh", "-c", block]
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)  # noqa: S603


def prove_a_rule(page: Page, url: str, key: str) -> None:
    """Play the tour's canary: an agent's rule, an approval, tasks with and without it."""
    rule, tasks = steps_of_tour("10. A rule has to prove itself.")
    environment = {**os.environ, "HGMEM": url, "KEY": key}
    run_in_shell(rule, environment)
    page.goto(f"{url}/w/demo/changes/")
    page.get_by_role("link", name="Serve a new rule: Name the unit").click()
    page.get_by_role("button", name="Approve revision 1").click()
    page.get_by_text("Approved.").first.wait_for()
    time.sleep(2)  # the web process serves it within a second
    run_in_shell(tasks, environment)
    time.sleep(15)  # the controller looks every three seconds
    run_in_shell(tasks.replace("forecast-", "later-"), environment)  # the holdout
    time.sleep(10)
    page.goto(f"{url}/w/demo/canaries/")
    page.get_by_role("link", name="Name the unit").first.click()
    page.get_by_role("heading", name="Evidence over time").wait_for()


def photograph(url: str, password: str, key: str) -> None:
    """The overview, a path that needed a second try, and a canary; light, at a laptop's size."""
    TARGET.mkdir(exist_ok=True)
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 860}, color_scheme="light")
        page.goto(f"{url}/login/")
        page.fill("input[name=username]", "admin")
        page.fill("input[name=password]", password)
        page.press("input[name=password]", "Enter")
        page.get_by_role("heading", name="Overview", level=1).wait_for()
        page.evaluate("document.fonts.ready")
        time.sleep(0.5)  # the chart settles
        page.screenshot(path=TARGET / "overview.png")
        page.goto(page.url.split("?")[0] + "paths/?result=retry&level=task")
        page.locator("main [data-row-link]").first.click()
        page.get_by_role("heading", name="Step by step").wait_for()
        time.sleep(1)  # the drawing settles
        page.screenshot(path=TARGET / "path.png")
        prove_a_rule(page, url, key)
        page.screenshot(path=TARGET / "canary.png")
        browser.close()


if __name__ == "__main__":
    raise SystemExit(main())
