"""Rules whose replacement was swapped for another one's: are they retired, and are the good ones spared?"""

import json
from dataclasses import dataclass, field
from typing import Any

from corrections.domain.inducing import Proposal

EVERY = 5


@dataclass
class Poison:
    """Every fifth repair gets the replacement of the repair before it in the same place.

    Called with a proposal it gives the document to serve; ``keys`` are the poisoned ones.
    """

    keys: set[str] = field(default_factory=set)
    _seen: int = 0
    _last: dict[tuple[str, str], Any] = field(default_factory=dict)

    def __call__(self, proposal: Proposal) -> dict[str, Any]:
        document = proposal.document()
        if proposal.action_type != "PARAMETER_TRANSFORM":
            return document
        (operation, *_rest) = proposal.action_detail["operations"]
        where = (proposal.condition.partition(" && ")[0], operation["op"])
        replacement = _replacement(operation)
        other = self._last.get(where)
        self._last[where] = replacement
        self._seen += 1
        if self._seen % EVERY or other is None or other == replacement:
            return document
        self.keys.add(proposal.key)
        return document | {"action_detail": {"operations": [_swapped(operation, other)]}}


def _replacement(operation: dict[str, Any]) -> Any:
    if operation["op"] == "replace_words":
        return next(iter(operation["words"].values()))
    return operation.get("value")


def _swapped(operation: dict[str, Any], other: Any) -> dict[str, Any]:
    changed: dict[str, Any] = json.loads(json.dumps(operation))
    if operation["op"] == "replace_words":
        changed["words"] = dict.fromkeys(operation["words"], other)
    elif "value" in operation:
        changed["value"] = other
    return changed
