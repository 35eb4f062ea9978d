"""Conditions that settle a conflict: one rule without the other's cases, or both rules as one."""

from collections.abc import Iterator

from hgmem.rules import Condition, Rule, RuleError
from hgmem.rules.atoms import Atom, atoms_of
from hgmem.rules.tree import Call, Const, Has, ListOf, Node, Read, conjuncts, walk
from hgmem.rules.unparse import can_unparse, unparse
from hgmem.rules.values import dotted

_TEXT_FUNCTIONS = frozenset(
    ("startsWith", "endsWith", "contains", "matches", "trim", "lowerAscii", "upperAscii")
)
_COMPARISONS = frozenset(("_<_", "_<=_", "_>_", "_>=_"))
_OPERATORS = frozenset(("_==_", "_!=_", "@in", "size")) | _TEXT_FUNCTIONS | _COMPARISONS
_TEXT_TESTS = frozenset(("prefix", "suffix", "contains", "regex"))
_NUMBER_TESTS = frozenset(("gt", "ge", "lt", "le"))
_OBJECTS = frozenset(("input", "task", "env", "tool"))
"""Variables that have fields in every context."""


class _UnsupportedError(Exception):
    """Nobody can write this condition so that it never fails."""


def narrowed(condition_a: str, condition_b: str) -> str | None:
    """``A`` without the cases of ``B``: true where A is true and B is not.

    It is never an error where A was none: what could fail in B is guarded. None when nothing of A would be
    left, or when B uses what cannot be guarded (loops, arithmetic, choices).
    """
    first, second = Condition.compile(condition_a), Condition.compile(condition_b)
    held = set(conjuncts(first.tree))
    others = [part for part in conjuncts(second.tree) if part not in held and not _is_true(part)]
    if not others:
        return None
    guards = _Guards(first)
    try:
        refused = " && ".join(_bracketed(guards.true(part)) if len(others) > 1 else guards.true(part)
                              for part in others)  # fmt: skip
    except _UnsupportedError:
        return None
    rest = f"!({refused})" if refused != "true" else "false"
    return _accepted(rest if first.always else f"{_conjunct(first)} && {rest}")


def merged(rule_a: Rule, rule_b: Rule) -> str:
    """One condition for both rules: true where either is. What they share is said once."""
    first, second = rule_a.compiled_condition, rule_b.compiled_condition
    if first.always or second.always:
        return "true"
    either = f"({first.source}) || ({second.source})"
    if not (can_unparse(first.tree) and can_unparse(second.tree)):
        return either
    some, others = list(conjuncts(first.tree)), list(conjuncts(second.tree))
    shared = [part for part in some if part in others]
    left = [part for part in some if part not in shared]
    right = [part for part in others if part not in shared]
    if not left or not right:
        return _joined(shared)
    choice = _as_membership(left, right) or f"({_joined(left)} || {_joined(right)})"
    return _accepted(" && ".join([*([_joined(shared)] if shared else []), choice])) or either


def _as_membership(left: list[Node], right: list[Node]) -> str | None:
    """``f == 1`` or ``f == 2`` is ``f in [1, 2]``."""
    if len(left) != 1 or len(right) != 1:
        return None
    one, other = atoms_of(left[0]), atoms_of(right[0])
    if not (one and other) or (one[0].kind, other[0].kind) != ("eq", "eq"):
        return None
    if one[0].read != other[0].read or one[0].via or other[0].via:
        return None
    values = [_constant(value) for value in dict.fromkeys((*one[0].values, *other[0].values))]
    if None in values:
        return None
    items = ListOf(tuple(value for value in values if value is not None))
    return unparse(Call("@in", (one[0].read, items)))


def _constant(value: object) -> Const | None:
    return Const(value, "string") if isinstance(value, str) else None


class _Guards:
    """Writes conditions that are true or false, never an error, given that another is true."""

    def __init__(self, given: Condition) -> None:
        self._texts: set[Read] = set()
        self._numbers: set[Read] = set()
        for atom in atoms_of(given.tree):
            if _is_text_atom(atom):
                self._texts.add(atom.read)
            elif _is_number_atom(atom):
                self._numbers.add(atom.read)

    def true(self, node: Node) -> str:
        """A condition that is true exactly where the node is true, and else false."""
        match node:
            case Call(function="_&&_", args=args):
                return " && ".join(_bracketed(self.true(part)) for part in args)
            case Call(function="_||_", args=args):
                return " || ".join(_bracketed(self.true(part)) for part in args)
            case Call(function="!_", args=(part,)):
                return self.false(part)
        return self._guarded(node, unparse(node))

    def false(self, node: Node) -> str:
        """A condition that is true exactly where the node is false, and else false."""
        match node:
            case Call(function="_&&_", args=args):
                return " || ".join(_bracketed(self.false(part)) for part in args)
            case Call(function="_||_", args=args):
                return " && ".join(_bracketed(self.false(part)) for part in args)
            case Call(function="!_", args=(part,)):
                return self.true(part)
        return self._guarded(node, f"!({unparse(node)})")

    def _guarded(self, node: Node, text: str) -> str:
        guards = list(dict.fromkeys(self._needed(node)))
        return " && ".join([*guards, text])

    def _needed(self, node: Node) -> Iterator[str]:
        """What must hold so that a test cannot fail."""
        if isinstance(node, Const) and node.kind == "bool":
            return
        for part in walk(node):
            if not isinstance(part, Read | Has | Const | ListOf | Call):
                raise _UnsupportedError
            if isinstance(part, Call) and part.function not in _OPERATORS:
                raise _UnsupportedError
            if isinstance(part, Read | Has):
                yield from self._reachable(part)
        if isinstance(node, Read):
            yield f"type({dotted(node.root, node.path)}) == bool"
        elif isinstance(node, Call):
            yield from self._typed(node)

    def _typed(self, node: Call) -> Iterator[str]:
        for part in walk(node):
            if not isinstance(part, Call):
                continue
            if part.function in _TEXT_FUNCTIONS:
                for arg in part.args:
                    yield from self._kind(arg, ("string",))
            elif part.function == "size":
                yield from self._kind(part.args[0], ("string", "list", "map"))
            elif part.function == "@in":
                yield from self._kind(part.args[1], ("list", "map"))
            elif part.function in _COMPARISONS:
                yield from self._compared(part)

    def _compared(self, node: Call) -> Iterator[str]:
        """A comparison with a literal fixes the type; any other cannot be guarded."""
        reads = [arg for arg in node.args if isinstance(arg, Read)]
        literals = [arg.kind for arg in node.args if isinstance(arg, Const)]
        computed = [arg for arg in node.args if isinstance(arg, Call)]
        if len(literals) != 1 or literals[0] not in ("int", "double", "string"):
            raise _UnsupportedError
        if computed and (computed[0].function == "size") == (literals[0] == "string"):
            raise _UnsupportedError
        for read in reads:
            yield from self._kind(read, ("string",) if literals[0] == "string" else ("int", "double"))

    def _kind(self, node: Node, kinds: tuple[str, ...]) -> Iterator[str]:
        if not isinstance(node, Read):
            return
        if ("string" in kinds and node in self._texts) or ("int" in kinds and node in self._numbers):
            return
        name = dotted(node.root, node.path)
        tests = " || ".join(f"type({name}) == {kind}" for kind in kinds)
        yield tests if len(kinds) == 1 else f"({tests})"

    def _reachable(self, node: Read | Has) -> Iterator[str]:
        """A field can be read when what it lies in is an object or null."""
        if isinstance(node, Read) and node in self._texts | self._numbers:
            return
        for length in range(len(node.path)):
            if length == 0 and node.root in _OBJECTS:
                continue
            owner = dotted(node.root, node.path[:length])
            yield f"({owner} == null || type({owner}) == map)"


def _is_text_atom(atom: Atom) -> bool:
    texts = all(isinstance(value, str) for value in atom.values)
    return atom.kind in _TEXT_TESTS or (
        atom.kind == "eq" and bool(atom.values) and texts and atom.via != "size"
    )


def _is_number_atom(atom: Atom) -> bool:
    return atom.kind in _NUMBER_TESTS and not atom.via


def _is_true(node: Node) -> bool:
    return isinstance(node, Const) and node.value is True


def _bracketed(text: str) -> str:
    return f"({text})" if "&&" in text or "||" in text or "?" in text else text


def _conjunct(condition: Condition) -> str:
    tree = condition.tree
    loose = isinstance(tree, Call) and tree.function in ("_||_", "_?_:_")
    return f"({condition.source})" if loose else condition.source


def _joined(parts: list[Node]) -> str:
    texts = [unparse(part) for part in parts]
    if len(parts) == 1:
        return texts[0]
    return " && ".join(
        f"({text})" if isinstance(part, Call) and part.function in ("_||_", "_?_:_") else text
        for text, part in zip(texts, parts, strict=True)
    )


def _accepted(source: str) -> str | None:
    try:
        Condition.compile(source)
    except RuleError:
        return None
    return source
