"""Takes the README's screenshots: starts the demo in a folder of its own, signs in, photographs two pages.

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

from playwright.sync_api import sync_playwright

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
                password = wait_for_password(server)
                if password is None:
                    return 1
                photograph(f"http://127.0.0.1:{PORT}", password)
            finally:
                server.send_signal(signal.SIGINT)
                server.communicate(timeout=60)
    return 0


def wait_for_password(server: "subprocess.Popen[str]") -> str | None:
    """The password that the demo prints; None when it stopped without being ready."""
    password = None
    for line in server.stdout or ():
        found = re.search(r"Password\s+(\S+)", line)
        password = found[1] if found else password
        if "is ready" in line:
            return password
    return None


def photograph(url: str, password: str) -> None:
    """The overview, and a path that needed a second try; light, at a laptop's size."""
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
        browser.close()


if __name__ == "__main__":
    raise SystemExit(main())
