"""Second tries of a goal, and the step that one of them shows to have been forgotten."""

from corrections.domain.inducing import Inducer, ObservedCall, SecondTries, WholeRun

from .teaching import holds


def run(name: str, *tools: str, goal: str = "water the garden", failed: str = "") -> WholeRun:
    calls = tuple(
        ObservedCall(
            id=f"{name}-{at}", run=name, tool=tool, input={"at": "v-1"}, failed=tool == failed,
            message="no pressure" if tool == failed else "", env={"site": "depot"}, goal=goal,
        )
        for at, tool in enumerate(tools)
    )  # fmt: skip
    return WholeRun(name, goal, calls, is_success=not failed)


def test_tries__failed_and_clean_run_of_a_goal__make_one_repair_in_either_order() -> None:
    failed, clean = run("f", "pump", failed="pump"), run("c", "open", "pump")
    for order in ((failed, clean), (clean, failed)):
        tries = SecondTries()
        assert [(it.run, it.call_id) for one in order for it in tries.meet(one)] == [("f", "f-0")]


def test_tries__clean_run_of_another_goal__says_nothing() -> None:
    tries = SecondTries()
    assert not list(tries.meet(run("f", "pump", failed="pump")))
    assert not list(tries.meet(run("c", "open", "pump", goal="drain the pool")))


def test_inducer__step_forgotten_before_an_earlier_call__is_made_there_and_only_for_the_goal() -> None:
    inducer, tries = Inducer(), SecondTries()
    for one in (run("f", "start", "pump", failed="pump"), run("c", "open", "start", "pump")):
        for call in one.calls:
            inducer.learn(call)
        inducer.end_run(one.name)
        for repair, name, call_id in tries.meet(one):
            inducer.learn_alignment(repair, run=name, call_id=call_id)

    (proposal,) = [it for it in inducer.proposals() if it.action_type == "INSERT_STEP"]

    assert (proposal.tool, proposal.action_detail["tool"]) == ("start", "open")
    assert 'task.goal.startsWith("water the garden")' in proposal.condition
    assert not holds(proposal.condition, {"at": "v-1"}, tool="start")  # no goal was told
