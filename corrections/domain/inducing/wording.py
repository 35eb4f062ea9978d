"""Facts as conditions: CEL that a person can read."""

from collections.abc import Iterable, Sequence

from corrections.domain.inducing.features import MAX_ADDED, Atom, Place
from corrections.domain.inducing.phrases import (
    SURROUNDING_KINDS,
    field,
    literal,
    path,
    surrounding_clause,
    word_pattern,
)

TEXT_KINDS = frozenset(("word", "part", "starts", "ends", "blank"))
USUAL_KINDS = TEXT_KINDS - {"ends"}
"""Kinds that are not guarded where a tool was never called without the text: most rules would say it."""
NUMBER_BOUNDS = {"above": ">", "below": "<"}
SIZE_BOUNDS = {"longer": ">", "shorter": "<"}


def condition_of(
    scope: tuple[str, str],
    all_of: Iterable[Atom],
    none_of: Iterable[Atom],
    any_of: Sequence[Atom],
    always_text: frozenset[Place],
) -> str:
    """Facts that must all hold, facts that must not, and facts of which one must; in one environment.

    ``always_text`` are the places that every call of the tool fills with text; the others are asked for their
    type first, because a text function over a null is an error.
    """
    holding, failing = sorted(all_of, key=_order), sorted(none_of, key=_order)
    clauses = [f"{field('env', scope[0])} == {literal(scope[1])}"] if scope[0] else []
    clauses += _guards([*any_of, *holding, *failing], always_text)
    clauses += [_one_of(any_of)] if any_of else []
    clauses += [_clause(atom) for atom in holding]
    clauses += [_negated(atom) for atom in failing]
    return " && ".join(dict.fromkeys(clauses)) or "true"


def _order(atom: Atom) -> tuple[str, ...]:
    return (*(str(step) for step in atom.place), atom.kind, repr(atom.value))


def _guards(atoms: Iterable[Atom], always_text: frozenset[Place]) -> list[str]:
    found = []
    for atom in atoms:
        if None in atom.place:
            found.append(f"type({path(_list_of(atom.place))}) == list")
        elif atom.kind not in USUAL_KINDS or atom.place not in always_text:
            guard = _guard(atom.kind, path(atom.place))
            found += [guard] if guard else []
    return found


def _guard(kind: str, where: str) -> str:
    """What must be asked first, so that a test of this kind is never an error."""
    if kind in TEXT_KINDS:
        return f"type({where}) == string"
    if kind in NUMBER_BOUNDS:
        return f"type({where}) in [int, double]"
    if kind in SIZE_BOUNDS:
        return f"type({where}) in [string, list]"
    return f"{where} != null" if kind == "passed" else ""


def _list_of(place: Place) -> Place:
    return place[: place.index(None)]


def _clause(atom: Atom) -> str:
    if atom.kind == "sum":
        return _sum_clause(atom)
    if atom.kind in SURROUNDING_KINDS:
        return surrounding_clause(atom)
    if None not in atom.place:
        return _test(atom, path(atom.place))
    at = atom.place.index(None)
    where = path(atom.place[at + 1 :], "x")
    test = _test(atom, where)
    if atom.kind == "pair":
        one, other_place, other = atom.value
        second = path(other_place[at + 1 :], "x")
        test = f"{where} == {literal(one)} && {second} == {literal(other)}"
    elif guard := _guard(atom.kind, where):
        test = f"{guard} && {test}"
    return f"{path(atom.place[:at])}.exists(x, {test})"


def _one_of(atoms: Sequence[Atom]) -> str:
    """Atoms of one place and kind, in one expression."""
    first = atoms[0]
    at = first.place.index(None) if None in first.place else len(first.place)
    where = path(first.place[at + 1 :], "x") if at < len(first.place) else path(first.place)
    values = [atom.value for atom in atoms]
    if first.kind == "word":
        test = f"{where}.matches({literal(word_pattern(values))})"
    else:
        test = f"{where} in [{', '.join(map(literal, values))}]"
    if at == len(first.place):
        return test
    guard = f"type({where}) == string && " if first.kind == "word" else ""
    return f"{path(first.place[:at])}.exists(x, {guard}{test})"


def _negated(atom: Atom) -> str:
    if atom.kind in ("is", "number", "flag") and None not in atom.place:
        return f"{path(atom.place)} != {literal(atom.value)}"
    if atom.kind == "null":
        return f"{path(atom.place)} != null"
    text = _clause(atom)
    if atom.kind in ("called", "passed"):
        return f"!{text}"
    return f"!({text})" if "==" in text or "&&" in text else f"!{text}"


def _test(atom: Atom, where: str) -> str:
    value = atom.value
    if atom.kind == "word":
        return f"{where}.matches({literal(word_pattern([value]))})"
    if atom.kind in NUMBER_BOUNDS:
        return f"{where} {NUMBER_BOUNDS[atom.kind]} {literal(value)}"
    if atom.kind in SIZE_BOUNDS:
        return f"{where}.size() {SIZE_BOUNDS[atom.kind]} {literal(value)}"
    plain = {
        "has": f"has({where})",
        "null": f"{where} == null",
        "blank": f'{where}.trim() == ""',
        "part": f"{where}.contains({literal(value)})",
        "starts": f"{where}.startsWith({literal(value)})",
        "ends": f"{where}.endsWith({literal(value)})",
        "type": f"type({where}) == {value}",
    }
    return plain.get(atom.kind) or f"{where} == {literal(value)}"


def _sum_clause(atom: Atom) -> str:
    """CEL cannot add a list up, so its few elements are named."""
    at = atom.place.index(None)
    items = path(atom.place[:at])
    terms = []
    for index in range(MAX_ADDED):
        where = path(atom.place[at + 1 :], f"{items}[{index}]")
        terms.append(f"({items}.size() > {index} && {where} != null ? double({where}) : 0.0)")
    return f"{items}.size() <= {MAX_ADDED} && {' + '.join(terms)} == {atom.value!r}"
