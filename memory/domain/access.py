"""Who may do what: one table of actions, the least role of a person, the scope of a key."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal


class Role(StrEnum):
    """What a person is in a workspace, weakest first."""

    VIEWER = "viewer"
    REVIEWER = "reviewer"
    MAINTAINER = "maintainer"
    OWNER = "owner"


class Scope(StrEnum):
    """What a key may be used for."""

    RULES_READ = "rules:read"
    EXPERIENCE_WRITE = "experience:write"
    EXPERIENCE_READ = "experience:read"
    RULES_WRITE = "rules:write"
    REVIEW = "review"
    ADMIN = "admin"


@dataclass(frozen=True)
class Actor:
    """Who acts: a member, a key, or the system itself.

    ``role`` is set for members, ``scopes`` for keys. The system may do everything and says what it is.
    """

    kind: Literal["user", "key", "system"]
    name: str
    workspace_id: int | None = None
    uuid: str = ""
    role: Role | None = None
    scopes: frozenset[Scope] = field(default_factory=frozenset)


@dataclass(frozen=True)
class Permission:
    """One action: the words of its refusal, the least role and the scope (None: any key) that allow it."""

    what: str
    role: Role
    scope: Scope | None


PERMISSIONS: dict[str, Permission] = {
    "see_self": Permission("ask who you are", Role.VIEWER, None),
    "look": Permission("look at this workspace", Role.VIEWER, Scope.EXPERIENCE_READ),
    "query_corrections": Permission("ask for corrections", Role.VIEWER, Scope.RULES_READ),
    "record_experience": Permission("record experience", Role.MAINTAINER, Scope.EXPERIENCE_WRITE),
    "import_runs": Permission("import runs", Role.MAINTAINER, Scope.EXPERIENCE_WRITE),
    "judge_task": Permission("say how a task ended", Role.REVIEWER, Scope.EXPERIENCE_WRITE),
    "triage_pattern": Permission("change the status of an error pattern", Role.REVIEWER, Scope.REVIEW),
    "speak_for_people": Permission("speak in a person's name", Role.REVIEWER, Scope.REVIEW),
    "locate_paths": Permission("locate paths", Role.VIEWER, Scope.RULES_READ),
    "report_reuse": Permission("say which path was taken", Role.REVIEWER, Scope.EXPERIENCE_WRITE),
    "write_path": Permission("write or correct paths", Role.REVIEWER, Scope.EXPERIENCE_WRITE),
    "request_rewrite": Permission("ask for a rewrite", Role.REVIEWER, Scope.EXPERIENCE_WRITE),
    "review_rewrite": Permission("decide on rewrites", Role.REVIEWER, Scope.REVIEW),
    "roll_back_path": Permission("roll back or retire a path", Role.MAINTAINER, Scope.REVIEW),
    "merge_nodes": Permission("merge nodes", Role.MAINTAINER, Scope.REVIEW),
    "review_sample": Permission("review localizations", Role.REVIEWER, Scope.REVIEW),
    "handle_alert": Permission("close alerts", Role.REVIEWER, Scope.REVIEW),
    "sort_inbox": Permission("sort the review inbox", Role.REVIEWER, Scope.REVIEW),
    "draft_rule": Permission("write rules", Role.REVIEWER, Scope.RULES_WRITE),
    "rule_conflict": Permission("rule on conflicts", Role.REVIEWER, Scope.REVIEW),
    "publish_rule": Permission("activate or disable rules", Role.MAINTAINER, Scope.ADMIN),
    "steer_canary": Permission("steer canaries", Role.MAINTAINER, Scope.ADMIN),
    "stop_canary": Permission("pause canaries or roll them back", Role.REVIEWER, Scope.REVIEW),
    "review_rule": Permission("say that a rule is still right", Role.REVIEWER, Scope.REVIEW),
    "review_change": Permission("approve or reject changes", Role.REVIEWER, Scope.REVIEW),
    "edit_validator": Permission("write validators", Role.MAINTAINER, Scope.RULES_WRITE),
    "edit_tool": Permission("edit tools", Role.MAINTAINER, Scope.RULES_WRITE),
    "manage_keys": Permission("manage API keys", Role.MAINTAINER, Scope.ADMIN),
    "manage_members": Permission("manage members", Role.OWNER, Scope.ADMIN),
    "manage_webhooks": Permission("manage webhooks", Role.OWNER, Scope.ADMIN),
    "manage_workspace": Permission("change the settings of the workspace", Role.OWNER, Scope.ADMIN),
    "see_audit": Permission("read the audit trail", Role.REVIEWER, Scope.ADMIN),
}
"""Every action there is. A new one is refused to everybody until it has a line here."""

ROLE_ORDER = list(Role)


class NotPermitted(Exception):
    """The actor may not do this. ``str()`` is the sentence the page and the API show."""


def check_may(actor: Actor, action: str, *, within: int | None = None) -> None:
    """Raise :class:`NotPermitted` unless the actor may do ``action``; KeyError for an unknown action.

    ``within`` is the id of the workspace that it would be done to: nobody acts on another one's rows, however
    they came by them.
    """
    permission = PERMISSIONS[action]
    if within is not None and actor.workspace_id not in (None, within):
        raise NotPermitted(f"You may not {permission.what} in another workspace.")
    if actor.kind == "system":
        return
    if actor.kind == "key":
        scope = permission.scope
        if scope and scope not in actor.scopes and Scope.ADMIN not in actor.scopes:
            raise NotPermitted(f"This key may not {permission.what}: it needs the scope {permission.scope}.")
        return
    if actor.role is None or ROLE_ORDER.index(actor.role) < ROLE_ORDER.index(permission.role):
        raise NotPermitted(f"You need to be at least {permission.role} to {permission.what}.")


def may(actor: Actor, action: str) -> bool:
    """The bool twin of :func:`check_may`."""
    try:
        check_may(actor, action)
    except NotPermitted:
        return False
    return True
