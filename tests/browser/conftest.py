"""A real Chromium against a live server. ``open_page`` signs a member in and watches the console."""

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright

from memory.models import User
from tests.conftest import skip_or_fail

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
]  # fmt: skip
SIZES = {"desktop": (1280, 800), "phone": (390, 800)}

# Playwright's event loop makes Django think that it runs inside async code.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The system's Chromium."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        skip_or_fail("no Chromium on this system")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@dataclass
class Opened:
    """A page with what its console said: errors, refused scripts, exceptions."""

    page: Page
    base: str
    complaints: list[str] = field(default_factory=list)

    def goto(self, path: str) -> None:
        """Open a path and wait until the shell is shown."""
        self.page.goto(self.base + path)
        self.page.wait_for_function("!document.documentElement.hasAttribute('x-cloak')")

    def hears(self, message: ConsoleMessage) -> None:
        """Remember what went wrong."""
        if message.type == "error":
            self.complaints.append(message.text)


OpenPage = Callable[..., Opened]


@pytest.fixture
def open_page(chromium: Browser, live_server: object) -> Iterator[OpenPage]:
    """``open_page(user, size="phone", theme="dark", scripts=False)``: a signed-in browser window."""
    contexts = []

    def open_as(
        user: User | None = None, *, size: str = "desktop", theme: str = "light", scripts: bool = True
    ) -> Opened:
        width, height = SIZES[size]
        context = chromium.new_context(
            viewport={"width": width, "height": height}, color_scheme=theme, java_script_enabled=scripts
        )
        contexts.append(context)
        if user is not None:
            context.add_cookies([{"name": "sessionid", "value": session_of(user), "url": live_server.url}])
        opened = Opened(context.new_page(), live_server.url)
        opened.page.on("console", opened.hears)
        opened.page.on("pageerror", lambda error: opened.complaints.append(str(error)))
        return opened

    yield open_as
    for context in contexts:
        context.close()


def session_of(user: User) -> str:
    """A session as signing in makes it."""
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.save()
    return session.session_key
