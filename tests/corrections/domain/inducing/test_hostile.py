"""What agents and tools may throw at the inducer: nothing breaks, nothing grows without bound."""

from typing import Any

import pytest

from corrections.domain.inducing import features, ledger
from corrections.domain.inducing import inducer as inducing
from corrections.domain.inducing.covering import MAX_FACTS, MAX_TRIED, Clause, cover, repeat
from corrections.domain.inducing.features import Atom, atoms_of
from corrections.domain.inducing.ledger import Book, Ledger
from hgmem.rules import Rule

from .teaching import Made, flags, holds, teach, teach_calls


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {"text": "north pole"}
    for _ in range(depth):
        value = {"in": value}
    return value


HOSTILE = [
    pytest.param({"text": r'go "no\rth" (.*)+ [a-z]{9} $^ |\\'}, "no 'no\\rth' (.*)+", id="metacharacters"),
    pytest.param({"text": "say \"hi\" && true || input.x == 'y'"}, 'bad "hi"', id="quotes"),
    pytest.param({'a"]; b': "x1", "in": "y2"}, "value x1 is wrong", id="names-that-are-no-identifiers"),
    pytest.param({"text": "north \x00 \ud800 \u2028 pole"}, "no 'north'", id="broken-unicode"),
    pytest.param({"text": "north " * 50_000}, "no 'north'", id="huge-text"),
    pytest.param({f"f{at}": f"north{at}" for at in range(5_000)}, "no north7", id="many-fields"),
    pytest.param({"rows": [{"a": f"k{at}", "b": "v"} for at in range(5_000)]}, "no k7", id="many-items"),
    pytest.param(nested(45), "no 'north'", id="deep"),
    pytest.param({"n": 10**400, "m": float(2**60), "k": float("inf")}, "too large: inf", id="huge-numbers"),
    pytest.param({"text": "{{ env.secret }} ${x}"}, "{{ env.secret }}", id="templates"),
    pytest.param({}, "", id="nothing"),
]


@pytest.mark.parametrize(("call_input", "error"), HOSTILE)
def test_inducer__hostile_call__gives_rules_that_evaluate_or_none(call_input: Any, error: str) -> None:
    inducer = teach([[({"text": "south"}, "")], [(call_input, error or "?")], [({"text": None}, "")]])

    assert not flags(inducer, {"text": "south"})
    assert not flags(inducer, {"text": None})
    assert not flags(inducer, {"text": 5, "rows": "none", "in": []})


@pytest.mark.parametrize("call_input", [case.values[0] for case in HOSTILE])
def test_atoms_of__hostile_input__are_few(call_input: Any) -> None:
    assert len(atoms_of(call_input)) <= features.MAX_ATOMS


class CountingLedger(Ledger):
    """Counts the facts that are weighed."""

    weighed = 0

    def commonness(self, book: Book, atom: Atom) -> int:
        """As ever, and counted."""
        self.weighed += 1
        return super().commonness(book, atom)


def test_cover__many_calls_with_many_words__weighs_a_bounded_number_of_facts() -> None:
    book, counting = ("act", "depot"), CountingLedger()
    fine = [atoms_of({"text": f"north {' '.join(f'w{n}x{at}' for n in range(40))}"}) for at in range(200)]
    for at, atoms in enumerate(fine):
        counting.add(book, str(at), atoms)
    failing = [atoms_of({"text": f"north {' '.join(f'q{n}x{at}' for n in range(40))}"}) for at in range(8)]

    clauses = cover(Clause(frozenset({Atom(("text",), "word", "north")})), failing, book, counting)

    assert clauses
    assert not any(clause.holds(atoms) for clause in clauses for atoms in fine)
    assert counting.weighed <= len(failing) * MAX_FACTS * 2 * MAX_TRIED


def test_repeat__any_number_of_calls__has_short_clauses() -> None:
    book, empty = ("act", "depot"), Ledger()
    failing = [atoms_of({"text": f"do {' '.join(f'q{n}x{at}' for n in range(40))}"}) for at in range(60)]

    clauses = repeat(failing, book, empty)

    assert clauses
    assert max(len(clause.all_of) + len(clause.none_of) for clause in clauses) <= 2 * MAX_FACTS


def test_ledger__values_of_an_open_vocabulary__are_never_foreign() -> None:
    book, filled = ("act", ""), Ledger()
    for at in range(3 * ledger.MIN_SEEN):
        filled.add(book, str(at), atoms_of({"name": f"n{at}", "mode": "slow"}))

    assert filled.is_foreign("act", Atom(("mode",), "is", "turbo"))
    assert not filled.is_foreign("act", Atom(("name",), "is", "other"))


def test_ledger__more_calls_than_are_kept__forgets_the_oldest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "MAX_CALLS", 10)
    monkeypatch.setattr(ledger, "MAX_ALL_CALLS", 25)
    filled = Ledger()
    for at in range(30):
        for tool in ("a", "b", "c"):
            filled.add((tool, ""), f"{tool}-{at}", atoms_of({"n": at, "t": f"v{at}"}), run=str(at))

    assert sum(filled.size((tool, "")) for tool in ("a", "b", "c")) <= 25
    assert filled.hit(("c", ""), (Atom(("t",), "is", "v0"),)) == set()
    assert [filled.name(("c", ""), n) for n in filled.hit(("c", ""), (Atom(("t",), "is", "v29"),))] == [
        "c-29"
    ]
    assert min(filled.measures(("c", ""), ("n",), "number")) >= 20.0
    assert filled.runs(("c", ""), Atom(("n",), "above", 0.0)) == filled.size(("c", "")) <= 10


def test_inducer__more_mistakes_than_are_kept__forgets_the_oldest_with_their_rules(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(inducing, "MAX_GROUPS", 6)

    learnt = teach([[({"text": f"go to place{at}x"}, f"no 'place{at}x' here")] for at in range(12)])

    assert not flags(learnt, {"text": "see place0x"})
    assert flags(learnt, {"text": "see place11x"})
    assert len(learnt.proposals()) <= 6


HOSTILE_HISTORY: list[list[Made]] = [
    [('x"] || true; y', {'a"b': 'v"1', "\x00": "\ud800"}, ""), ("act", {"k": 'v"1'}, "bad")],
    [("act", {"k": "long" * 9_000}, "bad")] * 40,
    [("{{ env.key }}", {"k": "{{ input.k }}"}, ""), ("act", {"k": "{{ input.k }}"}, "bad")],
    [("deep", nested(45), ""), ("act", nested(45), "bad")],
]


def test_inducer__hostile_history__gives_rules_that_evaluate_or_none() -> None:
    fixed = [[*run, ("act", run[-1][1], "")] for run in HOSTILE_HISTORY]
    learnt = teach_calls([*fixed, *fixed, *fixed], env={"site": "depot", 'x"y': "\x00", "tier": "{{ a }}"})

    for proposal in learnt.proposals():
        assert not holds(proposal.condition, {"k": "v1"}, site="elsewhere")
        Rule.from_document(proposal.document() | {"uuid": proposal.key})
