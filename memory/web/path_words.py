"""The words of path documents in the reader's language: kinds of nodes, results of paths."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _

KINDS = {"action": _("action"), "decision": _("decision"), "event": _("event"), "entity": _("entity")}
RESULTS = {
    "pending": _("pending"), "success": _("success"), "failure": _("failure"), "retry": _("retry"),
    "template": _("template"),
}  # fmt: skip


def any_of(words: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The choices of a filter: any, or one of the words."""
    return [("", _("any")), *words.items()]


def kind_words() -> dict[str, str]:
    """The kinds of nodes as texts, for what is drawn."""
    return {kind: str(word) for kind, word in KINDS.items()}
