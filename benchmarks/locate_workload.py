"""Synthetic paths for the scale benchmark: many goals near each other, as a workspace of agents has them.

An *intent* is a verb, an object and a condition ("list the invoices that are overdue"); its popularity
follows Zipf's law. Each path is one run of an intent: a wording of it (six, of different shape) over an
entity (a name, a number, a city, a month), so that dozens to thousands of paths differ from each other by an
entity or by a wording only. What was done follows from the intent: one to four calls whose parameters name
object, condition and entity. A question is a fresh wording of an intent over an entity of its own.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

VERBS = (
    "list", "count", "cancel", "refund", "move", "rename", "compare", "export", "approve", "reject", "assign",
    "archive", "restore", "verify", "schedule", "summarise", "translate", "merge", "split", "reprice",
    "renew", "suspend", "upgrade", "downgrade", "notify", "track", "reserve", "release", "audit", "forecast",
)  # fmt: skip
OBJECTS = (
    "invoices", "orders", "flights", "bookings", "tickets", "customers", "shipments", "contracts", "payments",
    "subscriptions", "players", "stadiums", "concerts", "teachers", "courses", "pets", "airports", "routes",
    "singers", "documents", "employees", "shops", "models", "countries", "languages", "votes", "orchestras",
    "museums", "battles", "ships", "elections", "visits", "treatments", "messages", "folders", "accounts",
    "trades", "sensors", "rooms", "vehicles", "recipes", "permits", "claims", "leases", "surveys", "backups",
)  # fmt: skip
CONDITIONS = (
    "that are overdue", "with more than three items", "without an owner", "older than a year", "in arrears",
    "with the highest rating", "below the average price", "that changed twice", "with a missing address",
    "above the credit limit", "that share a manager", "sold on weekends", "with two open complaints",
    "in the smallest region", "that never shipped", "paid by card", "with a duplicate number",
    "of the newest version", "sorted by age", "grouped by country", "that failed inspection",
    "with free capacity", "out of warranty", "in both seasons",
)  # fmt: skip
FIRST = ("Ada", "Bruno", "Chen", "Dina", "Emeka", "Fatima", "Goran", "Hana", "Igor", "Jun", "Kofi", "Lena")
LAST = (
    "Almeida",
    "Brandt",
    "Costa",
    "Dubois",
    "Eriksen",
    "Fischer",
    "Garcia",
    "Haas",
    "Ito",
    "Jensen",
    "Khan",
)
CITIES = ("Lisbon", "Osaka", "Denver", "Lagos", "Turin", "Bergen", "Quito", "Perth", "Leeds", "Hanoi", "Cork")
MONTHS = ("January", "March", "April", "June", "August", "October", "December")
WORDINGS = (
    "{verb} the {object} {condition} for {entity}",
    "For {entity}, please {verb} all {object} {condition}.",
    "Which {object} {condition} does {entity} have? Then {verb} them.",
    "I need you to {verb} {object} {condition}; it concerns {entity}",
    "{entity}: {object} {condition} -> {verb}",
    "Can you {verb} every one of the {object} {condition} that belong to {entity}?",
)
AGENTS = tuple(f"agent-{number}" for number in range(12))
RESULTS = ("success",) * 6 + ("retry",) + ("failure",) * 3


@dataclass(frozen=True)
class Run:
    """One synthetic path, as plain values. ``steps`` are tool and parameters."""

    goal: str
    tags: tuple[str, ...]
    steps: tuple[tuple[str, dict[str, str]], ...]
    agent: str
    result: str
    reward: float


def make_runs(count: int, seed: int = 7) -> Iterator[Run]:
    """The same runs for the same seed."""
    choose = random.Random(seed)
    intents = _Intents()
    for _ in range(count):
        verb, thing, condition = intents.draw(choose)
        entity, result = _entity(choose), choose.choice(RESULTS)
        goal = choose.choice(WORDINGS).format(verb=verb, object=thing, condition=condition, entity=entity)
        yield Run(
            goal=goal[0].upper() + goal[1:],
            tags=(thing, verb) if choose.random() < 0.5 else (thing,),
            steps=_steps(verb, thing, condition, entity, choose),
            agent=choose.choice(AGENTS),
            result=result,
            reward=1.0 if result == "success" else 0.0,
        )


def make_questions(count: int, seed: int = 11) -> list[tuple[str, tuple[str, ...]]]:
    """Goals with their tags, of the same intents."""
    return [(run.goal, run.tags) for run in make_runs(count, seed)]


class _Intents:
    """All triples in one fixed shuffled order; the k-th is drawn with a weight of 1/(k+10)."""

    def __init__(self, size: int = 6_000) -> None:
        triples = [
            (verb, thing, condition) for verb in VERBS for thing in OBJECTS for condition in CONDITIONS
        ]
        random.Random(3).shuffle(triples)
        self._triples: Sequence[tuple[str, str, str]] = triples[:size]
        total, self._sums = 0.0, []
        for rank in range(size):
            total += 1 / (rank + 10)
            self._sums.append(total)

    def draw(self, choose: random.Random) -> tuple[str, str, str]:
        return choose.choices(self._triples, cum_weights=self._sums)[0]


def _entity(choose: random.Random) -> str:
    person = f"{choose.choice(FIRST)} {choose.choice(LAST)}"
    kind = choose.randrange(4)
    if kind == 0:
        return person
    if kind == 1:
        return f"account {choose.randrange(10_000, 99_999)}"
    if kind == 2:
        return f"{choose.choice(CITIES)} in {choose.choice(MONTHS)}"
    return f"{person} ({choose.choice(CITIES)}, {choose.randrange(2018, 2026)})"


def _steps(
    verb: str, thing: str, condition: str, entity: str, choose: random.Random
) -> tuple[tuple[str, dict[str, str]], ...]:
    steps = [
        (f"find_{thing}", {"where": condition, "of": entity}),
        (f"get_{thing[:-1]}_details", {"id": str(choose.randrange(1_000))}),
        (f"{verb}_{thing}", {"which": condition, "for": entity}),
        ("send_message", {"to": entity, "about": f"{verb} {thing}"}),
    ]
    kept = [step for step in steps[:2] if choose.random() < 0.6] + [steps[2]]
    return tuple(kept + ([steps[3]] if choose.random() < 0.3 else []))
