"""The reference of P2: put in place of a missing table what the run's own later success had there.

It knows SQL error messages and sees the future of the run; the product does neither.
"""

import re

from benchmarks.effect_replay import Executor
from benchmarks.streams import Call, Run
from corrections.domain.inducing.repairs import swaps_between
from hgmem.rules.words import replace_words

MISSING = re.compile(r"Table '(?:[^'.]+\.)?([^'.]+)' doesn't exist")


def renamed(run: Run, seq: int) -> dict[str, str] | None:
    """The input of a failing call with its missing table renamed; None where that cannot be done."""
    call = run.calls[seq]
    missing = MISSING.search(str(call.obs)) if call.failed else None
    if missing is None:
        return None
    for later in run.calls[seq + 1 :]:
        new = _new_name(call, later, missing[1].lower())
        if new:
            texts = {name: value for name, value in call.args.items() if isinstance(value, str)}
            return {name: replace_words(text, {missing[1]: new}) for name, text in texts.items()}
    return None


def _new_name(call: Call, later: Call, missing: str) -> str | None:
    if later.failed or later.tool != call.tool:
        return None
    return next((swap.new for swap in swaps_between(call.args, later.args) if swap.old == missing), None)


def reference(runs: tuple[Run, ...], execute: Executor) -> tuple[int, int, int]:
    """Matched, ran, right."""
    outcomes = [
        execute(run, call.tool, changed)
        for run in runs
        for seq, call in enumerate(run.calls)
        if (changed := renamed(run, seq)) is not None
    ]
    return len(outcomes), sum(ran for ran, _right in outcomes), sum(right for _ran, right in outcomes)
