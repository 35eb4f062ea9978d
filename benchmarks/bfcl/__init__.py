"""Real tools that really fail: the multi-turn tasks of BFCL, played without a model.

The wheel ``bfcl-eval`` holds 200 multi-turn tasks with gold calls and executable tool classes
(file system, vehicle, trading, travel, messages, posts, tickets, mathematics). Leaving one gold step
out of a task gives a variant; many variants then fail with the tools' own error messages. Nothing of
the wheel is copied here: it is read and executed where it is installed.
"""

from benchmarks.bfcl.playing import Call, PlannedCall, Run, play
from benchmarks.bfcl.tasks import Task, Variant, load_tasks, variants

__all__ = ["Call", "PlannedCall", "Run", "Task", "Variant", "load_tasks", "play", "variants"]
