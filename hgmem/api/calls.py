"""Every call of the API that the library makes, said once for the sync and the async client."""

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Any, Final, Generic, TypeVar, cast
from uuid import UUID

from hgmem.api.errors import BY_STATUS, ApiError, BadAnswer, RateLimited, ServerError
from hgmem.api.shapes import Corrections, ItemResult, Located, Me, Page, PathPrompt

T = TypeVar("T")
ROOT: Final = "/api/v1"
MAX_ANSWER_BYTES: Final = 32 * 1024 * 1024
MAX_RULESET_BYTES: Final = 512 * 1024 * 1024
MAX_DETAIL_CHARS: Final = 2_000
TRIES: Final = 3


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer: status, headers with names in lower case, body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Request(Generic[T]):
    """One call. ``may_repeat``: sending it twice changes nothing more, so a failed one is tried again."""

    method: str
    path: str
    read: Callable[[Answer], T]
    params: Mapping[str, str] = field(default_factory=dict)
    body: bytes | IO[bytes] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    may_repeat: bool = False
    max_bytes: int = MAX_ANSWER_BYTES


def get_corrections(context: Mapping[str, Any], *, explain: bool = False) -> Request[Corrections]:
    """``POST corrections/query``: not repeated, the caller waits for it."""
    asked = {**context, "explain": True} if explain else dict(context)
    return _post("/corrections/query", asked, lambda answer: cast(Corrections, _object(answer)))


def record_experience(
    documents: Mapping[str, Any] | Sequence[Mapping[str, Any]],
) -> Request[list[ItemResult]]:
    """``POST experiences``: one document or a list; safe to repeat, by external id and ``seq``."""
    many = [documents] if isinstance(documents, Mapping) else list(documents)
    return _post("/experiences", {"experiences": many}, _results, may_repeat=True)


def post_receipts(decisions: Sequence[Mapping[str, Any]]) -> Request[list[dict[str, Any]]]:
    """``POST receipts``: decisions that were made here; safe to repeat, by the receipts' uuid."""
    return _post("/receipts", {"receipts": list(decisions)}, _results, may_repeat=True)


def locate(goal: str, **options: Any) -> Request[Located]:
    """``POST paths/locate``. Options: nodes, tags, filters, top_k, min_score, task, env, prompt_tokens."""
    question = {"goal": goal, **{name: value for name, value in options.items() if value is not None}}
    return _post("/paths/locate", question, lambda answer: cast(Located, _object(answer)))


def judge_task(uuid: str, outcome: Mapping[str, Any]) -> Request[dict[str, Any]]:
    """``POST experiences/{uuid}/outcomes``: how a task ended, said later or by somebody else."""
    return _post(f"/experiences/{UUID(uuid)}/outcomes", outcome, _object)


def whoami() -> Request[Me]:
    """``GET me``."""
    return _get("/me", lambda answer: cast(Me, _object(answer)))


def get_path(uuid: str) -> Request[dict[str, Any]]:
    """``GET paths/{uuid}``."""
    return _get(f"/paths/{UUID(uuid)}", _object)


def get_path_prompt(uuid: str, tokens: int | None = None) -> Request[PathPrompt]:
    """``GET paths/{uuid}/prompt``: the path as text for a model, at most so many tokens."""
    return _get(
        f"/paths/{UUID(uuid)}/prompt", lambda answer: cast(PathPrompt, _object(answer)), tokens=tokens
    )


def list_paths(**filters: Any) -> Request[Page]:
    """``GET paths``: a page."""
    return _get("/paths", lambda answer: cast(Page, _object(answer)), **filters)


def get_rule(uuid: str) -> Request[dict[str, Any]]:
    """``GET rules/{uuid}``."""
    return _get(f"/rules/{UUID(uuid)}", _object)


def list_rules(**filters: Any) -> Request[Page]:
    """``GET rules``: a page."""
    return _get("/rules", lambda answer: cast(Page, _object(answer)), **filters)


def get_experience(uuid: str, after_seq: int | None = None) -> Request[dict[str, Any]]:
    """``GET experiences/{uuid}``: a task with its calls."""
    return _get(f"/experiences/{UUID(uuid)}", _object, after_seq=after_seq)


def list_experiences(**filters: Any) -> Request[Page]:
    """``GET experiences``: a page, newest first."""
    return _get("/experiences", lambda answer: cast(Page, _object(answer)), **filters)


def get_ruleset(etag: str = "") -> Request[Answer]:
    """``GET ruleset``: the answer as it came, 200 or (when ``etag`` is still current) 304."""
    headers = {"If-None-Match": etag} if etag else {}
    return Request(
        "GET", f"{ROOT}/ruleset", lambda answer: answer, headers=headers, max_bytes=MAX_RULESET_BYTES
    )


def upload_import(file: IO[bytes], name: str, format_name: str = "") -> Request[dict[str, Any]]:
    """``POST imports``: a file of recorded runs, streamed; the answer holds the plan."""
    params = {"file_name": name, **({"format": format_name} if format_name else {})}
    headers = {"Content-Type": "application/octet-stream"}
    return Request("POST", f"{ROOT}/imports", _object, params=params, body=file, headers=headers)


def get_import(uuid: str) -> Request[dict[str, Any]]:
    """``GET imports/{uuid}``: how far an import is."""
    return _get(f"/imports/{UUID(uuid)}", _object)


def apply_import(uuid: str) -> Request[dict[str, Any]]:
    """``POST imports/{uuid}/apply``: record the runs of a planned import."""
    return _post(f"/imports/{UUID(uuid)}/apply", {}, _object)


def read_answer(request: Request[T], answer: Answer) -> T:
    """What the call gives. Raises the :class:`ApiError` of the status, BadAnswer for what is none of ours."""
    if 200 <= answer.status < 300 or answer.status == 304:
        try:
            return request.read(answer)
        except (ValueError, KeyError, TypeError) as error:
            raise BadAnswer(f"The server's answer cannot be read: {error}"[:MAX_DETAIL_CHARS]) from None
    raise _refusal(answer)


def wait_before_retry(error: Exception, attempt: int) -> float | None:
    """Seconds until a call that may be repeated is tried again, None for never."""
    if attempt >= TRIES or not isinstance(error, ServerError | RateLimited):
        return None
    told = error.retry_after_s
    if told > 30:
        return None
    return max(told, 0.1 * float(2**attempt)) * (1 + random.random() * 0.2)  # noqa: S311 - spreads load


def _refusal(answer: Answer) -> ApiError:
    try:
        said = json.loads(answer.body)
    except ValueError:
        said = {}
    said = said if isinstance(said, dict) else {}
    kind = ServerError if answer.status >= 500 else BY_STATUS.get(answer.status, ApiError)
    fields = said.get("errors") or []
    detail = str(said.get("detail") or f"The server answered {answer.status}.")[:MAX_DETAIL_CHARS]
    where = "; ".join(f"{item['field']}: {item['detail']}" for item in fields[:5] if _is_field(item))
    error = kind(
        f"{detail} ({where})" if where else detail,
        status=answer.status, code=str(said.get("code") or ""), fields=[f for f in fields if _is_field(f)],
    )  # fmt: skip
    if isinstance(error, RateLimited | ServerError):
        error.retry_after_s = _seconds(answer.headers.get("retry-after", ""), error.retry_after_s)
    return error


def _is_field(item: Any) -> bool:
    return isinstance(item, dict) and "field" in item and "detail" in item


def _seconds(text: str, default: float) -> float:
    try:
        return min(max(float(text), 0.0), 3_600.0)
    except ValueError:
        return default


def _get(path: str, read: Callable[[Answer], T], **params: Any) -> Request[T]:
    said = {name: str(value) for name, value in params.items() if value is not None}
    return Request("GET", ROOT + path, read, params=said, may_repeat=True)


def _post(
    path: str, document: Mapping[str, Any], read: Callable[[Answer], T], *, may_repeat: bool = False
) -> Request[T]:
    body = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    return Request(
        "POST", ROOT + path, read, body=body.encode("utf-8", "surrogatepass"),
        headers={"Content-Type": "application/json"}, may_repeat=may_repeat,
    )  # fmt: skip


def _object(answer: Answer) -> dict[str, Any]:
    found = json.loads(answer.body)
    if not isinstance(found, dict):
        raise TypeError("it is no object")
    return found


def _results(answer: Answer) -> list[Any]:
    results = _object(answer)["results"]
    if not isinstance(results, list):
        raise TypeError("results is no list")
    return results
