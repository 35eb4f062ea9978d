"""How this library introduces itself to the server."""

import platform
from typing import Any

from hgmem import __version__
from hgmem.api.settings import Settings


def client_options(settings: Settings, timeout_s: float) -> dict[str, Any]:
    """Options of an httpx client. Redirects are not followed: the key is for one address only."""
    return {
        "base_url": settings.url,
        "headers": {
            "Authorization": f"Bearer {settings.key}",
            "User-Agent": f"hgmem/{__version__} python/{platform.python_version()}",
            "Accept": "application/json",
        },
        "timeout": timeout_s,
        "follow_redirects": False,
        "transport": settings.transport,
    }
