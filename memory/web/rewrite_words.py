"""What the guard and the storm watch say, in the reader's language.

They store an English sentence, which the API serves, and the facts in it. What was stored without facts is
shown as it was said.
"""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

CHECKS = {
    ("versions", False): gettext_noop(
        "This would be version %(version)s and at most %(most)s are made without a person. "
        "Rewrite it by hand, or retire the path."
    ),
    ("versions", True): gettext_noop("This would be version %(version)s of at most %(most)s."),
    ("reward", False): gettext_noop("The path's reward is %(reward).2f; above %(good).2f it counts as good."),
    ("reward", True): gettext_noop("The path's reward is %(reward).2f, so it may be rewritten."),
    ("fruitless", False): gettext_noop(
        "The last %(count)s rewrites of this path were followed by no successful reuse."
    ),
    ("fruitless", True): gettext_noop(
        "%(count)s rewrites in a row without a successful reuse; %(most)s would stop it."
    ),
    ("paused", False): gettext_noop("Automatic rewriting of this path is paused: %(why)s"),
}
NOT_PAUSED = gettext_noop("Automatic rewriting of this path is not paused.")
SIGNALS = {
    "versions": gettext_noop("%(versions)s new versions and %(drafts)s drafts in %(hours)s hours."),
    "reasons": gettext_noop("%(count)s reasons in %(hours)s hours say nearly the same."),
    "nodes": gettext_noop("A rewrite turned %(before)s nodes into %(after)s."),
}


def check_text(check: Mapping[str, Any], why: str = "") -> str:
    """What one check of the guard says; ``why`` replaces the stored reason of a pause."""
    name, is_ok = check.get("name"), bool(check.get("ok"))
    facts = check.get("facts") or {}
    if name == "paused" and is_ok:
        return _(NOT_PAUSED)
    text = CHECKS.get((str(name), is_ok)) if facts else None
    given = facts | {"why": why} if why and "why" in facts else facts
    return _(text) % given if text else str(check.get("said", ""))


def guard_text(guard: Mapping[str, Any], why: str = "") -> str:
    """The verdict as one text: who decides, and every check that failed."""
    checks = guard.get("checks") or []
    failed = [check for check in checks if not check.get("ok")]
    if not checks or any(not check.get("facts") for check in failed):
        return str(guard.get("said", ""))
    if not failed:
        return _("Nothing speaks against a rewrite.")
    said = " ".join(check_text(check, why) for check in failed)
    if guard.get("overruled_by"):
        return _("%(who)s asked for it although: %(said)s") % {"who": guard["overruled_by"], "said": said}
    return _("A person decides: %(said)s") % {"said": said}


def signal_text(signal: Mapping[str, Any]) -> str:
    """What one signal of the storm watch says."""
    facts, text = signal.get("facts"), SIGNALS.get(str(signal.get("name")))
    return _(text) % facts if facts and text else str(signal.get("said", ""))


def storm_text(detail: Mapping[str, Any]) -> str:
    """What the storm watch says about an alert: its signals that are over their limit."""
    storms = [signal for signal in detail.get("signals") or [] if signal.get("is_storm")]
    return " ".join(signal_text(signal) for signal in storms) or str(detail.get("said", ""))
