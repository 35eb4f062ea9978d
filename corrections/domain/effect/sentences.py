"""The sentence of each decision about a canary, as pages and events show it."""

from collections.abc import Callable, Mapping

from corrections.domain.effect.look import Look, shown_e


def _mismatch(look: Look) -> str:
    return (
        "The split between the arms is not the one that was asked for "
        f"(p = {look.mismatch_p:.2g}): no figure can be trusted, so nothing is decided."
    )


def _harmful(look: Look) -> str:
    return f"Tasks fail more often with the rule: E = {shown_e(look.harm)}{_among(look)}."


def _unsafe(look: Look) -> str:
    worst = max(look.guardrails, key=lambda name: look.guardrails[name]).replace("_", " ")
    return f"Guardrails are broken, {worst} most of all: E = {shown_e(look.guard)}{_among(look)}."


def _worse_since(look: Look) -> str:
    return (
        f"Tasks seem to go worse with the rule since it was promoted: E = {shown_e(look.loudest)}. "
        "A person should look."
    )


def _useless(look: Look) -> str:
    return (
        f"The rule has stopped doing good: its uplift is below {look.limits.useless_uplift:.0%}, "
        f"after {look.without_rule} tasks without it."
    )


def _braked(look: Look) -> str:
    return (
        f"Tasks seem to go worse with the rule: E = {shown_e(look.loudest)}, not yet enough"
        f"{_among(look)}. Its share goes back to {look.limits.first_share:.0%}."
    )


def _helpful(look: Look) -> str:
    return (
        f"Tasks fail less often with the rule: E = {shown_e(look.benefit)} reaches "
        f"{look.promote_at:.0f}{_among(look)}."
    )


def _stays(_look: Look) -> str:
    return (
        "Its time is over without a verdict. A person wrote the rule and nothing speaks against it, "
        "so it stays."
    )


def _held(_look: Look) -> str:
    return "Its time is over without a verdict: a person has to decide."


def _quiet(look: Look) -> str:
    return (
        f"{look.evidence.decided} tasks are decided, {look.with_rule} of them with the rule, and nothing "
        "speaks against it "
        f"(E = {shown_e(look.loudest)}): its share goes up to {look.limits.full_share:.0%}."
    )


def _unjudged(_look: Look) -> str:
    return "Nothing is decided in this state."


def _young(look: Look) -> str:
    decided, least = look.evidence.decided, look.limits.min_look
    return f"Not enough data: {decided} of at least {least} tasks are decided."


def _useful(look: Look) -> str:
    return f"{look.evidence.decided} tasks are decided since it was promoted, and nothing speaks against it."


def _open(look: Look) -> str:
    return (
        f"No verdict yet: E is {shown_e(look.harm)} for harm ({1 / look.limits.alpha:.0f} rolls back) "
        f"and {shown_e(look.benefit)} for benefit ({look.promote_at:.0f} promotes)."
    )


def _among(look: Look) -> str:
    return f", among {look.evidence.live} canaries" if look.evidence.live > 1 else ""


SENTENCES: Mapping[str, Callable[[Look], str]] = {
    "mismatch": _mismatch,
    "harmful": _harmful,
    "unsafe": _unsafe,
    "worse": _worse_since,
    "useless": _useless,
    "suspect": _braked,
    "helpful": _helpful,
    "stays": _stays,
    "time": _held,
    "quiet": _quiet,
    "unjudged": _unjudged,
    "young": _young,
    "useful": _useful,
    "open": _open,
}
"""For each cause of a decision."""
