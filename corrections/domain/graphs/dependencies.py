"""Who needs whom among the rules: read and write sets, tools that rules lead to, what people know.

Rule B depends on rule A when B reads a field that A writes and both can meet in one call. Rules that write
the same field do not depend on one another: the engine lets the first one keep it and suppresses the other
whole, which is a conflict and no dependency. A rule that leads to another tool is needed by the rules that
are bound to that tool alone.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import networkx as nx

from corrections.domain.overlapping import scopes_meet, tools_meet
from hgmem.rules import InsertStep, Rule, ToolSwitch
from hgmem.rules.precedence import overlap
from hgmem.rules.scope import Scope

Kind = Literal["field", "tool", "manual"]
MAX_EDGES = 20_000
"""More than this nobody reads; ``left_out`` says when there were more."""
REACHES = {"before": ("before", "after"), "after": ("after",), "planning": ()}
"""By the point where a rule writes: the points at which that can be read."""
ROOTS = ("input", "output", "error")
HEAD = re.compile(r"(\w*)(?:\.\w+(?=[.\[]|$))?")


@dataclass(frozen=True)
class RuleFacts:
    """What the graph needs to know of a rule. ``leads_to`` is the tool that it switches to or calls first."""

    uuid: str
    name: str
    status: str
    point: str
    scope: Scope
    reads: frozenset[str]
    writes: frozenset[str]
    leads_to: str = ""

    @property
    def tool(self) -> str:
        """The name or pattern of its tool; ``*`` for any."""
        return self.scope.tool or "*"


@dataclass(frozen=True)
class Manual:
    """Somebody says that ``dependent`` needs ``provider`` (rules by uuid); ``uuid`` names the row."""

    uuid: str
    provider: str
    dependent: str
    reason: str


@dataclass(frozen=True)
class Dependency:
    """``dependent`` needs ``provider``. ``fields`` are what is written and read, ``tool`` where it leads."""

    provider: str
    dependent: str
    kind: Kind
    fields: tuple[str, ...] = ()
    tool: str = ""
    reason: str = ""
    manual: str = ""


@dataclass(frozen=True)
class DependencyGraph:
    """Rules that have an edge, the edges, and the circles: groups of rules that all need one another."""

    rules: tuple[RuleFacts, ...] = ()
    edges: tuple[Dependency, ...] = ()
    cycles: tuple[tuple[str, ...], ...] = ()
    left_out: bool = False
    in_cycle: frozenset[str] = field(default_factory=frozenset)


def facts_of(rule: Rule, *, uuid: str, name: str, status: str) -> RuleFacts:
    """The facts of a parsed rule."""
    action = rule.action
    leads_to = action.action_detail.tool if isinstance(action, ToolSwitch | InsertStep) else ""
    return RuleFacts(
        uuid, name, status, rule.point, rule.applies_to,
        reads=frozenset(filter(_is_field, rule.compiled_condition.read_set | action.reads())),
        writes=frozenset(filter(_is_field, action.writes())), leads_to=leads_to,
    )  # fmt: skip


def dependency_graph(rules: Sequence[RuleFacts], manual: Iterable[Manual] = ()) -> DependencyGraph:
    """All edges between the rules, at most ``MAX_EDGES``. Time grows with rules and edges, not with pairs."""
    edges: list[Dependency] = []
    left_out = False
    for edge in _all_edges(rules, manual):
        if len(edges) == MAX_EDGES:
            left_out = True
            break
        edges.append(edge)
    linked = {end for edge in edges for end in (edge.provider, edge.dependent)}
    cycles = _cycles(edges)
    return DependencyGraph(
        tuple(rule for rule in rules if rule.uuid in linked), tuple(edges), cycles, left_out,
        frozenset(uuid for cycle in cycles for uuid in cycle),
    )  # fmt: skip


def edges_from(
    provider: RuleFacts, rules: Iterable[RuleFacts], manual: Iterable[Manual] = ()
) -> list[Dependency]:
    """What depends on one rule: by field, by tool, by what people said."""
    found: list[Dependency] = []
    others = [rule for rule in rules if rule.uuid != provider.uuid]
    for other in others:
        found += [edge for edge in (_by_field(provider, other), _by_tool(provider, other)) if edge]
    known = {rule.uuid for rule in others}
    found += [_said(one) for one in manual if one.provider == provider.uuid and one.dependent in known]
    return found


def _all_edges(rules: Sequence[RuleFacts], manual: Iterable[Manual]) -> Iterator[Dependency]:
    """What people said first: it is never what is left out."""
    known = {rule.uuid for rule in rules}
    yield from (_said(one) for one in manual if one.provider in known and one.dependent in known)
    readers = _Readers(rules)
    bound = _Bound(rules)
    for rule in rules:
        for other in readers.of(rule):
            edge = _by_field(rule, other)
            if edge:
                yield edge
        for other in bound.to(rule.leads_to) if rule.leads_to else ():
            edge = _by_tool(rule, other)
            if edge:
                yield edge


def _by_field(provider: RuleFacts, dependent: RuleFacts) -> Dependency | None:
    if provider.uuid == dependent.uuid or dependent.point not in REACHES[provider.point]:
        return None
    shared = sorted(path for path in provider.writes if overlap((path,), dependent.reads))
    if not shared or overlap(provider.writes, dependent.writes):
        return None
    if not scopes_meet(provider.scope, dependent.scope):
        return None
    return Dependency(provider.uuid, dependent.uuid, "field", tuple(shared))


def _by_tool(provider: RuleFacts, dependent: RuleFacts) -> Dependency | None:
    """Only rules that the call would not meet anyway: those of the other tool and not of this one."""
    target = provider.leads_to
    if not target or provider.uuid == dependent.uuid or dependent.scope.any_tool:
        return None
    if not dependent.scope.fits_tool(target) or tools_meet(provider.scope, dependent.scope):
        return None
    return Dependency(provider.uuid, dependent.uuid, "tool", tool=target)


def _said(manual: Manual) -> Dependency:
    return Dependency(manual.provider, manual.dependent, "manual", reason=manual.reason, manual=manual.uuid)


def _is_field(path: str) -> bool:
    return _variable(path) in ROOTS


def _variable(path: str) -> str:
    return HEAD.match(path)[1]  # type: ignore[index]  # it matches any text


def _head(path: str) -> str:
    """The variable and the first key (``input.address.city`` -> ``input.address``): what is looked up.

    Just the variable, which stands for all of it, where the key is none of the plain ones.
    """
    return HEAD.match(path)[0]  # type: ignore[index]


class _Readers:
    """Rules by what they read and by their tool, so that not every pair is compared."""

    def __init__(self, rules: Sequence[RuleFacts]) -> None:
        self._named: dict[tuple[str, str], list[RuleFacts]] = defaultdict(list)
        self._open: dict[str, list[RuleFacts]] = defaultdict(list)
        self._heads: dict[str, set[str]] = defaultdict(set)
        for rule in rules:
            is_open = rule.scope.is_glob or rule.scope.any_tool
            for head in {_head(path) for path in rule.reads}:
                self._heads[_variable(head)].add(head)
                (self._open[head] if is_open else self._named[head, rule.tool]).append(rule)
        self._all_named: dict[str, list[RuleFacts]] = defaultdict(list)
        for (head, _), some in self._named.items():
            self._all_named[head] += some

    def of(self, provider: RuleFacts) -> list[RuleFacts]:
        """Rules that may read what the provider writes, each once, in a fixed order."""
        is_open = provider.scope.is_glob or provider.scope.any_tool
        found: dict[str, RuleFacts] = {}
        for head in sorted(self._touched(provider.writes)):
            near = self._all_named[head] if is_open else self._named.get((head, provider.tool), [])
            for rule in (*near, *self._open.get(head, ())):
                found.setdefault(rule.uuid, rule)
        return list(found.values())

    def _touched(self, writes: Iterable[str]) -> set[str]:
        heads: set[str] = set()
        for path in writes:
            head, variable = _head(path), _variable(path)
            heads |= self._heads.get(variable, set()) if head == variable else {head, variable}
        return heads


class _Bound:
    """Rules by the tool they are bound to."""

    def __init__(self, rules: Sequence[RuleFacts]) -> None:
        self._named: dict[str, list[RuleFacts]] = defaultdict(list)
        self._globs = [rule for rule in rules if rule.scope.is_glob and not rule.scope.any_tool]
        for rule in rules:
            if not rule.scope.is_glob and not rule.scope.any_tool:
                self._named[rule.tool].append(rule)

    def to(self, tool: str) -> list[RuleFacts]:
        """By name, then by pattern."""
        return self._named.get(tool, []) + [rule for rule in self._globs if rule.scope.fits_tool(tool)]


def _cycles(edges: Iterable[Dependency]) -> tuple[tuple[str, ...], ...]:
    """Strongly connected groups of two and more (a rule never needs itself), the largest first."""
    graph = nx.DiGraph()
    graph.add_edges_from((edge.provider, edge.dependent) for edge in edges)
    groups = [tuple(sorted(group)) for group in nx.strongly_connected_components(graph) if len(group) > 1]
    return tuple(sorted(groups, key=lambda group: (-len(group), group)))
