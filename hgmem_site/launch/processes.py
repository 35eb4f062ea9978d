"""Web, worker and beat from the Procfile, together until one of them ends or somebody says stop."""

import os
import signal
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

from django.conf import settings
from honcho.environ import parse_procfile
from honcho.manager import Manager

READY_WITHIN_S = 60.0


def run_processes(environment: dict[str, str], url: str, procfile: Path | None = None) -> int:
    """Run them all; Ctrl-C, SIGTERM and a closed terminal stop them all. 0 when stopped on request."""
    path = procfile or Path(settings.BASE_DIR, "Procfile")
    manager = Manager()
    inherited = os.environ | environment | {"PYTHONUNBUFFERED": "1"}
    # The commands of the Procfile say `python`: the one that runs this.
    inherited["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{inherited.get('PATH', '')}"
    for name, command in parse_procfile(path.read_text()).processes.items():
        manager.add_process(name, command, env=inherited, cwd=str(settings.BASE_DIR))
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, lambda *_: os.kill(os.getpid(), signal.SIGTERM))
    threading.Thread(target=_announce, args=(url,), daemon=True).start()
    manager.loop()
    stopped_on_request = manager.returncode in {130, 143}
    return 0 if stopped_on_request else manager.returncode or 0


def _announce(url: str) -> None:
    until = time.monotonic() + READY_WITHIN_S
    while time.monotonic() < until:
        try:
            with urllib.request.urlopen(f"{url}/healthz", timeout=1):  # noqa: S310 - our own address
                print(f"HGMem is ready at {url}  (Ctrl-C stops it)", flush=True)
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    print(f"HGMem does not answer at {url} yet; the lines above may say why.", flush=True)
