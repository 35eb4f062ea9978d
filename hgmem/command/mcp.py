"""``hgmem mcp`` and ``hgmem mcp-proxy``: for clients of the Model Context Protocol."""

import argparse
from typing import Any

from hgmem.api.errors import ConfigError
from hgmem.command.terminal import open_client


def add_to(commands: Any) -> None:
    """Register both commands."""
    server = commands.add_parser("mcp", help="an MCP server: corrections, experience and paths as tools")
    _add_transport(server)
    server.set_defaults(run=run_server)
    proxy = commands.add_parser("mcp-proxy", help="stand in front of an MCP server and guard every call")
    _add_transport(proxy)
    proxy.add_argument("--upstream", help="the server's address, for streamable HTTP")
    proxy.add_argument(
        "server", nargs="*", metavar="COMMAND", help="after --: the server's command, for stdio"
    )
    proxy.set_defaults(run=run_proxy)


def run_server(options: argparse.Namespace) -> int:
    """Serve until the client is gone."""
    from hgmem.mcp.server import run_server as serve

    with open_client(options) as client:
        serve(client, transport=options.transport, host=options.host, port=options.port)
    return 0


def run_proxy(options: argparse.Namespace) -> int:
    """Stand between a client and a server until one of them is gone."""
    from hgmem.mcp.proxy import run_proxy as stand_between

    if bool(options.upstream) == bool(options.server):
        raise ConfigError("say which server: hgmem mcp-proxy -- COMMAND ..., or --upstream URL.")
    with open_client(options, framework="mcp") as client:
        client.refresh_rules()  # the first call must not wait for them
        upstream = options.upstream or list(options.server)
        stand_between(
            client, upstream, transport=options.transport, host=options.host, port=options.port
        )  # fmt: skip
    return 0


def _add_transport(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--transport", choices=("stdio", "http"), default="stdio", help="default: stdio")
    parser.add_argument("--host", default="127.0.0.1", help="for http (default: 127.0.0.1)")
    parser.add_argument("--port", type=int, default=8_765, help="for http (default: 8765)")
