"""What may be done to a path now, or why not, in the words of the check that refuses it."""

from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from memory.domain.access import Actor, NotPermitted, check_may
from memory.domain.lifecycle import PATH_TRANSITIONS, TransitionError, check_transition
from memory.models import Path


@dataclass(frozen=True)
class PathButton:
    """``why_not`` is empty when it may be pressed; ``confirm`` and ``ask`` (for the reason) come first."""

    name: str
    label: Any
    url: str
    confirm: Any
    ask: Any
    why_not: str = ""
    kind: str = ""


def path_buttons(path: Path, actor: Actor, slug: str) -> list[PathButton]:
    """Ask for a rewrite, roll back, retire: those that make sense for this version."""
    back = PathButton(
        "roll-back",
        _("Make it active again"),
        reverse("path-roll-back", args=[slug, path.uuid]),
        _("Agents are served this version again. The one that is active now is kept."),
        _("Why"),
        _why_not(path, actor, "roll_back_path", "restore"),
    )
    rewrite = PathButton(
        "rewrite",
        _("Ask for a rewrite"),
        reverse("path-rewrite", args=[slug, path.uuid]),
        _("A rewriter drafts a better version. Nothing changes before a person approves it."),
        _("What is wrong with it"),
        _why_not(path, actor, "request_rewrite", ""),
    )
    retire = PathButton(
        "retire",
        _("Retire"),
        reverse("path-retire", args=[slug, path.uuid]),
        _("No version of this path is recalled any more. Its history stays, and a version can be restored."),
        _("Why"),
        _why_not(path, actor, "roll_back_path", "retire"),
        "danger",
    )
    return [rewrite, retire] if path.status == "active" else [back]


def why_not_correct(path: Path, actor: Actor) -> str:
    """Why the path cannot be corrected; empty when it can."""
    if path.status != "active":
        return _("Only the active version can be corrected.")
    return _why_not(path, actor, "write_path", "")


def _why_not(path: Path, actor: Actor, action: str, step: str) -> str:
    try:
        check_may(actor, action, within=path.workspace_id)
        if step:
            check_transition(PATH_TRANSITIONS, step, path.status)
    except (NotPermitted, TransitionError) as refusal:
        return str(refusal)
    return _("This is a part of another path: change that one.") if path.is_piece else ""
