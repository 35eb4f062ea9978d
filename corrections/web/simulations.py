"""A decision made readable: a verdict, what would change, who had a say and who nearly had."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from corrections.domain.diff import Change, diff_documents
from corrections.queries.rules import names_of

PARTS = (
    "block",
    "ask",
    "hints",
    "insert_steps",
    "after_call",
    "applied",
    "suppressed",
    "conflicts",
    "errors",
    "near_misses",
)


@dataclass(frozen=True)
class Verdict:
    """The answer in one word and one sentence. ``word`` is for people."""

    word: str
    tone: str
    sentence: str


@dataclass
class Simulation:
    """A decision for a page. Every listed item has ``name`` and, for a saved rule, ``link``."""

    verdict: Verdict
    changes: list[Change]
    items: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    answer: Mapping[str, Any] = field(default_factory=dict)
    output_changes: list[Change] = field(default_factory=list)
    is_after: bool = False


def readable(
    answer: dict[str, Any],
    context: Mapping[str, Any],
    *,
    workspace_id: int = 0,
    names: Mapping[str, str] | None = None,
) -> Simulation:
    """The decision about ``context``, with the names of the rules; one query unless ``names`` are given."""
    given_tool = context.get("tool")
    name = given_tool.get("name", "") if isinstance(given_tool, dict) else given_tool or ""
    before = {"tool": name, "input": context.get("input") or {}}
    changes = diff_documents(before, {"tool": answer["tool"], "input": answer["input"]})
    output_changes: list[Change] = []
    if "output" in answer:
        was = {"output": context.get("output"), "error": context.get("error")}
        output_changes = diff_documents(was, {"output": answer["output"], "error": answer["error"]})
    known = _names(answer, workspace_id) if names is None else names
    items = {part: [_named(item, known) for item in answer.get(part) or []] for part in PARTS}
    verdict = _verdict(answer, bool(changes or output_changes))
    return Simulation(verdict, changes, items, answer, output_changes, answer.get("point") == "after")


def _verdict(answer: Mapping[str, Any], changed: bool) -> Verdict:
    if answer["block"]:
        return Verdict(_("refused"), "bad", _("The call is refused."))
    if answer["ask"]:
        return Verdict(_("ask first"), "warn", _("The agent is told to ask first."))
    if changed:
        return Verdict(_("corrected"), "info", _("The call is corrected."))
    if answer["applied"] or answer["after_call"]:
        return Verdict(_("advised"), "info", _("The call goes through; the agent is told something."))
    if answer["errors"]:
        return Verdict(_("error"), "warn", _("The call goes through, but a rule could not be evaluated."))
    return Verdict(_("unchanged"), "plain", _("The call goes through unchanged: no rule has a say."))


def _named(item: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    uuid = item.get("rule", "")
    by = item.get("by") or item.get("other") or ""
    return item | {
        "name": names.get(uuid) or item.get("name") or _("the rule being tried"),
        "link": uuid if uuid in names else "",
        "by_name": names.get(by, _("the rule being tried")) if by else "",
        "by_link": by if by in names else "",
    }


def _names(answer: Mapping[str, Any], workspace_id: int) -> dict[str, str]:
    items = [item for part in PARTS for item in answer.get(part) or []]
    uuids = {item.get(key) for item in items for key in ("rule", "by", "other")}
    return names_of(workspace_id=workspace_id, uuids=_as_uuids(uuids))


def _as_uuids(texts: Iterable[Any]) -> list[UUID]:
    found = []
    for text in texts:
        try:
            found.append(UUID(text))
        except (ValueError, TypeError, AttributeError):
            continue
    return found
