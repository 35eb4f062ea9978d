"""What secrets look like in strings, and a first look at whole JSON that says where to look closer.

The first look is one RE2 set over the encoded JSON (about a microsecond a kilobyte) that says which
detectors could find anything. The detectors are Python expressions written with possessive
quantifiers or bounded repeats, so that no text makes them slow; expressions that others write are
RE2, which is linear by construction.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

import re2

from memory.domain.cards import replace_cards
from memory.domain.field_names import is_counter

Replace = Callable[[str, str], str]

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
MAX_PATTERN_LENGTH = 500


class InvalidPatternError(ValueError):
    """A workspace's pattern that cannot be used, with the reason."""


class Detector(NamedTuple):
    """Finds secrets of one kind in a text; ``replace`` hands each to a callback."""

    name: str
    replace: Callable[[str, Replace], str]


def _scan(
    text: str, pattern: re.Pattern[str], stems: tuple[str, ...], render: Callable[[re.Match[str]], str]
) -> str:
    """``pattern.sub`` for expressions that can only begin at one of the (lower case) ``stems``.

    Looking for the stems first is many times faster than trying an expression at every character.
    """
    folded = text.lower()
    if len(folded) != len(text):  # a few letters change their length
        return pattern.sub(render, text)
    places: set[int] = set()
    for stem in stems:
        place = folded.find(stem)
        while place >= 0:
            places.add(place)
            place = folded.find(stem, place + 1)
    parts, last = [], 0
    for place in sorted(places):
        match = pattern.match(text, place) if place >= last else None
        if match:
            parts += [text[last:place], render(match)]
            last = match.end()
    return "".join((*parts, text[last:])) if parts else text


def _simple(kind: str, source: str, *, stems: tuple[str, ...], flags: int = 0) -> Detector:
    """A detector whose whole match is the secret, or the group that took part, where there is one."""
    pattern = re.compile(source, flags)

    def replace(text: str, put: Replace) -> str:
        def one(match: re.Match[str]) -> str:
            whole, origin = match.group(), match.start()
            if match.lastindex is None:
                return put(kind, whole)
            start, end = match.span(match.lastindex)
            return whole[: start - origin] + put(kind, text[start:end]) + whole[end - origin :]

        return _scan(text, pattern, stems, one) if stems else pattern.sub(one, text)

    return Detector(kind, replace)


_PRIVATE_KEY = _simple(
    "private_key",
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:.*?-----END [A-Z0-9 ]{0,40}PRIVATE KEY"
    r"(?: BLOCK)?-----|.*)",
    stems=("-----begin",),
    flags=re.DOTALL,
)
_JWT = _simple(
    "jwt",
    r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{6,}+\.[A-Za-z0-9_-]{4,}+(?:\.[A-Za-z0-9_-]*+)?",
    stems=("eyj",),
)
_VENDOR_KEY = _simple(
    "api_key",
    r"(?<![A-Za-z0-9])(?:"
    r"sk-(?=[A-Za-z_-]*+[0-9])[A-Za-z0-9_-]{16,}+"
    r"|(?:sk|rk|pk|whsec)_(?:live_|test_)?(?=[A-Za-z_]*+[0-9])[A-Za-z0-9]{16,}+"
    r"|gh[pousr]_[A-Za-z0-9]{20,}+|github_pat_[A-Za-z0-9_]{20,}+|glpat-[A-Za-z0-9_-]{16,}+"
    r"|(?:AKIA|ASIA|AGPA|AIDA|AROA|ANPA)[A-Z0-9]{16}(?![A-Z0-9])"
    r"|xox[a-z]-[A-Za-z0-9-]{10,}+|xapp-[A-Za-z0-9-]{10,}+"
    r"|AIza[A-Za-z0-9_-]{30,}+|ya29\.[A-Za-z0-9_-]{16,}+"
    r"|(?:hf|gsk|npm|xai|r8|dop_v1|shpat|shpss|lin_api|pypi|nvapi|tskey|sbp)[_-][A-Za-z0-9_-]{20,}+"
    r"|SG\.[A-Za-z0-9_-]{16,}+\.[A-Za-z0-9_-]{16,}+"
    r"|hgm_[A-Za-z0-9_-]{12,}+"
    r")",
    stems=(
        *(
            "sk-",
            "sk_",
            "rk_",
            "pk_",
            "whsec_",
            "ghp_",
            "gho_",
            "ghu_",
            "ghs_",
            "ghr_",
            "github_pat_",
            "glpat-",
        ),
        *("akia", "asia", "agpa", "aida", "aroa", "anpa", "xox", "xapp-", "aiza", "ya29.", "sg.", "hgm_"),
        *("hf_", "hf-", "gsk", "npm", "xai", "r8", "dop_v1", "shpat", "shpss", "lin_api", "pypi", "nvapi"),
        *("tskey", "sbp"),
    ),
)
_BEARER = _simple(
    "token",
    r"(?i)(?<![a-z0-9])(?:bearer|basic|token)[ \t]{1,4}((?=[a-z._~+/=-]{0,60}[0-9]|[a-z._~+/=-]{24})"
    r"[a-z0-9._~+/=-]{16,}+)",
    stems=("bearer", "basic", "token"),
)
_HEADER = _simple(
    "secret",
    r"(?i)(?:authorization\\{0,3}[\"']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,3}[\"']?"
    r"(?:basic|bearer|digest|token|apikey)[ \t]{1,4}([^\s\"'\\,;]{4,}+)"
    r"|(?<![a-z])cookie2?:[ \t]{0,4}(?=[^\r\n\"'=]{1,200}=)([^\r\n\"'\\]{3,}+))",
    stems=("authorization", "cookie"),
)
_URL_CREDENTIALS = _simple(
    "url_credentials",
    r"://((?:[^\s/?#:@\"'<>\\]{0,200}:[^\s/?#\"'<>\\]{0,400}|[^\s/?#:@\"'<>\\]{16,400}))(?=@[^\s@])",
    stems=("://",),
)
_EMAIL = _simple(
    "email",
    r"(?<![A-Za-z0-9._%+-])(?!git@)[A-Za-z0-9._%+-]++@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,62})\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9])",
    stems=(),
)

_WORDS_BEFORE = re.compile(r"[A-Za-z_ -]*\Z")
_OPTION = re.compile(r"(?<![\w-])--[\w-]*\Z")
# Each begins with one of its stems: what stands before (``client_``, ``access_``) does not matter.
_PASSWORDS = (r"passw(?:or)?d|passphrase|pwd", ("passw", "passphrase", "pwd"))
_SECRETS = (
    r"secret|(?:(?<=api)|(?<=api[_-])|(?<=access)|(?<=access[_-])|(?<=private)|(?<=private[_-]))key"
    r"|credentials?|authorization|cookie",
    ("secret", "key", "credential", "authorization", "cookie"),
)
_TOKENS = (r"token", ("token",))


def _words_around(text: str, match: re.Match[str], group: str) -> str:
    """The name of an assignment with the words before it, in lower case."""
    origin = match.start()
    before = _WORDS_BEFORE.search(text, max(0, origin - 20), origin)
    return ((before.group() if before else "") + text[origin : match.start(group)]).lower()


def _assignment(kind: str, names: tuple[str, tuple[str, ...]], value: str) -> Detector:
    """``name=value``, ``"name": "value"`` (escaped or not) and ``--name value`` inside a text."""
    words, stems = names
    name = rf"(?:{words})[A-Za-z0-9_-]{{0,30}}+"
    quoted = (
        rf"{name}(?P<e>\\{{0,3}}[\"'])[ \t]{{0,4}}[:=][ \t]{{0,4}}(?P<q>\\{{0,3}}[\"'])"
        r"(?P<a>(?:(?!(?P=q)).){1,4000}?)(?=(?P=q))"
    )
    plain = rf"{name}[ \t]{{0,4}}[:=][ \t]{{0,4}}(?P<o>[\"'])(?P<b>(?:(?!(?P=o)).){{1,4000}}?)(?=(?P=o))"
    bare = rf"{name}(?:=|:[ \t]{{0,4}}(?=[^\s,;&\"']{{0,60}}[0-9])|[ \t]{{1,4}}=[ \t]{{1,4}})(?P<c>{value})"
    option = rf"{name}[ \t](?P<d>{value})"
    pattern = re.compile(rf"(?i)(?:{quoted}|{plain}|{bare}|{option})", re.DOTALL)

    def one_of(match: re.Match[str]) -> str:
        return next(group for group in "abcd" if match.group(group) is not None)

    def replace(text: str, put: Replace) -> str:
        def one(match: re.Match[str]) -> str:
            group = one_of(match)
            found, whole, origin = match.group(group), match.group(), match.start()
            if group == "d" and not _OPTION.search(text, max(0, origin - 34), origin):
                return whole
            if kind == "token" and (found.isdigit() or is_counter(_words_around(text, match, group))):
                return whole
            start, end = match.start(group) - origin, match.end(group) - origin
            return whole[:start] + put(kind, found) + whole[end:]

        return _scan(text, pattern, stems, one)

    return Detector(kind, replace)


_ASSIGNED_PASSWORD = _assignment("password", _PASSWORDS, r"[^\s,;&\"'<>\\]{1,400}+")
_ASSIGNED_SECRET = _assignment("secret", _SECRETS, r"[^\s,;&\"'<>\\]{4,2000}+")
_ASSIGNED_TOKEN = _assignment("token", _TOKENS, r"[A-Za-z0-9._~+/=-]{16,2000}+")

_CARD = Detector("card", replace_cards)

# What the first look searches in encoded JSON -> the detectors it switches on. None: field names only.
_LOOKS: tuple[tuple[str, tuple[Detector, ...]], ...] = (
    (r"PRIVATE KEY", (_PRIVATE_KEY,)),
    (r"://[^ /?#\"]*@", (_URL_CREDENTIALS,)),
    (r"(?i)pass[_ .-]?w|passp|pwd", (_ASSIGNED_PASSWORD,)),
    (
        r"(?i)secret|(?:api|access|private|encryption|signing|master)[_ .-]?key|credential|authorization"
        r"|cookie",
        (_HEADER, _ASSIGNED_SECRET),
    ),
    (r"(?i)token", (_ASSIGNED_TOKEN,)),
    (r"(?i)(?:bearer|basic|token)[ \\]", (_BEARER,)),
    (r"eyJ", (_JWT,)),
    (
        r"sk-|(?:sk|rk|pk|whsec)_|gh[pousr]_|github_pat_|glpat-|A[KSGIRN][IPDO]A[A-Z0-9]{16}|xox[a-z]-|xapp-"
        r"|AIza|ya29\.|(?:hf|gsk|npm|xai|r8|dop_v1|shpat|shpss|lin_api|pypi|nvapi|tskey|sbp)[_-][A-Za-z0-9_-]{20}"
        r"|SG\.|hgm_",
        (_VENDOR_KEY,),
    ),
    (r"(?i)pass\":|cvv|cvc|\bpin\b|_pin\b|\bpin_|session[_ .-]?id|otp", ()),
    (r"@", (_EMAIL,)),
    (r"[0-9](?:[ -]?[0-9]){12}", (_CARD,)),
)
_FIELDS_ONLY = Detector("", lambda text, put: text)


def _compile_looks() -> "re2.Set":
    looks = re2.Set.SearchSet()
    for source, _ in _LOOKS:
        looks.Add(source)
    looks.Compile()
    return looks


_looks = _compile_looks()


def candidates(encoded: bytes) -> tuple[Detector, ...]:
    """The detectors that could find something in this JSON, in the order to run them; often none."""
    hits = _looks.Match(encoded)
    if not hits:
        return ()
    found = tuple(detector for hit in sorted(hits) for detector in _LOOKS[hit][1])
    return found or (_FIELDS_ONLY,)


def compile_pattern(name: str, source: str) -> Detector:
    """A workspace's own pattern. RE2 keeps it linear; length and name are checked here.

    Raises InvalidPatternError.
    """
    if not _NAME.fullmatch(name):
        raise InvalidPatternError(f"The name {name!r} must be lower case letters, digits and _, at most 40.")
    if not source or len(source) > MAX_PATTERN_LENGTH:
        raise InvalidPatternError(f"{name}: an expression has 1 to {MAX_PATTERN_LENGTH} characters.")
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 1 << 20
    try:
        pattern = re2.compile(source, options)
    except re2.error as error:
        raise InvalidPatternError(f"{name}: not an RE2 expression: {error}") from error
    if pattern.search("") is not None:
        raise InvalidPatternError(f"{name}: the expression matches an empty text.")

    def replace(text: str, put: Replace) -> str:
        return str(pattern.sub(lambda match: put(name, match.group()) if match.group() else "", text))

    return Detector(name, replace)
