"""Which names of fields say that the value is a secret."""

import re

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PASSWORD = re.compile(r"pass_?wo?r?d|passphrase|(?:^|_)pwd(?:_|$)|(?:^|_)pass$")
_SECRET = re.compile(
    r"(?:^|_)secrets?(?:_(?:access_)?key|_value|_id)?$|api_?keys?$|access_?key(?:_id|s)?$|private_?key$"
    r"|(?:^|_)authorization$|(?:^|_)(?:set_)?cookies?$|(?:^|_)credentials?$|(?:^|_)cvv2?$|(?:^|_)cvc2?$"
    r"|(?:^|_)session_?id$|(?:^|_)otp$|(?:^|_)pin(?:_code)?$|(?:^|_)(?:encryption|signing|master)_key$"
)
_TOKEN = re.compile(r"(?:^|_)?token(?:_value)?$")
_COUNTER = re.compile(
    r"(?:page|next|previous|prev|continuation|sync|cursor|stop|eos|bos|pad|unk|mask|sep|cls|special|max|min|per"
    r"|total|unexpected|invalid|start|end|first|last|by|of)[_ -]?(?:page[_ -]?)?token"
)


def plain_name(name: str) -> str:
    """A field's name in lower case words joined by ``_``: ``apiKey``, ``API-Key`` -> ``api_key``."""
    return _CAMEL.sub("_", name).lower().replace("-", "_").replace(" ", "_").replace(".", "_")


def field_kind(plain: str) -> str:
    """``password``, ``secret`` or ``token`` for a plain name that says its value is one, else empty."""
    if _PASSWORD.search(plain):
        return "password"
    if _SECRET.search(plain):
        return "secret"
    return "token" if _TOKEN.search(plain) and not is_counter(plain) else ""


def is_counter(name: str) -> bool:
    """Whether a name with "token" in it means a count, a cursor or a piece of text, not a secret."""
    return _COUNTER.search(name) is not None
