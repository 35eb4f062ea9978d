"""Reading a tool's output for a complaint: does the output *say* that the call failed?

The rules know conventions (HTTP, JSON-RPC and MCP, GraphQL, exceptions, shells), no tool and no
vendor. They look at the beginning of a text and at the top of a document only: an output that merely
mentions errors, lists them, or reports a margin of error is an answer, not a complaint.
"""

import ast
import http
import re
from typing import Any

import msgspec

MAX_READ = 200_000
MAX_LITERAL = 20_000
_HTTP_FAILURES = {int(code): code.phrase for code in http.HTTPStatus if code >= http.HTTPStatus.BAD_REQUEST}
_FIRST_FAILURE, _LAST_FAILURE = 400, 599


class Complaint(msgspec.Struct, frozen=True):
    """What an output says about its failure. ``is_exception``: it is the text of an exception."""

    message: str
    error_type: str = ""
    http_status: int | None = None
    is_exception: bool = False


def http_reason(status: int) -> str:
    """The standard phrase of a failing status (RFC 9110), empty for an unknown one."""
    return _HTTP_FAILURES.get(status, "")


def read_output(output: Any) -> Complaint | None:
    """Return the complaint an output makes, or None. Strings that hold JSON are read as JSON."""
    if isinstance(output, str):
        text = output[:MAX_READ].strip()
        value = _parsed(text)
        return read_text(text) if value is None else read_output(value)
    if isinstance(output, dict):
        return read_text(str(output.get("preview", ""))) if "$payload" in output else _read_document(output)
    if isinstance(output, list) and output and all(_is_text_block(item) for item in output):
        return read_text(_block_text(output))
    return None


def _parsed(text: str) -> dict[str, Any] | list[Any] | None:
    if text[:1] not in ("{", "["):
        return None
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        if not text.startswith("{'") or len(text) > MAX_LITERAL:
            return None
        try:
            value = ast.literal_eval(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            return None
    return value if isinstance(value, dict | list) else None


# Documents

_SUCCESS = ("success", "ok", "succeeded", "successful")
_STATUS_CODES = ("statusCode", "status_code", "http_status", "httpStatus", "httpStatusCode", "http_code")
_MESSAGES = (
    "message",
    "error_message",
    "errorMessage",
    "msg",
    "detail",
    "reason",
    "error_description",
    "title",
)
_TYPES = ("type", "error_type", "errorType", "code", "name", "error_code", "errorCode", "status")
_EMPTY = frozenset(
    {"", "none", "null", "nil", "no", "no error", "no errors", "ok", "false", "n/a", "0", "success"}
)


def _read_document(doc: dict[Any, Any]) -> Complaint | None:
    if doc.get("isError") is True or doc.get("is_error") is True:
        return complaint_of(doc) or Complaint(message=_block_text(doc.get("content")))
    if any(doc.get(name) is True for name in _SUCCESS):
        return None
    status = _http_status(doc)
    if (
        status is not None
        or any(doc.get(name) is False for name in _SUCCESS)
        or _says_failed(doc)
        or _is_error_value(doc.get("error"))
        or _is_error_list(doc.get("errors"))
    ):
        said = complaint_of(doc) or Complaint(message=_phrase(doc, status))
        return msgspec.structs.replace(said, http_status=status or said.http_status)
    return _read_trace(doc) or _read_exit(doc)


def _http_status(doc: dict[Any, Any]) -> int | None:
    for name in _STATUS_CODES:
        value = doc.get(name)
        if _is_failing(value):
            return int(value)
    status = doc.get("status")
    if type(status) is int and status in _HTTP_FAILURES:
        return status
    code = doc.get("code")
    if type(code) is int and code in _HTTP_FAILURES and _text_of(doc, _MESSAGES) and not doc.get("data"):
        return code
    return None


def _is_failing(value: Any) -> bool:
    if isinstance(value, str) and value.isdigit() and len(value) == 3:  # noqa: PLR2004 - three digits, RFC 9110
        value = int(value)
    return type(value) is int and _FIRST_FAILURE <= value <= _LAST_FAILURE


def _says_failed(doc: dict[Any, Any]) -> bool:
    """``status: error`` alone, ``status: failed`` only with an explanation: orders fail, too."""
    for name in ("status", "type", "result", "outcome"):
        value = doc.get(name)
        word = value.casefold() if isinstance(value, str) else ""
        explained = bool(_text_of(doc, _MESSAGES)) or _is_error_value(doc.get("error"))
        if word in ("error", "exception") and (name == "status" or explained):
            return True
        if word in ("failed", "failure", "fail") and name != "type" and explained:
            return True
    return False


def _is_error_value(value: Any) -> bool:
    if isinstance(value, str):
        return value.strip().casefold() not in _EMPTY
    if isinstance(value, dict):
        return any(value.get(name) not in (None, "", 0) for name in (*_MESSAGES, "code", "type", "error"))
    return value is True or (isinstance(value, list) and _is_error_list(value))


def _is_error_list(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(item, dict) and bool(_text_of(item, _MESSAGES)) for item in value)
    )


def complaint_of(doc: dict[Any, Any]) -> Complaint | None:
    """The message and type a failing document carries, from its error or its own fields; None without a message."""
    error = doc.get("error")
    if isinstance(error, list) and error:
        error = error[0]
    errors = doc.get("errors")
    if not error and isinstance(errors, list) and errors:
        error = errors[0]
    if isinstance(error, dict):
        inner = complaint_of(error)
        message = inner.message if inner else ""
        if message:
            return Complaint(message=message, error_type=inner.error_type if inner else "")
    text = error if isinstance(error, str) and error.strip().casefold() not in _EMPTY else ""
    message = text if " " in text else (_text_of(doc, _MESSAGES) or text)
    if not message:
        return None
    kind = text if text and text != message else _type_of(doc)
    read = read_text(message)
    status = read.http_status if read else None
    return Complaint(
        message=message, error_type=kind or (read.error_type if read else ""), http_status=status
    )


def _type_of(doc: dict[Any, Any]) -> str:
    for name in _TYPES:
        value = doc.get(name)
        if (
            isinstance(value, str)
            and 0 < len(value) <= 80
            and value.casefold() not in ("error", "failed", "failure")
        ):  # noqa: PLR2004
            return value
        if name != "status" and type(value) is int and value not in _HTTP_FAILURES and value:
            return str(value)
    return ""


def _text_of(doc: dict[Any, Any], names: tuple[str, ...]) -> str:
    for name in names:
        value = doc.get(name)
        if isinstance(value, str) and value.strip():
            return value.strip()
    return ""


def _phrase(doc: dict[Any, Any], status: int | None) -> str:
    if status is not None:
        return f"HTTP {status} {http_reason(status)}".strip()
    return (
        msgspec.json.encode(doc).decode()[:300] if len(doc) <= 20 else "The output says that the call failed."
    )  # noqa: PLR2004


def _read_trace(doc: dict[Any, Any]) -> Complaint | None:
    for name in ("exception", "traceback", "stack_trace", "stacktrace"):
        value = doc.get(name)
        if isinstance(value, str) and value.strip().casefold() not in _EMPTY:
            read = read_text(value.strip())
            return read or Complaint(message=_text_of(doc, _MESSAGES) or value.strip(), is_exception=True)
    return None


def _read_exit(doc: dict[Any, Any]) -> Complaint | None:
    """A process that ended with another code than 0 and wrote to stderr."""
    for name in ("exit_code", "exitCode", "returncode", "return_code"):
        code = doc.get(name)
        complaint = doc.get("stderr")
        if type(code) is int and code and isinstance(complaint, str) and complaint.strip():
            return Complaint(message=complaint.strip(), error_type=f"exit {code}")
    return None


def _is_text_block(item: Any) -> bool:
    return isinstance(item, dict) and item.get("type") == "text" and isinstance(item.get("text"), str)


def _block_text(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(item["text"] for item in content if _is_text_block(item)).strip()
    return content.strip() if isinstance(content, str) else ""


# Texts

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
    rf"(?:\s*[:!—–]|\s-\s|\s+(?:code\s+)?-?[0-9]+\s*[:-]|\s*[\[(][^\])\n]{{1,60}}[\])]\s*:|\s+{_DOING}\b[^\n]{{0,200}}?:)"
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
    r"(?i)\b(?:status(?: code)?|http(?:/[0-9.]+)?(?: error)?|error code)[ :=]+(?P<a>[45][0-9]{2})\b"
)
_FAILED_TEXT = re.compile(
    r"(?i)(?:failed|unable) to \w+|could(?: not|n't) \w+|(?:fatal|panic|uncaught \w+): |npm err! "
    r"|(?:the\s+)?(?:api\s+|tool\s+|http\s+)?(?:request|call|command|execution|query|operation|connection|tool"
    r"|invocation|authentication|validation|login|upload|download)\s+(?:has\s+)?(?:failed|timed out)\b"
    r"|(?:permission|access) denied\b|(?:connection )?timed out\b"
)
_SHELL_TEXT = re.compile(
    r"[\w./-]{1,40}: [^\n]{1,200}: (?:command not found|No such file or directory|Permission denied|not found)$"
)
_SHORT = 400


def read_text(text: str) -> Complaint | None:
    """Return the complaint a text makes, or None. Only how a text begins, or a traceback that ends it, counts."""
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
    if len(text) <= _SHORT and (_FAILED_TEXT.match(text) or _SHELL_TEXT.fullmatch(first)):
        return Complaint(message=text, http_status=_mentioned_status(text))
    return None


def _read_traceback(text: str) -> Complaint | None:
    found = None
    for found in _TRACEBACK.finditer(text):
        pass
    if found is None:
        return None
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
