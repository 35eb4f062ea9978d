"""What a path learns from the tasks that followed it. Pure arithmetic.

The reward is an exponential moving average of what was observed (constant step size; Sutton and Barto,
*Reinforcement Learning*, 2018, eq. 2.5): ``reward += RATE * (observed - reward)``. It stays between 0 and 1,
and an old success cannot outvote the failures since.
"""

from typing import Final

RATE: Final = 0.3
KNOWN_RESULTS: Final = ("success", "failure")


def observed_reward(result: str, reward: float | None) -> float:
    """What one use says about its path, 0..1: the task's reward where one was given, else 1 or 0."""
    if reward is None:
        return 1.0 if result == "success" else 0.0
    return clamp(reward)


def learn(reward: float, observed: float) -> float:
    """The reward after one more use."""
    return clamp(reward + RATE * (observed - reward))


def correct(reward: float, *, was: float, now: float, later_uses: int) -> float:
    """The reward as it would be had a use been observed as ``now`` and not as ``was`` at the time.

    ``later_uses`` is how many uses the path learnt from since: each has faded the mistake by ``1 - RATE``.
    """
    return clamp(reward + RATE * (1 - RATE) ** later_uses * (now - was))


def result_of_use(said: str, outcome: str) -> str:
    """What counts for the path: ``unknown``, ``success`` or ``failure``.

    An agent that says that a path failed it is believed (it may have gone on and solved the task in another
    way). Its word that the path worked holds until somebody says how the task ended.
    """
    if said == "failure":
        return "failure"
    return outcome if outcome in KNOWN_RESULTS else said


def clamp(value: float) -> float:
    """The value, at least 0 and at most 1."""
    return min(1.0, max(0.0, value))
