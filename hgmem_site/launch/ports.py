"""Is the port free? Better a sentence now than a stack trace from the web server later."""

import socket


class PortTaken(Exception):
    """Something listens there already. ``str()`` is the sentence to show."""


def check_port(host: str, port: int) -> None:
    """Raise PortTaken unless ``host:port`` can be bound."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise PortTaken(
                f"Cannot listen on {host}:{port} ({error.strerror}). Is HGMem running there already? "
                f"Stop what uses the port, or choose another: HGMEM_PORT={port + 1} make run"
            ) from error
