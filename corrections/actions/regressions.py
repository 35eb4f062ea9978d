"""Rulings as regression tests: no change may undo what a person decided about a witness."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.utils import timezone

from corrections.domain.documents import served_rule, without_trial
from corrections.domain.lifecycle import Refused
from corrections.domain.rulings import Word, breaks, compile_for, decide, expectation_of, split_witness
from corrections.live.rulesets import RULESETS
from corrections.models import RuleVersion, Ruling
from corrections.queries.rulesets import load_versions
from corrections.queries.rulings import rulings_in_force, served_tools, word_of
from hgmem.rules import Rule, RuleError, Ruleset
from hgmem.rules.scope import matches_glob


class BrokenRuling(Refused):
    """A change would undo a ruling. ``lines`` say what would come out instead, ``found`` holds it as data."""

    def __init__(self, ruling: Ruling, lines: Sequence[str], found: Mapping[str, Any]) -> None:
        self.ruling, self.lines, self.found = ruling, list(lines), dict(found)
        said = f"This would break the ruling of {ruling.made_by} ({ruling.reason[:200]}): {' '.join(lines)}"
        super().__init__(f"{said} Change the rule so that it keeps the ruling, or end the ruling first.")


def check_rulings(*, workspace_id: int, after: Mapping[int, RuleVersion | None]) -> None:
    """Decide the witness of every ruling that the change concerns, with the rules as they would be.

    ``after`` maps rule ids to the version that would be served, None for nothing. A ruling whose rules are
    not all served waits; one that is broken already is not this change's fault. The number of queries does
    not grow with that of rules. Raises :class:`BrokenRuling`.
    """
    now = timezone.now()
    in_force = list(rulings_in_force(workspace_id, now).select_related("rule_a", "rule_b"))
    tested = [ruling for ruling in in_force if ruling.witness is not None]
    if not tested:
        return
    table = ServedRules(workspace_id, {ruling.tool for ruling in tested}, after)
    words = [word_of(ruling) for ruling in in_force]
    concerned = [ruling for ruling in tested if table.concerns(ruling, after)]
    check_all(concerned, table, words, words, now)


def check_all(
    rulings: Iterable[Ruling], table: "ServedRules", words: Sequence[Word], old_words: Sequence[Word],
    now: datetime,
) -> None:  # fmt: skip
    """Raise :class:`BrokenRuling` for the first ruling that held before the change and would not after it."""
    by_tool: dict[str, list[Ruling]] = {}
    for ruling in rulings:
        by_tool.setdefault(ruling.tool, []).append(ruling)
    for tool, some in by_tool.items():
        new = compile_for(tool, table.after.values(), words)
        for ruling in some:
            found = outcome(ruling, new, table.after, now)
            lines = _broken(ruling, found)
            if not lines:
                continue
            old = compile_for(tool, table.before.values(), old_words)
            if not _broken(ruling, outcome(ruling, old, table.before, now)):
                raise BrokenRuling(ruling, lines, found or {})


def outcome(
    ruling: Ruling, ruleset: Ruleset, served: Mapping[int, Rule], now: datetime
) -> dict[str, Any] | None:
    """What the witness gives for the ruling's rules; None while one of them is not served or not valid."""
    uuids = list(ruling.expectation.get("roles", {}))
    rules = {rule.uuid: rule for rule in served.values() if rule.uuid in uuids}
    witness = ruling.witness or {}
    try:
        moment = split_witness(witness, now)[1]
        if len(rules) < len(uuids) or not all(rule.is_valid_at(moment) for rule in rules.values()):
            return None
        return expectation_of(decide(ruleset, witness, now), uuids)
    except RuleError:  # stored before the caps were what they are
        return None


def _broken(ruling: Ruling, found: dict[str, Any] | None) -> list[str]:
    if found is None:
        return []
    rules = [ruling.rule_a, ruling.rule_b]
    return breaks(ruling.expectation, found, {str(rule.uuid): rule.name for rule in rules if rule})


class ServedRules:
    """The rules that fit some tools, by rule id: ``before`` a change and ``after`` it."""

    def __init__(
        self, workspace_id: int, tools: Iterable[str], after: Mapping[int, RuleVersion | None]
    ) -> None:
        self._tools = set(tools)
        rows = served_tools(workspace_id)
        self._served = {pk: tool for pk, _, _, tool in rows}
        fitting = {version: pk for pk, _, version, tool in rows if self._fits(tool)}
        parsed = _parse(workspace_id, fitting)
        self.before = {fitting[version]: rule for version, rule in parsed.items()}
        self.after = {pk: rule for pk, rule in self.before.items() if pk not in after}
        served = {pk: version for pk, version in after.items() if version is not None}
        self.after |= {pk: served_rule(version, version.rule.uuid) for pk, version in served.items()}

    def _fits(self, scope: str) -> bool:
        return any(fits(scope, tool) for tool in self._tools)

    def concerns(self, ruling: Ruling, after: Mapping[int, RuleVersion | None]) -> bool:
        """Whether a change touches the ruling's rules, or a rule that has a say on its tool."""
        if ruling.rule_a_id in after or ruling.rule_b_id in after:
            return True
        touched = [self._served.get(pk) for pk in after]
        touched += [version.tool for version in after.values() if version is not None]
        return any(scope is not None and fits(scope, ruling.tool) for scope in touched)


def fits(scope: str, tool: str) -> bool:
    """Whether a rule with this tool in its scope has a say on a tool's calls."""
    return scope in ("", "*", tool) or matches_glob(scope, tool)


def _parse(workspace_id: int, version_ids: Iterable[int]) -> dict[int, Rule]:
    """The versions as rules; those that this process serves already are not read again."""
    known = RULESETS.known(workspace_id)
    rules = {pk: without_trial(known[pk]) for pk in version_ids if pk in known}
    for row in load_versions([pk for pk in version_ids if pk not in known]):
        try:
            rules[row.version_id] = served_rule(row, row.rule_uuid)
        except RuleError:  # left out of what is served, too
            continue
    return rules
