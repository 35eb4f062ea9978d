"""What rule versions that receipts name had asked for."""

from collections.abc import Iterable
from uuid import UUID

from corrections.domain.prompting import STEP_ACTIONS, Advice, advice_of
from corrections.models import RuleVersion

VersionKey = tuple[str, int]
"""A rule's uuid and the number of its version."""


def list_advice(*, workspace_id: int, versions: Iterable[VersionKey]) -> dict[VersionKey, Advice]:
    """Those of the versions that ask for a step, with what they ask for. One query."""
    wanted = set(versions)
    rows = RuleVersion.objects.filter(
        rule__workspace=workspace_id, action_type__in=STEP_ACTIONS,
        rule__uuid__in={uuid for name, _number in wanted if (uuid := _uuid(name))},
    )  # fmt: skip
    found: dict[VersionKey, Advice] = {}
    for uuid, number, body in rows.values_list("rule__uuid", "number", "body"):
        advice = advice_of(body) if (str(uuid), number) in wanted else None
        if advice is not None:
            found[str(uuid), number] = advice
    return found


def _uuid(name: str) -> UUID | None:
    try:
        return UUID(name)
    except ValueError:
        return None
