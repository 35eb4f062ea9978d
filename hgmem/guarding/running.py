"""Driving guarded calls: the same steps, sync and async.

``invoke(tool, input)`` makes a real call; whoever integrates a framework brings it. It is only given tools
that the call's ``has_tool`` knows.
"""

from collections.abc import Awaitable, Callable, Mapping
from inspect import isawaitable
from typing import Any

from hgmem.api.errors import NoDecision
from hgmem.guarding.call import Call, Result, Step
from hgmem.guarding.tasks import Task, current_task
from hgmem.guarding.wording import step_failed, step_made
from hgmem.runtime.client import Runtime as Client
from hgmem.runtime.verdict import Verdict

Invoke = Callable[[str, dict[str, Any]], Any]
AsyncInvoke = Callable[[str, dict[str, Any]], Awaitable[Any]]
Approve = Callable[[Call], bool]
AsyncApprove = Callable[[Call], bool | Awaitable[bool]]


def begin(
    tool: str,
    call_input: Mapping[str, Any],
    *,
    task: Task | None = None,
    client: Client | None = None,
    **details: Any,
) -> Call:
    """A guarded call that was asked about already; ``details`` are those of :class:`Call`.

    Then: ``call.check()``, make the call as ``call.tool`` and ``call.input`` say, :func:`conclude` or
    :func:`conclude_error`. For frameworks with hooks around calls that they make themselves.
    """
    call = Call(task or current_task(client), tool, call_input, **details)
    ask(call)
    return call


async def abegin(
    tool: str,
    call_input: Mapping[str, Any],
    *,
    task: Task | None = None,
    client: Client | None = None,
    **details: Any,
) -> Call:
    """:func:`begin`, without holding the event loop."""
    call = Call(task or current_task(client), tool, call_input, **details)
    await aask(call)
    return call


def begin_recording(
    tool: str,
    call_input: Mapping[str, Any],
    *,
    task: Task | None = None,
    client: Client | None = None,
    **details: Any,
) -> Call:
    """A call that is only recorded: somebody else makes it, and nothing is asked about it before."""
    call = Call(task or current_task(client), tool, call_input, **details)
    call.start()
    return call


def ask(call: Call) -> None:
    """Ask for the rules of a call; raises nothing (a refusal waits in the call)."""
    try:
        call.answered(call.task.client.decide(call.question()))
    except NoDecision as error:
        call.undecided(error)


async def aask(call: Call) -> None:
    """:func:`ask`, without holding the event loop."""
    try:
        call.answered(await call.task.client.adecide(call.question()))
    except NoDecision as error:
        call.undecided(error)


def conclude(call: Call, output: Any) -> Result:
    """The call returned: what the rules make of the output. It is recorded."""
    return call.concluded(output, call.task.client.decide(call.returned(output)))


async def aconclude(call: Call, output: Any) -> Result:
    """:func:`conclude`, without holding the event loop. Cancelled meanwhile, it is recorded all the same."""
    question = call.returned(output)
    try:
        verdict = await call.task.client.adecide(question)
    except BaseException:
        call.concluded(output, Verdict.open(question, "cancelled"))
        raise
    return call.concluded(output, verdict)


def conclude_error(call: Call, error: BaseException | str) -> Result:
    """The call failed: the hints of rules on it. It is recorded."""
    return call.failed(error, call.task.client.decide(call.raised(error)))


async def aconclude_error(call: Call, error: BaseException | str) -> Result:
    """:func:`conclude_error`, without holding the event loop. Cancelled meanwhile, it is recorded."""
    question = call.raised(error)
    try:
        verdict = await call.task.client.adecide(question)
    except BaseException:
        call.failed(error)
        raise
    return call.failed(error, verdict)


def run_call(call: Call, invoke: Invoke, approve: Approve | None = None) -> Result:
    """Ask, make what comes first, make the call, record.

    ``approve`` is asked where a rule wants a person to agree: True lets the call be made.

    Raises:
        Refused: the call must not be made (:class:`Blocked`, :class:`ApprovalNeeded`, :class:`NoDecision`).
        Exception: whatever ``invoke`` raises, with the hints as notes.
    """
    if not call.is_asked:
        ask(call)
    if call.needs_approval and approve is not None and approve(call):
        call.approved()
    call.check()
    for step in call.steps:
        call.hints.append(_run_step(call, step, invoke))
    call.start()
    try:
        with call.traced():
            output = invoke(call.tool, call.input)
    except Exception as error:
        _annotate(error, conclude_error(call, error))
        raise
    except BaseException as error:  # cancelled: nothing is asked any more
        call.raised(error)
        call.failed(error)
        raise
    return conclude(call, output)


async def arun_call(call: Call, invoke: AsyncInvoke, approve: AsyncApprove | None = None) -> Result:
    """:func:`run_call` for async tools; ``approve`` may be async as well."""
    if not call.is_asked:
        await aask(call)
    if call.needs_approval and approve is not None:
        granted = approve(call)
        if await granted if isawaitable(granted) else granted:
            call.approved()
    call.check()
    for step in call.steps:
        call.hints.append(await _arun_step(call, step, invoke))
    call.start()
    try:
        with call.traced():
            output = await invoke(call.tool, call.input)
    except Exception as error:
        _annotate(error, await aconclude_error(call, error))
        raise
    except BaseException as error:  # cancelled: nothing is asked any more
        call.raised(error)
        call.failed(error)
        raise
    return await aconclude(call, output)


def _run_step(call: Call, step: Step, invoke: Invoke) -> str:
    """Make an inserted call under the rules of its own tool, without what those insert. Tells how it went."""
    try:
        return step_made(step.tool, step.reason, run_call(call.step_call(step), invoke).text)
    except Exception as error:
        return step_failed(step.tool, step.reason, str(error))


async def _arun_step(call: Call, step: Step, invoke: AsyncInvoke) -> str:
    try:
        result = await arun_call(call.step_call(step), invoke)
        return step_made(step.tool, step.reason, result.text)
    except Exception as error:
        return step_failed(step.tool, step.reason, str(error))


def _annotate(error: Exception, result: Result) -> None:
    for hint in result.hints:
        error.add_note(f"[hint] {hint}")
