"""What an agent asks the path memory, checked: sizes, types, ranges; every refusal names its field."""

from datetime import datetime
from typing import Annotated, Any

import msgspec

from memory.domain.experience import short_text, tag, type_name
from memory.domain.intake import FieldError, field_error
from memory.domain.paths.document import PathLevel
from memory.domain.plain_json import MAX_DEPTH, is_too_deep, storable

MAX_TOP_K = 20
MAX_PROMPT_TOKENS = 20_000
MAX_ENV_BYTES = 16_384

share = Annotated[float, msgspec.Meta(ge=0, le=1)]
moment = Annotated[datetime, msgspec.Meta(tz=True)]


class InvalidQuestionError(ValueError):
    """A question, or a word about an answer, that cannot be accepted; ``errors`` name the fields."""

    def __init__(self, *errors: FieldError) -> None:
        super().__init__("; ".join(f"{error.field}: {error.detail}" for error in errors))
        self.errors = errors


class PathFilters(msgspec.Struct, forbid_unknown_fields=True, frozen=True, omit_defaults=True):
    """Which paths may be answered. Empty means any; the time is when the path was made."""

    tool: short_text = ""
    tag: short_text = ""
    agent: short_text = ""
    level: PathLevel | None = None
    since: moment | None = None
    until: moment | None = None


class Question(msgspec.Struct, forbid_unknown_fields=True, frozen=True, omit_defaults=True):
    """Which whole path fits? A goal, tags, or the nodes walked so far (names or tools, in order).

    ``min_score`` is the workspace's own unless given. ``task`` is the external id of the task it is asked
    for: the answer is tied to its outcome. ``env`` is kept beside the question. With ``prompt_tokens``
    the best path comes as a text for a prompt too, of at most about so many tokens.
    """

    goal: Annotated[str, msgspec.Meta(max_length=20_000)] = ""
    tags: Annotated[list[tag], msgspec.Meta(max_length=50)] = []
    nodes: Annotated[list[type_name], msgspec.Meta(max_length=100)] = []
    filters: PathFilters = PathFilters()
    top_k: Annotated[int, msgspec.Meta(ge=1, le=MAX_TOP_K)] = 3
    min_score: share | None = None
    task: short_text = ""
    env: dict[str, Any] = {}
    prompt_tokens: Annotated[int, msgspec.Meta(ge=50, le=MAX_PROMPT_TOKENS)] | None = None

    def document(self) -> dict[str, Any]:
        """As JSON, without what was left at its default."""
        return dict(msgspec.to_builtins(self))


def read_question(data: Any) -> Question:
    """The question in a decoded JSON value. Raises InvalidQuestionError."""
    if is_too_deep([data]):
        raise InvalidQuestionError(FieldError("", f"Nested more than {MAX_DEPTH} levels deep."))
    try:
        question = msgspec.convert(storable(data), Question)
    except msgspec.ValidationError as error:
        raise InvalidQuestionError(field_error(error)) from error
    errors = list(_problems(question))
    if errors:
        raise InvalidQuestionError(*errors)
    return question


def _problems(question: Question) -> list[FieldError]:
    found = []
    if not question.goal.strip() and not question.tags and not question.nodes:
        found.append(FieldError("goal", "Say a goal, tags or nodes to look for."))
    filters = question.filters
    if filters.since and filters.until and filters.since >= filters.until:
        found.append(FieldError("filters.until", "The end must lie after the beginning."))
    if len(msgspec.json.encode(question.env)) > MAX_ENV_BYTES:
        found.append(FieldError("env", f"At most {MAX_ENV_BYTES} bytes as JSON."))
    return found
