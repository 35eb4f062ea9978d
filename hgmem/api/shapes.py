"""The answers of the API as typed dictionaries, as the server's OpenAPI file has them (a test compares)."""

from typing import Any, NotRequired, TypedDict


class Corrections(TypedDict):
    """What the rules make of a call. The parts are told at :class:`hgmem.rules.Decision`."""

    tool: str
    input: dict[str, Any]
    block: list[dict[str, Any]]
    ask: list[dict[str, Any]]
    hints: list[dict[str, Any]]
    insert_steps: list[dict[str, Any]]
    after_call: list[dict[str, Any]]
    applied: list[dict[str, Any]]
    suppressed: list[dict[str, Any]]
    conflicts: list[dict[str, Any]]
    errors: list[dict[str, Any]]
    ruleset_version: str
    receipt: NotRequired[str]
    output: NotRequired[Any]
    error: NotRequired[Any]
    near_misses: NotRequired[list[dict[str, Any]]]
    point: NotRequired[str]
    matched: NotRequired[list[dict[str, Any]]]


class FieldError(TypedDict):
    """A wrong field of something that was sent."""

    field: str
    detail: str


class ItemResult(TypedDict):
    """What became of one experience document. ``status``: created, updated, unchanged or an error's word."""

    index: int
    external_id: str
    status: str
    uuid: NotRequired[str | None]
    calls_added: NotRequired[int]
    errors: NotRequired[list[FieldError]]


class Located(TypedDict):
    """Paths for a goal, best first; ``avoid`` are failed ones. ``min_score`` and scores are 0 to 1."""

    localization: str
    kind: str
    paths: list[dict[str, Any]]
    avoid: list[dict[str, Any]]
    templates: list[dict[str, Any]]
    notes: list[Any]
    weights: dict[str, Any]
    min_score: float
    embedder: str
    took_ms: float
    prompt: NotRequired[dict[str, Any] | None]


class PathPrompt(TypedDict):
    """A path as text for a model."""

    text: str
    tokens: int
    left_out: int


class Workspace(TypedDict):
    """The workspace of a key."""

    uuid: str
    slug: str
    name: str


class Me(TypedDict):
    """Whose key this is. ``may`` lists the actions it is good for."""

    name: str
    uuid: str
    scopes: list[str]
    may: list[str]
    workspace: Workspace


class Page(TypedDict):
    """A page of a list. ``next`` is the address of the following one, or None."""

    results: list[dict[str, Any]]
    next: NotRequired[str | None]
    previous: NotRequired[str | None]
