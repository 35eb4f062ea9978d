"""The guard before every rewrite: what may be drafted by itself, and what a person decides first.

The limits are HGMem's design, after the guard of the article on hierarchical graph memory: at most three
versions, no rewriting of what works, and a stop after three rewrites in a row that helped nobody.
"""

import msgspec

from memory.domain.rewriting.policy import RewritePolicy


class GuardFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What the guard looks at.

    ``version`` is the number of the newest version of the lineage, ``reward`` that of the version to rewrite.
    ``fruitless`` counts rewrites in a row after which no reuse succeeded. ``paused`` is why automatic
    rewriting of the lineage is paused, "" when it is not. ``overruled_by`` is the person who asked for this
    rewrite, or for another try, knowing what the guard says.
    """

    version: int
    reward: float
    fruitless: int
    paused: str = ""
    overruled_by: str = ""


class Check(msgspec.Struct, frozen=True):
    """One thing the guard looked at: ``said`` is the sentence for people, ``facts`` the numbers in it."""

    name: str
    ok: bool
    said: str
    facts: dict[str, float | str] = {}


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """``passed``: a rewriter may draft. ``automatic``: no check failed, so a policy may approve it, too.

    ``overruled_by`` is who asked for it although checks failed.
    """

    passed: bool
    automatic: bool
    said: str
    checks: tuple[Check, ...]
    overruled_by: str = ""


def guard(facts: GuardFacts, policy: RewritePolicy) -> Verdict:
    """The verdict on one rewrite. A person may overrule it; what they make is never approved by a policy."""
    checks = (
        _versions(facts, policy),
        _reward(facts, policy),
        _fruitless(facts, policy),
        _paused(facts),
    )
    failed = [check for check in checks if not check.ok]
    if not failed:
        said = "Nothing speaks against a rewrite."
    elif facts.overruled_by:
        said = f"{facts.overruled_by} asked for it although: {' '.join(check.said for check in failed)}"
    else:
        said = f"A person decides: {' '.join(check.said for check in failed)}"
    passed = not failed or bool(facts.overruled_by)
    overruled_by = facts.overruled_by if failed else ""
    return Verdict(passed=passed, automatic=not failed, said=said, checks=checks, overruled_by=overruled_by)


def _versions(facts: GuardFacts, policy: RewritePolicy) -> Check:
    wanted, most = facts.version + 1, policy.max_versions
    told: dict[str, float | str] = {"version": wanted, "most": most}
    if wanted > most:
        said = f"This would be version {wanted} and at most {most} are made without a person."
        return Check("versions", False, f"{said} Rewrite it by hand, or retire the path.", told)
    return Check("versions", True, f"This would be version {wanted} of at most {most}.", told)


def _reward(facts: GuardFacts, policy: RewritePolicy) -> Check:
    told: dict[str, float | str] = {"reward": facts.reward, "good": policy.good_reward}
    if facts.reward > policy.good_reward:
        said = f"The path's reward is {facts.reward:.2f}; above {policy.good_reward:.2f} it counts as good."
        return Check("reward", False, said, told)
    said = f"The path's reward is {facts.reward:.2f}, so it may be rewritten."
    return Check("reward", True, said, told)


def _fruitless(facts: GuardFacts, policy: RewritePolicy) -> Check:
    told: dict[str, float | str] = {"count": facts.fruitless, "most": policy.max_fruitless}
    if facts.fruitless >= policy.max_fruitless:
        said = f"The last {facts.fruitless} rewrites of this path were followed by no successful reuse."
        return Check("fruitless", False, said, told)
    said = f"{facts.fruitless} rewrites in a row without a successful reuse"
    return Check("fruitless", True, f"{said}; {policy.max_fruitless} would stop it.", told)


def _paused(facts: GuardFacts) -> Check:
    if facts.paused:
        said = f"Automatic rewriting of this path is paused: {facts.paused}"
        return Check("paused", False, said, {"why": facts.paused})
    return Check("paused", True, "Automatic rewriting of this path is not paused.")
