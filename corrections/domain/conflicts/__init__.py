"""Conflict analysis: which rules cannot live together, with a call that shows it.

    analysis = analyse_rule(rule, neighbours, Facts(now=now), solver)

``solver`` answers questions (``questions.Solver``): ``corrections.background.solver`` has one that lives in a
child process which can be killed. Only ``answering`` and the modules below it import z3; importing this package
does not.
"""

from corrections.domain.conflicts.analysis import Progress, analyse_all, analyse_rule
from corrections.domain.conflicts.findings import Analysis, Facts, Finding
from corrections.domain.conflicts.questions import Answer, Part, Question, Setting, Solver
from corrections.domain.conflicts.scopes import meeting

__all__ = [
    "Analysis", "Answer", "Facts", "Finding", "Part", "Progress", "Question", "Setting", "Solver",
    "analyse_all", "analyse_rule", "meeting",
]  # fmt: skip
