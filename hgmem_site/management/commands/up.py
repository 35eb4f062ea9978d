"""``manage.py up``: everything a newcomer needs, in one terminal."""

import os
from argparse import ArgumentParser
from typing import Any

from django.core.management import BaseCommand, CommandError, call_command
from rich.console import Console

from hgmem_site.env import env
from hgmem_site.launch.demo import load_demo
from hgmem_site.launch.first_run import ADMIN, Welcome, welcome
from hgmem_site.launch.ports import PortTaken, check_port
from hgmem_site.launch.processes import run_processes

INTERRUPTED = 130


class Command(BaseCommand):
    """Migrate, load the demo once, then run web, worker and beat until Ctrl-C."""

    help = "Start HGMem: migrate, load the demo once, run web, worker and beat until Ctrl-C."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The port and whether to load the demo."""
        parser.add_argument("--port", type=int, help="default: HGMEM_PORT or 8000")
        parser.add_argument("--no-demo", action="store_true", help="start without the demo's runs")

    def handle(self, *args: Any, **options: Any) -> None:
        """Raises CommandError with a sentence; exits with the status of what it ran."""
        host = env.str("HGMEM_HOST", "127.0.0.1")
        port = options["port"] or env.int("HGMEM_PORT", 8000)
        try:
            check_port(host, port)
        except PortTaken as taken:
            raise CommandError(str(taken)) from taken
        url = f"http://{'127.0.0.1' if host in {'0.0.0.0', '::'} else host}:{port}"  # noqa: S104
        console = Console()
        try:
            call_command("migrate", verbosity=0, interactive=False)
            greeting = welcome()
            demo = load_demo(greeting.workspace) if greeting.workspace and not options["no_demo"] else ""
        except KeyboardInterrupt:
            console.print("Stopped. The next start goes on from here.")
            raise SystemExit(INTERRUPTED) from None
        for line in greeting_lines(url, greeting, demo):
            console.print(line, soft_wrap=True, highlight=False, markup=False)
        environment = {"HGMEM_PORT": str(port), "HGMEM_URL": os.environ.get("HGMEM_URL", url)}
        raise SystemExit(run_processes(environment, url))


def greeting_lines(url: str, greeting: Welcome, demo: str) -> list[str]:
    """Where it is, how to sign in, the key to try it with."""
    lines = ["", f"  Pages     {url}"]
    if greeting.password:
        lines += [f"  User      {ADMIN}", f"  Password  {greeting.password}   (shown this once)"]
    else:
        lines += ["  User      yours; a forgotten password: .venv/bin/python manage.py changepassword NAME"]
    if greeting.key:
        lines += [f"  API key   {greeting.key}"]
    return [*lines, f"  {demo}", ""] if demo else [*lines, ""]
