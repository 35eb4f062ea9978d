"""Reading a tool's output for a complaint: does the output *say* that the call failed?

The rules know conventions (HTTP, JSON-RPC and MCP, GraphQL, exceptions, shells), no tool and no
vendor. They look at the beginning of a text and at the top of a document only: an output that merely
mentions errors, lists them, or reports a margin of error is an answer, not a complaint.
"""

import ast
from typing import Any

import msgspec

from memory.domain.error_texts import HTTP_FAILURES, MAX_READ, Complaint, http_reason, read_text

MAX_LITERAL = 20_000
_MAX_TYPE, _FEW_FIELDS = 80, 20
_FIRST_FAILURE, _LAST_FAILURE = 400, 599


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
            return int(str(value))
    status = doc.get("status")
    if type(status) is int and status in HTTP_FAILURES:
        return status
    code = doc.get("code")
    if type(code) is int and code in HTTP_FAILURES and _text_of(doc, _MESSAGES) and not doc.get("data"):
        return code
    return None


def _is_failing(value: Any) -> bool:
    if isinstance(value, str) and value.isdigit() and len(value) == 3:  # three digits, RFC 9110
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
    """The message and type a failing document carries, from its error or its own fields."""
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
            and 0 < len(value) <= _MAX_TYPE
            and value.casefold() not in ("error", "failed", "failure")
        ):
            return value
        if name != "status" and type(value) is int and value not in HTTP_FAILURES and value:
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
        msgspec.json.encode(doc).decode()[:300]
        if len(doc) <= _FEW_FIELDS
        else "The output says that the call failed."
    )


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
