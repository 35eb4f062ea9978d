"""Typed settings from the environment: defaults that are safe, and secrets that may live in files."""

import os
import secrets
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from environs import FileAwareEnv

env = FileAwareEnv()
"""Reads ``NAME``, or the file that ``NAME_FILE`` points to (container secrets)."""


def secret_key(var_dir: Path) -> str:
    """The signing key: ``SECRET_KEY``, or one generated into ``var/`` on the first run.

    Created with mode 0600 and O_EXCL, so that two processes that start together agree on one key.
    """
    given = env.str("SECRET_KEY", "")
    if given:
        return given
    path = var_dir / "secret_key"
    var_dir.mkdir(parents=True, exist_ok=True)
    draft = var_dir / f".secret_key.{os.getpid()}"
    if not path.exists():
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w") as file:
            file.write(secrets.token_urlsafe(64))
        try:
            os.link(draft, path)  # atomic: the first one wins, the others read it
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return path.read_text().strip()


def is_plain_loopback(url: str) -> bool:
    """True when ``url`` is http on this machine: the only place where cookies may travel unencrypted."""
    parts = urlsplit(url)
    return parts.scheme == "http" and parts.hostname in {"127.0.0.1", "localhost", "::1"}


def vis_network_folder() -> Path:
    """The folder of the newest vis-network that comes with pyvis: the script that draws graphs.

    Found without importing pyvis, which would load much that serving a file does not need.
    """
    spec = find_spec("pyvis")
    if spec is None or not spec.submodule_search_locations:
        raise ImportError("pyvis is not installed: install the extra `server`.")
    library = Path(spec.submodule_search_locations[0]) / "lib"
    return max(library.glob("vis-*"), key=lambda folder: [int(part) for part in folder.name[4:].split(".")])
