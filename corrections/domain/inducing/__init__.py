"""The inducer: correction rules from what calls did, no model needed.

It is told one call after another and proposes rules that cover the failures and leave the good calls alone.
Pure: no database, no clock, no I/O; the same calls in the same order give the same proposals.
"""

from corrections.domain.inducing.calls import ObservedCall, PastCall, own_calls
from corrections.domain.inducing.inducer import Inducer
from corrections.domain.inducing.proposals import Backtest, Changes, Proposal
from corrections.domain.inducing.tries import SecondTries, WholeRun

__all__ = [
    "Backtest",
    "Changes",
    "Inducer",
    "ObservedCall",
    "PastCall",
    "Proposal",
    "SecondTries",
    "WholeRun",
    "own_calls",
]
