"""Which recorded calls were steps that rules had asked for, as the receipt of the call after them says."""

from collections.abc import Iterable, Sequence

from corrections.domain.prompting import Advice, count_prompted
from corrections.live.signing import verified
from corrections.queries.advice import VersionKey, list_advice
from memory.queries.finished import FinishedCall

MAX_VERSIONS = 20_000


class PromptedSteps:
    """One workspace's; what versions ask for is remembered, as they never change."""

    def __init__(self, workspace_id: int) -> None:
        self._workspace_id = workspace_id
        self._known: dict[VersionKey, Advice | None] = {}

    def count(self, tasks: Iterable[Sequence[FinishedCall]]) -> dict[int, int]:
        """By the id of a call, how many calls directly before it in its task were asked for; none left out.

        At most one query.
        """
        runs = list(tasks)
        applied = {call.id: self._applied(call) for calls in runs for call in calls if call.receipt}
        self._look_up({key for keys in applied.values() for key in keys})
        found: dict[int, int] = {}
        for calls in runs:
            tools = [call.tool for call in calls]
            for at, call in enumerate(calls):
                told = [advice for key in applied.get(call.id, ()) if (advice := self._known.get(key))]
                if told and (count := count_prompted(told, tools[:at])):
                    found[call.id] = count
        return found

    def _applied(self, call: FinishedCall) -> list[VersionKey]:
        receipt = verified(call.receipt, self._workspace_id)
        rules = receipt.rules if receipt is not None else ()
        return [(rule.uuid, rule.version) for rule in rules if rule.state == "applied"]

    def _look_up(self, versions: set[VersionKey]) -> None:
        missing = versions - self._known.keys()
        if not missing:
            return
        if len(self._known) + len(missing) > MAX_VERSIONS:
            self._known.clear()
            missing = versions
        found = list_advice(workspace_id=self._workspace_id, versions=missing)
        self._known |= {key: found.get(key) for key in missing}
