"""Many canaries at once: which of them may be called harmful without calling too many falsely so."""

from collections.abc import Hashable, Mapping
from math import log
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)


def e_bh(log_es: Mapping[Key, float], alpha: float) -> set[Key]:
    """The keys that the e-BH procedure rejects at level alpha.

    With m e-values, the k largest are rejected for the largest k whose k-th is at least m / (k alpha). The
    expected share of false ones among the rejected is <= alpha however the e-values depend on each other
    (Wang and Ramdas, "False discovery rate control with e-values", JRSS B 2022). With one key: E >= 1/alpha.

    Raises:
        ValueError: alpha is not strictly between 0 and 1.
    """
    if not 0.0 < alpha < 1.0:
        raise ValueError("alpha lies strictly between 0 and 1")
    ordered = sorted(log_es, key=lambda key: log_es[key], reverse=True)
    bound = log(len(ordered) or 1) - log(alpha)
    passing = [at for at, key in enumerate(ordered, start=1) if log_es[key] >= bound - log(at)]
    return set(ordered[: passing[-1]]) if passing else set()
