"""How a workspace wants its paths located. Kept in ``Workspace.settings["paths"]``."""

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from memory.domain.intake import FieldError, field_error
from memory.domain.locating.question import InvalidQuestionError
from memory.domain.locating.scoring import Weights
from memory.domain.locating.shapes import MIN_SCORE
from memory.domain.path_settings import readable_settings

DEFAULTS = Weights()

weight = Annotated[float, msgspec.Meta(ge=0, le=1_000)]
share = Annotated[float, msgspec.Meta(ge=0, le=1)]


class PartWeights(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What each part of the score counts for, on any scale; they are renormalised over those that apply."""

    tags: weight = DEFAULTS.tags
    semantic: weight = DEFAULTS.semantic
    structure: weight = DEFAULTS.structure

    def document(self) -> dict[str, float]:
        """By the name of the part."""
        return dict(msgspec.to_builtins(self))

    def shares(self) -> Weights:
        """As the ranking takes them."""
        return Weights(self.tags, self.semantic, self.structure)


class LocatePolicy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Weights, the score below which a path is not answered, and whether a model has the last word."""

    weights: PartWeights = PartWeights()
    min_score: share = MIN_SCORE
    verify_localizations: bool = False

    def document(self) -> dict[str, Any]:
        """As it is kept."""
        return dict(msgspec.to_builtins(self))


def read_policy(settings: Mapping[str, Any]) -> LocatePolicy:
    """The policy in a workspace's settings; what is missing or unreadable is at its default."""
    return readable_settings(settings, LocatePolicy)[0]


def check_policy(document: Mapping[str, Any]) -> LocatePolicy:
    """The policy that somebody wants. Raises InvalidQuestionError naming the field."""
    try:
        policy = msgspec.convert(dict(document), LocatePolicy)
    except msgspec.ValidationError as error:
        raise InvalidQuestionError(field_error(error)) from error
    if not any(policy.weights.document().values()):
        raise InvalidQuestionError(FieldError("weights", "At least one part must count."))
    return policy
