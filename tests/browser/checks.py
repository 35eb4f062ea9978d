"""What every page must pass in the browser: accessible, quiet, inside the window."""

from collections.abc import Iterable

from axe_playwright_python.sync_playwright import Axe

from tests.browser.conftest import Opened

OPEN_FOLDS = "document.querySelectorAll('details:not([data-menu])').forEach(d => { d.open = true })"
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def serious_findings(opened: Opened) -> list[str]:
    """What axe calls serious or critical, with the first element of each."""
    found = Axe().run(opened.page).response["violations"]
    return [
        f"{one['id']}: {one['nodes'][0]['html'][:120]}"
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


def problems_of(opened: Opened, paths: Iterable[str], *, folds_open: bool = False) -> dict[str, list[str]]:
    """By path: what axe, the console and the width of the page say. Pages without a fault are left out."""
    problems: dict[str, list[str]] = {}
    for path in paths:
        opened.goto(path)
        if folds_open:
            opened.page.evaluate(OPEN_FOLDS)
        overflow = opened.page.evaluate(OVERFLOW)
        found = serious_findings(opened) + opened.complaints
        found += [f"{overflow} px too wide"] if overflow else []
        opened.complaints.clear()
        if found:
            problems[path] = found
    return problems
