"""The life of a rule proposal: one table, as for everything that has a status."""

from collections.abc import Mapping

from memory.domain.lifecycle import Transition, statuses

SOURCES = ("inducer", "agent", "llm")
"""Who proposed a rule: the inducer from evidence, an agent over the API, a language model from a pattern."""

PROPOSAL_INITIAL = "proposed"
PROPOSAL_TRANSITIONS: Mapping[str, Transition] = {
    "accept": Transition(("proposed",), "accepted", "accepted"),
    "reject": Transition(("proposed",), "rejected", "rejected"),
    "withdraw": Transition(("proposed",), "withdrawn", "withdrawn"),
    "propose_again": Transition(("withdrawn", "rejected"), "proposed", "proposed again"),
}
PROPOSAL_STATUSES = statuses(PROPOSAL_INITIAL, PROPOSAL_TRANSITIONS)
