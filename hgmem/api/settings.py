"""The settings of a client: given, else from the environment, else a default that works."""

import hashlib
import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from hgmem.api.errors import ConfigError
from hgmem.signatures import PREFIX_CHARS, derive_key, digest_key

log = logging.getLogger(__name__)
Evaluate = Literal["local", "server"]
Fsync = Literal["background", "always"]
_LOOPBACK: Final = frozenset(("localhost", "127.0.0.1", "::1"))
_MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a client needs to know.

    ``url`` and ``key`` are the server's address and an API key; without either the client is *off*: nothing
    is asked and nothing recorded. ``deadline_s`` (seconds) is the whole time one question may take, whatever
    happens; then the call goes on without rules, except for tools that match one of the globs
    ``fail_closed``. ``evaluate``: ``local`` decides from a copy of the rules that is looked after in the
    background every ``refresh_s`` seconds, ``server`` asks each time. ``home`` is the folder of that copy and
    of the spool, which takes up to ``spool_bytes`` a process. ``fsync``: ``background`` syncs what waits
    there every second, ``always`` before recording returns, which takes milliseconds. ``agent``,
    ``framework`` and ``tags`` are those of tasks that say nothing else. ``capture`` false keeps inputs and
    outputs out of what is recorded; ``redact`` gets ``{"input", "output"}`` of each call and returns what of
    it is recorded. ``transport`` is an httpx transport to send through: a proxy, certificates of one's own, a
    server in this process.
    """

    url: str = ""
    key: str = field(default="", repr=False)
    deadline_s: float = 0.05
    evaluate: Evaluate = "local"
    fail_closed: tuple[str, ...] = ()
    refresh_s: float = 5.0
    home: Path = Path()
    spool_bytes: int = 256 * _MIB
    fsync: Fsync = "background"
    agent: str = ""
    framework: str = ""
    tags: tuple[str, ...] = ()
    capture: bool = True
    redact: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    transport: Any = field(default=None, repr=False)

    @property
    def is_on(self) -> bool:
        """Whether there is a server to talk to."""
        return bool(self.url and self.key)

    @property
    def folder(self) -> Path:
        """Where in ``home`` the spool of this server and key is: what waits for another is not sent here."""
        return self.home / self.destination(self.key_prefix)

    def destination(self, key_prefix: str) -> str:
        """A name for this server and the key that begins like this."""
        return hashlib.sha256(f"{self.url}\n{key_prefix}".encode()).hexdigest()[:16]

    @property
    def key_prefix(self) -> str:
        """What pages show of the key; names it in receipts that are made here."""
        return self.key[:PREFIX_CHARS]

    def derived_key(self, purpose: bytes) -> bytes:
        """A key of its own for a purpose, from the digest that the server knows the API key by."""
        return derive_key(digest_key(self.key), purpose)


def load_settings(given: Mapping[str, Any], environ: Mapping[str, str] = os.environ) -> Settings:
    """Settings from keywords and the environment (``HGMEM_URL``, ``HGMEM_KEY`` and so on).

    Raises:
        ConfigError: a setting is wrong, unknown, or only one of URL and key is there.
    """
    known = {item.name for item in fields(Settings)}
    if unknown := sorted(given.keys() - known):
        raise ConfigError(f"unknown setting: {', '.join(unknown)}. There are: {', '.join(sorted(known))}.")
    values = {name: value for name, value in given.items() if value is not None}
    for name, (variable, read) in _VARIABLES.items():
        text = environ.get(variable, "")
        if name not in values and text:
            values[name] = _read(variable, text, read)
    values["url"] = _checked_url(str(values.get("url", "")))
    values["key"] = str(values.get("key", "")).strip()
    values["home"] = Path(values["home"]).expanduser() if "home" in values else _default_home(environ)
    for name in ("fail_closed", "tags"):
        value = values.get(name, ())
        values[name] = (value,) if isinstance(value, str) else tuple(str(part) for part in value)
    settings = Settings(**values)
    _check(settings)
    return settings


def _check(settings: Settings) -> None:
    if bool(settings.url) != bool(settings.key):
        missing = "HGMEM_KEY (an API key: make one on the page Keys)" if settings.url else "HGMEM_URL"
        raise ConfigError(f"{missing} is missing: url and key belong together.")
    if not settings.key.isascii() or any(character.isspace() for character in settings.key):
        raise ConfigError("the key holds characters that no key has; copy it again.")
    if settings.evaluate not in ("local", "server"):
        raise ConfigError(f"evaluate must be local or server, not {settings.evaluate!r}.")
    if settings.fsync not in ("background", "always"):
        raise ConfigError(f"fsync must be background or always, not {settings.fsync!r}.")
    for name, least, most in (("deadline_s", 0.001, 60), ("refresh_s", 0.1, 3_600)):
        value = getattr(settings, name)
        if not isinstance(value, int | float) or not least <= value <= most:
            raise ConfigError(f"{name} must be a number of seconds between {least} and {most}.")
    if settings.spool_bytes < _MIB:
        raise ConfigError("spool_bytes must be at least 1048576 (1 MiB).")


def _checked_url(url: str) -> str:
    url = url.strip().rstrip("/")
    if not url:
        return ""
    try:
        parts = urlsplit(url)
        host = parts.hostname
        _ = parts.port
    except ValueError as error:
        raise ConfigError(f"url is no address: {error}.") from None
    if parts.scheme not in ("http", "https") or not host:
        raise ConfigError("url must be like https://hgmem.example.org.")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ConfigError("url must hold neither a user, a password, a query nor a fragment.")
    if parts.scheme == "http" and host not in _LOOPBACK:
        log.warning("The URL is plain http to another machine: the key travels in clear. Use https.")
    return url.removesuffix("/api/v1")


def _read(variable: str, text: str, read: Callable[[str], Any]) -> Any:
    try:
        return read(text)
    except ValueError:
        raise ConfigError(f"{variable} is wrong: {text!r}.") from None


def _words(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _flag(text: str) -> bool:
    words = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
    if text.lower() not in words:
        raise ValueError(text)
    return words[text.lower()]


def _default_home(environ: Mapping[str, str]) -> Path:
    """The user's folder for state that is kept (XDG base directories), on Windows that for local data."""
    state = environ.get("XDG_STATE_HOME") or environ.get("LOCALAPPDATA")
    return Path(state, "hgmem") if state else Path("~/.local/state/hgmem").expanduser()


_VARIABLES: Final[dict[str, tuple[str, Callable[[str], Any]]]] = {
    "url": ("HGMEM_URL", str),
    "key": ("HGMEM_KEY", str),
    "home": ("HGMEM_HOME", str),
    "deadline_s": ("HGMEM_DEADLINE_MS", lambda text: float(text) / 1_000),
    "evaluate": ("HGMEM_EVALUATE", str),
    "fail_closed": ("HGMEM_FAIL_CLOSED", _words),
    "refresh_s": ("HGMEM_REFRESH_S", float),
    "spool_bytes": ("HGMEM_SPOOL_BYTES", int),
    "fsync": ("HGMEM_FSYNC", str),
    "agent": ("HGMEM_AGENT", str),
    "tags": ("HGMEM_TAGS", _words),
    "capture": ("HGMEM_CAPTURE", _flag),
}
"""The variable of each setting that has one, and how its text is read."""
