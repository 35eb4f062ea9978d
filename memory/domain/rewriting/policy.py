"""What a workspace wants of its rewriting: which rewriters, which limits, and what goes by itself."""

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import structs

from memory.domain.path_settings import SECTION, readable_settings

REWRITERS = ("align", "llm", "template")
"""The rewriters there are, in the order in which they are tried unless a workspace says otherwise."""

POLICY_REWRITERS = frozenset({"align", "template"})
"""Only what these propose may be approved by a policy: what a model wrote is always read by a person."""


class InvalidPolicyError(ValueError):
    """A policy that cannot be kept; the text names the field."""


class RewritePolicy(msgspec.Struct, frozen=True, kw_only=True):
    """``Workspace.settings["paths"]``, as far as rewriting goes. Other names there belong to others.

    ``auto_approve`` is for what the rewriter is sure of by ``auto_confidence`` at least.
    ``max_versions``: no version beyond this is made without a person. ``good_reward``: a path with more than
    this is not rewritten by itself (0 to 1). ``max_fruitless``: so many rewrites in a row after which no
    reuse succeeded, then a person. ``penalty`` is taken from the reward of the version that is replaced.
    """

    auto_approve: bool = False
    rewriters: tuple[str, ...] = REWRITERS
    max_versions: Annotated[int, msgspec.Meta(ge=1, le=100)] = 3
    good_reward: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.5
    max_fruitless: Annotated[int, msgspec.Meta(ge=1, le=100)] = 3
    auto_confidence: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.5
    penalty: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.5

    def __post_init__(self) -> None:
        unknown = [name for name in self.rewriters if name not in REWRITERS]
        if unknown or not self.rewriters or len(set(self.rewriters)) != len(self.rewriters):
            raise ValueError(f"rewriters: one or more of {', '.join(REWRITERS)}, each once.")


def read_policy(settings: Mapping[str, Any]) -> RewritePolicy:
    """The policy in a workspace's settings; the default where nothing is set.

    Raises InvalidPolicyError.
    """
    try:
        return msgspec.convert(settings.get(SECTION, {}), RewritePolicy)
    except msgspec.ValidationError as error:
        raise InvalidPolicyError(str(error)) from error


def safe_policy(settings: Mapping[str, Any]) -> RewritePolicy:
    """The policy as far as it can be read; where a part of it cannot, nothing goes by itself."""
    policy, is_whole = readable_settings(settings, RewritePolicy)
    return policy if is_whole else structs.replace(policy, auto_approve=False)
