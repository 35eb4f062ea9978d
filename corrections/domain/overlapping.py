"""Whether two scopes can meet in one call. In doubt they can: a dependency too many does less harm."""

from functools import lru_cache

from hgmem.rules.scope import Scope, in_range, matches_glob, parse_range

FAR = "999999999"
"""A version beyond any that a range names."""


def scopes_meet(one: Scope, other: Scope) -> bool:
    """Whether some call is in both scopes. Points are left aside; any set of tags may come together."""
    if one.agent and other.agent and one.agent != other.agent:
        return False
    return tools_meet(one, other) and versions_meet(one.tool_versions, other.tool_versions)


def tools_meet(one: Scope, other: Scope) -> bool:
    """Whether some tool's name is in both scopes."""
    if one.any_tool or other.any_tool:
        return True
    if one.is_glob and other.is_glob:
        return globs_meet(one.tool, other.tool)
    if one.is_glob:
        return matches_glob(one.tool, other.tool)
    return other.fits_tool(one.tool)


@lru_cache(maxsize=10_000)
def globs_meet(one: str, other: str) -> bool:
    """Whether some text matches both patterns, in time proportional to the product of their lengths."""
    reached = [[False] * (len(other) + 1) for _ in range(len(one) + 1)]
    reached[0][0] = True
    for left in range(len(one) + 1):
        for right in range(len(other) + 1):
            reached[left][right] |= _reaches(reached, one, other, left, right)
    return reached[-1][-1]


def _reaches(reached: list[list[bool]], one: str, other: str, left: int, right: int) -> bool:
    """A star is passed for nothing, or swallows what the other pattern says next."""
    before_one = left > 0 and reached[left - 1][right] and one[left - 1] == "*"
    before_other = right > 0 and reached[left][right - 1] and other[right - 1] == "*"
    if before_one or before_other:
        return True
    if left > 0 and reached[left - 1][right] and right > 0 and other[right - 1] == "*":
        return True
    if right > 0 and reached[left][right - 1] and left > 0 and one[left - 1] == "*":
        return True
    if left == 0 or right == 0 or not reached[left - 1][right - 1]:
        return False
    ends = one[left - 1], other[right - 1]
    return ends[0] == ends[1] or bool({"?", "*"} & set(ends))


@lru_cache(maxsize=10_000)
def versions_meet(one: str, other: str) -> bool:
    """Whether some version lies in both ranges ("" is any). Tried at each bound, just above it, and far."""
    if not one or not other:
        return True
    bounds = {version for _, version in (*parse_range(one), *parse_range(other))}
    tried = {"0", FAR, *bounds, *(f"{bound}.0.0.0.1" for bound in bounds)}
    return any(in_range(version, one) and in_range(version, other) for version in tried)
