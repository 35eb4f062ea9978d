"""HGMem: correction rules that an agent asks for before each tool call.

import hgmem

hgmem.configure(url="https://hgmem.example.org", key="hgm_...")
search = hgmem.guard(search)

This package is what an agent process imports. It never imports Django. Importing it costs next to nothing:
its parts are loaded when they are first used.
"""

import importlib
from typing import TYPE_CHECKING, Any, Final

__version__ = "0.1.0"

if TYPE_CHECKING:
    from hgmem.api.errors import (
        ApiError,
        ApprovalNeeded,
        AuthError,
        BadAnswer,
        Blocked,
        ConfigError,
        Conflict,
        ConnectionFailed,
        DeadlineExceeded,
        HGMemError,
        InvalidRequest,
        NoDecision,
        NotFound,
        PermissionDenied,
        RateLimited,
        Refused,
        ServerError,
        TooLarge,
        TreatedAsError,
    )
    from hgmem.api.settings import Settings
    from hgmem.guarding.call import Call, Result
    from hgmem.guarding.guard import guard
    from hgmem.guarding.planning import aplan_hints, plan_hints
    from hgmem.guarding.running import abegin, arun_call, begin, run_call
    from hgmem.guarding.tasks import Task, current_task, task
    from hgmem.runtime.client import AsyncClient, Client
    from hgmem.runtime.default import configure, default_client
    from hgmem.runtime.verdict import Verdict

__all__ = [
    "ApiError",
    "ApprovalNeeded",
    "AsyncClient",
    "AuthError",
    "BadAnswer",
    "Blocked",
    "Call",
    "Client",
    "ConfigError",
    "Conflict",
    "ConnectionFailed",
    "DeadlineExceeded",
    "HGMemError",
    "InvalidRequest",
    "NoDecision",
    "NotFound",
    "PermissionDenied",
    "RateLimited",
    "Refused",
    "Result",
    "ServerError",
    "Settings",
    "Task",
    "TooLarge",
    "TreatedAsError",
    "Verdict",
    "__version__",
    "abegin",
    "aplan_hints",
    "arun_call",
    "begin",
    "configure",
    "current_task",
    "default_client",
    "guard",
    "plan_hints",
    "run_call",
    "task",
]

_PARTS: Final[dict[str, tuple[str, ...]]] = {
    "hgmem.api.errors": (
        "ApiError",
        "ApprovalNeeded",
        "AuthError",
        "BadAnswer",
        "Blocked",
        "ConfigError",
        "Conflict",
        "ConnectionFailed",
        "DeadlineExceeded",
        "HGMemError",
        "InvalidRequest",
        "NoDecision",
        "NotFound",
        "PermissionDenied",
        "RateLimited",
        "Refused",
        "ServerError",
        "TooLarge",
        "TreatedAsError",
    ),
    "hgmem.api.settings": ("Settings",),
    "hgmem.guarding.call": (
        "Call",
        "Result",
    ),
    "hgmem.guarding.guard": ("guard",),
    "hgmem.guarding.planning": (
        "aplan_hints",
        "plan_hints",
    ),
    "hgmem.guarding.running": (
        "abegin",
        "arun_call",
        "begin",
        "run_call",
    ),
    "hgmem.guarding.tasks": (
        "Task",
        "current_task",
        "task",
    ),
    "hgmem.runtime.client": (
        "AsyncClient",
        "Client",
    ),
    "hgmem.runtime.default": (
        "configure",
        "default_client",
    ),
    "hgmem.runtime.verdict": ("Verdict",),
}
_HOMES: Final = {name: home for home, names in _PARTS.items() for name in names}


def __getattr__(name: str) -> Any:
    """Load a part at its first use (PEP 562)."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'hgmem' has no attribute {name!r}")
    found = globals()[name] = getattr(importlib.import_module(home), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
