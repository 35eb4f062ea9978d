"""The Model Context Protocol: HGMem as a server, and a proxy that guards any other server."""
