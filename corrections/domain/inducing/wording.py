"""Facts as conditions: CEL that a person can read."""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from corrections.domain.inducing.features import MAX_ADDED, Atom, Place
from corrections.domain.suggesting import NAME, RESERVED

TEXT_KINDS = frozenset(("word", "part", "starts", "blank"))
_SPECIAL = re.compile(r"[^\w\s]")


def literal(value: Any) -> str:
    """A CEL literal of a scalar."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value, ensure_ascii=False)


def field(owner: str, name: str) -> str:
    """``owner.name``, or ``owner["name"]`` where the name is no identifier."""
    plain = NAME.fullmatch(name) and name not in RESERVED
    return f"{owner}.{name}" if plain else f"{owner}[{literal(name)}]"


def path(place: Sequence[str | None], owner: str = "input") -> str:
    """A place without lists as CEL."""
    text = owner
    for name in place:
        text = field(text, str(name))
    return text


def word_pattern(words: Iterable[str]) -> str:
    """A regular expression for any of these words, dotted names or pairs of words, in any case."""
    texts = [r"\W+".join(_SPECIAL.sub(r"\\\g<0>", part) for part in word.split(" ")) for word in words]
    return rf"(?i)\b{texts[0]}\b" if len(texts) == 1 else rf"(?i)\b({'|'.join(texts)})\b"


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
        elif atom.kind in TEXT_KINDS and atom.place not in always_text:
            found.append(f"type({path(atom.place)}) == string")
    return found


def _list_of(place: Place) -> Place:
    return place[: place.index(None)]


def _clause(atom: Atom) -> str:
    if atom.kind == "sum":
        return _sum_clause(atom)
    if None not in atom.place:
        return _test(atom, path(atom.place))
    at = atom.place.index(None)
    where = path(atom.place[at + 1 :], "x")
    test = _test(atom, where)
    if atom.kind == "pair":
        one, other_place, other = atom.value
        second = path(other_place[at + 1 :], "x")
        test = f"{where} == {literal(one)} && {second} == {literal(other)}"
    elif atom.kind in TEXT_KINDS:
        test = f"type({where}) == string && {test}"
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
    return f"!({text})" if "==" in text or "&&" in text else f"!{text}"


def _test(atom: Atom, where: str) -> str:
    value = atom.value
    if atom.kind == "word":
        return f"{where}.matches({literal(word_pattern([value]))})"
    plain = {
        "has": f"has({where})",
        "null": f"{where} == null",
        "blank": f'{where}.trim() == ""',
        "part": f"{where}.contains({literal(value)})",
        "starts": f"{where}.startsWith({literal(value)})",
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
