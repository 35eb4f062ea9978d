"""Reading a text for a complaint: by how it begins, or by a traceback that ends it."""

import http
import re

import msgspec

MAX_READ = 200_000
HTTP_FAILURES = {int(code): code.phrase for code in http.HTTPStatus if code >= http.HTTPStatus.BAD_REQUEST}


class Complaint(msgspec.Struct, frozen=True):
    """What an output says about its failure. ``is_exception``: it is the text of an exception."""

    message: str
    error_type: str = ""
    http_status: int | None = None
    is_exception: bool = False


def http_reason(status: int) -> str:
    """The standard phrase of a failing status (RFC 9110), empty for an unknown one."""
    return HTTP_FAILURES.get(status, "")


_ADJECTIVE = (
    r"(?:(?:a|an|the|validation|api|tool|runtime|execution|internal|server|client|request|network|connection"
    r"|pars(?:e|ing)|syntax|unexpected|unknown|fatal|critical|database|sql|query|system|import|value|key|type"
    r"|http|mcp|invalid|authentication|authorization|permission|timeout|compil(?:e|ation)|build|function"
    r"|argument|input|schema|rate limit)\s+){0,3}"
)
_DOING = (
    r"(?:while|when|during|executing|calling|running|invoking|processing|parsing|fetching|reading|writing|connecting"
    r"|loading|opening|sending|creating|updating|deleting|retrieving|getting|searching|decoding|occurred|in|at|from)"
)
_NUMBER = r"[±+-]?[0-9][0-9.,]*(?:e[+-]?[0-9]+)?\s*%?\s*(?:$|\n|[,;])"
_ERROR_TEXT = re.compile(
    rf"(?i)[^\w\s(\[{{<]{{0,3}}\s?\*{{0,2}}{_ADJECTIVE}(?:error|exception)\*{{0,2}}"
    rf"(?:\s*[:!\u2014\u2013]|\s-\s|\s+(?:code\s+)?-?[0-9]+\s*[:-]|\s*[\[(][^\])\n]{{1,60}}[\])]\s*:|\s+{_DOING}\b[^\n]{{0,200}}?:)"
    rf"\s*(?!{_NUMBER})(?!(?:none|null|no errors?|n/a|ok)\b\.?\s*$)(?P<rest>\S)"
)
_EXCEPTION = re.compile(
    r"(?P<type>(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Exceeded|Interrupt|Fault|Timeout|NotFound)|Traceback)"
    rf"(?:\s*[\[(][^\])\n]{{1,60}}[\])])?(?::\s*(?!{_NUMBER})(?=\S)|\s*$)"
)
_TRACEBACK = re.compile(r"(?:^|\n)Traceback \(most recent call last\):\n")
_LAST_LINE = re.compile(r"(?P<type>[A-Za-z_][\w.]*)(?::\s*(?P<message>.*))?$")
_HTTP_TEXT = re.compile(
    r"(?i)(?:https?(?:/[0-9.]+)?\s+(?:error\s+|status\s+(?:code\s+)?)?(?P<a>[45][0-9]{2})\b"
    r"|(?:error\s+)?(?P<b>[45][0-9]{2})[\s:-]+(?P<phrase>[a-z][a-z' -]+))"
)
_STATUS_IN_TEXT = re.compile(
    r"(?i)\b(?:status(?: code)?|http(?:/[0-9.]+)?(?: error)?|error code)[ :=]+"
    r"(?P<a>[45][0-9]{2})\b"
)
_FAILED_TEXT = re.compile(
    r"(?i)(?:failed|unable) to \w+|could(?: not|n't) \w+|(?:fatal|panic|uncaught \w+): |npm err! "
    r"|(?:the\s+)?(?:api\s+|tool\s+|http\s+)?(?:request|call|command|execution|query|operation|connection|tool"
    r"|invocation|authentication|validation|login|upload|download)\s+(?:has\s+)?(?:failed|timed out)\b"
    r"|(?:permission|access) denied\b|(?:connection )?timed out\b"
)
_REFUSAL_TEXT = re.compile(
    r"(?i)(?:invalid|unknown|unsupported|unrecogni[sz]ed|malformed|missing|unexpected)\s+(?:required\s+)?(?:\w+\s+){0,2}?"
    r"(?:parameter|argument|field|command|option|flag|key|token|request|format|input|syntax|tool|function|method"
    r"|operation|credentials|json|url|path|header|character)s?\b"
    r"|(?:please\s+)?(?:format|wrap|enter|specify|provide)\s+(?:your|the|an?)\b[^\n]{0,80}"
    r"\b(?:as follows|in the following format)\b"
)
_SHELL_TEXT = re.compile(
    r"[\w./-]{1,40}: [^\n]{1,200}: "
    r"(?:command not found|No such file or directory|Permission denied|not found)$"
)
_SHORT = 400


def read_text(text: str) -> Complaint | None:
    """Return the complaint a text makes, or None: by how it begins, or by a traceback that ends it."""
    text = text[:MAX_READ].strip()
    if not text:
        return None
    trace = _read_traceback(text)
    if trace:
        return trace
    exception = _EXCEPTION.match(text)
    if exception:
        return Complaint(message=text, error_type=exception["type"].rpartition(".")[2], is_exception=True)
    status = _status_of(text)
    if _ERROR_TEXT.match(text) or status is not None:
        return Complaint(message=text, http_status=status or _mentioned_status(text))
    first = text.partition("\n")[0]
    if len(text) <= _SHORT and (
        _FAILED_TEXT.match(text) or _REFUSAL_TEXT.match(text) or _SHELL_TEXT.fullmatch(first)
    ):
        return Complaint(message=text, http_status=_mentioned_status(text))
    return None


def _read_traceback(text: str) -> Complaint | None:
    every = list(_TRACEBACK.finditer(text))
    if not every:
        return None
    found = every[-1]
    last = _LAST_LINE.match(text[found.end() :].rstrip().rpartition("\n")[2])
    if last is None:
        return (
            Complaint(message=text[found.start() :].strip(), is_exception=True)
            if found.start() == 0
            else None
        )
    kind = last["type"].rpartition(".")[2]
    return Complaint(message=last.group(), error_type=kind, is_exception=True)


def _status_of(text: str) -> int | None:
    match = _HTTP_TEXT.match(text)
    if not match:
        return None
    status = int(match["a"] or match["b"])
    if match["a"]:
        return status
    said = match["phrase"].casefold().replace("-", " ")
    return status if said.startswith(http_reason(status).casefold().replace("-", " ") or "\0") else None


def _mentioned_status(text: str) -> int | None:
    match = _STATUS_IN_TEXT.search(text[:_SHORT])
    return int(match["a"]) if match else None
