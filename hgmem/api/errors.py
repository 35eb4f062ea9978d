"""Every error of the library.

What goes wrong between this process and the server derives from :class:`HGMemError` directly; what rules say
to a caller of a guarded tool from :class:`Refused`, whose text is made for a model to act on.
"""

from typing import Any


class HGMemError(Exception):
    """Anything that this library raises of its own."""


class ConfigError(HGMemError):
    """A setting is missing or wrong; the text names it and says what to do."""


class ConnectionFailed(HGMemError):
    """No answer: the server is away, the connection was cut, or the certificate is wrong. Try again later."""


class DeadlineExceeded(ConnectionFailed):
    """No answer in the time that was given."""


class BadAnswer(HGMemError):
    """What came back is no answer of this API: too large, no JSON, another shape. Check the URL."""


class ApiError(HGMemError):
    """The server refused. ``status`` is HTTP's, ``code`` the API's word, ``fields`` the wrong fields.

    ``fields``: a list of ``{"field", "detail"}``; empty where the refusal is about no field.
    """

    def __init__(self, detail: str, *, status: int = 0, code: str = "", fields: Any = ()) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.fields: list[dict[str, str]] = [dict(field) for field in fields or ()]

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), str(self), self.__dict__)


class AuthError(ApiError):
    """401: the key is unknown, revoked or expired. Make another one on the page *Keys*."""


class PermissionDenied(ApiError):
    """403: the key lacks the scope, or people only may do this."""


class NotFound(ApiError):
    """404: there is no such thing in the key's workspace."""


class Conflict(ApiError):
    """409: it contradicts what is there: another version, or a recorded call with other content."""


class TooLarge(ApiError):
    """413: send less at once."""


class InvalidRequest(ApiError):
    """400 or 422: something in the request is wrong; ``fields`` says where."""


class RateLimited(ApiError):
    """429: too many requests; ``retry_after_s`` seconds later there is room again."""

    retry_after_s: float = 1.0


class ServerError(ApiError):
    """5xx: the server could not; ``retry_after_s`` is 0 where it did not say when to try again."""

    retry_after_s: float = 0.0


class Refused(HGMemError):
    """A guarded call was not made. ``str()`` tells a model why, and what to do instead."""


class Blocked(Refused):
    """A rule refuses the call."""


class ApprovalNeeded(Refused):
    """A rule wants a person to agree before the call, and nobody did."""


class NoDecision(Refused):
    """The tool is one that fails closed, and no decision could be had in time."""


class TreatedAsError(HGMemError):
    """The call was made, and a rule says that its output means a failure."""


BY_STATUS: dict[int, type[ApiError]] = {
    400: InvalidRequest,
    401: AuthError,
    403: PermissionDenied,
    404: NotFound,
    409: Conflict,
    413: TooLarge,
    422: InvalidRequest,
    429: RateLimited,
}
"""The error of a status; 5xx are :class:`ServerError`, anything else plain :class:`ApiError`."""


def _rebuild(kind: type[ApiError], detail: str, state: dict[str, Any]) -> ApiError:
    error = kind(detail)
    error.__dict__.update(state)
    return error
