"""What every page of the shell needs: navigation, workspaces to switch to, the theme of django-unfold."""

from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext_lazy as _
from unfold.settings import get_config
from unfold.utils import convert_color

from corrections.queries.inbox import count_items
from corrections.queries.plays import is_demo
from memory.domain.access import Actor, may
from memory.models import Workspace
from memory.queries.workspaces import list_workspaces


@dataclass(frozen=True)
class Section:
    """One line of the sidebar: the URL name it leads to, its icon and who may open it."""

    url_name: str
    title: Any
    icon: str
    action: str = "look"
    covers: tuple[str, ...] = ()
    """Prefixes of URL names that belong to this section, beside its own."""
    counted: str = ""
    """What is counted beside it: a kind of item of the review inbox, or ``all``."""
    only_demo: bool = False
    """Only in workspaces in which the demo plays."""


COUNTED = 100
"""Beside a section more than this is not told apart."""

GROUPS: list[tuple[Any, list[Section]]] = [
    (
        _("Watch"),
        [
            Section("overview", _("Overview"), "space_dashboard"),
            Section("inbox", _("Review inbox"), "inbox", covers=("inbox",), counted="all"),
            Section("tasks", _("Tasks"), "checklist", covers=("task",)),
            Section("patterns", _("Error patterns"), "bug_report", covers=("pattern",)),
            Section("insights", _("Insights"), "insights", covers=("insights",)),
            Section("learn", _("Watch it learn"), "school", covers=("learn",), only_demo=True),
        ],
    ),
    (
        _("Correct"),
        [
            Section("rules", _("Rules"), "rule", covers=("rule",)),
            Section("proposals", _("Rule proposals"), "lightbulb", covers=("proposal",), counted="proposal"),
            Section("canaries", _("Canaries"), "labs", covers=("canary",), counted="canary"),
            Section("conflicts", _("Conflicts"), "rule_settings", covers=("conflict", "ruling", "rulings")),
            Section("changes", _("Change requests"), "approval", covers=("change",)),
            Section("simulator", _("Simulator"), "science", covers=("simulator",)),
            Section("validators", _("Validators"), "verified", covers=("validator",)),
            Section("tools", _("Tools"), "build", covers=("tool",)),
            Section("impacts", _("Changed tools"), "update", covers=("impact",), counted="impact"),
            Section("dependencies", _("Dependencies"), "account_tree", covers=("dependency",)),
        ],
    ),
    (
        _("Remember"),
        [
            Section("paths", _("Paths"), "conversion_path", covers=("path",)),
            Section("rewrites", _("Rewrites"), "edit_road", covers=("rewrite",), counted="rewrite"),
            Section("graph", _("Graph explorer"), "hub", covers=("graph", "node")),
            Section(
                "lab",
                _("Localization lab"),
                "travel_explore",
                covers=("lab", "localization", "localizations"),
            ),
            Section("sample", _("Weekly sample"), "fact_check", covers=("sample",)),
            Section("alerts", _("Alerts"), "notifications", covers=("alert",), counted="alert"),
        ],
    ),
    (
        _("Run"),
        [
            Section("imports", _("Imports"), "upload_file", action="import_runs", covers=("import",)),
            Section("keys", _("API keys"), "key", action="manage_keys", covers=("key",)),
            Section("members", _("Members"), "group", covers=("member",)),
            Section("audit", _("Audit"), "history", action="see_audit", covers=("audit",)),
            Section("health", _("Health"), "monitor_heart", covers=("health",)),
            Section(
                "settings",
                _("Settings"),
                "tune",
                action="manage_workspace",
                covers=("settings", "webhook", "webhooks"),
            ),
        ],
    ),
]


@dataclass(frozen=True)
class NavItem:
    """A section as this person sees it on this page."""

    title: Any
    icon: str
    url: str
    current: bool
    count: int = 0


@dataclass(frozen=True)
class Shell:
    """The frame around a page."""

    workspace: Workspace | None
    workspaces: list[Workspace]
    groups: list[tuple[Any, list[NavItem]]]
    is_demo: bool = False
    """Whether the scripted agent may play in this workspace."""


def shell(request: HttpRequest) -> dict[str, Any]:
    """Context processor. Nothing is queried until a template of the shell asks."""
    return {
        "shell": SimpleLazyObject(lambda: build_shell(request)),
        "colors": theme_colours(),
        "border_radius": get_config().get("BORDER_RADIUS"),
        "site_title": get_config()["SITE_TITLE"],
        "theme": get_config().get("THEME"),
        "LANGUAGES": settings.LANGUAGES,
    }


def build_shell(request: HttpRequest) -> Shell:
    """The frame for this request. A few queries: the person's workspaces, and what waits for them."""
    user = getattr(request, "user", None)
    workspaces = list_workspaces(user=user) if user and user.is_authenticated else []
    workspace = getattr(request, "workspace", None)
    actor = getattr(request, "actor", None)
    name = (request.resolver_match.url_name if request.resolver_match else "") or ""
    groups, demo = [], False
    if workspace and actor:
        demo = is_demo(workspace.pk, workspace.slug)
        waiting = count_items(workspace.pk)
        waiting |= {"all": sum(waiting.values())}
        groups = [
            (title, nav_items(_shown(sections, demo), workspace.slug, actor, name, waiting))
            for title, sections in GROUPS
        ]
    return Shell(workspace, workspaces, [(title, items) for title, items in groups if items], demo)


def _shown(sections: list[Section], demo: bool) -> list[Section]:
    return [section for section in sections if demo or not section.only_demo]


def nav_items(
    sections: list[Section], slug: str, actor: Actor, name: str, waiting: dict[str, int]
) -> list[NavItem]:
    """The sections this actor may open; ``name`` is the URL name of the current page."""
    items = []
    for section in sections:
        url = section_url(section.url_name, slug)
        if not url or not may(actor, section.action):
            continue
        current = any(is_within(name, prefix) for prefix in (section.url_name, *section.covers))
        count = min(waiting.get(section.counted, 0), COUNTED)
        items.append(NavItem(section.title, section.icon, url, current, count))
    return items


def is_within(url_name: str, prefix: str) -> bool:
    """``rule-edit`` is within ``rule``; ``rules`` is not."""
    return url_name == prefix or url_name.startswith(f"{prefix}-")


@lru_cache(maxsize=4096)
def section_url(url_name: str, slug: str) -> str:
    """Where a section is, or nothing when this installation has no such page."""
    try:
        return reverse(url_name, args=[slug])
    except NoReverseMatch:
        return ""


@cache
def theme_colours() -> dict[str, dict[str, str]]:
    """The shell's colours as it writes them into its style variables."""
    return {
        name: {weight: convert_color(value) for weight, value in weights.items()}
        for name, weights in get_config()["COLORS"].items()
    }
