"""Validators: written, checked, tried, backtested, switched."""

import pytest

from memory.models import AuditEvent, Validator
from tests.builders import make_call, make_task, make_tool, make_validator
from tests.conftest import Cast, page_client

NEW = "/w/acme/validators/new/"
GOOD = {"name": "has a price", "tool": "book", "kind": "cel", "source": "output.price > 0", "message": ""}


def test_validator__saved__is_on_and_audited(cast: Cast) -> None:
    answer = page_client(cast.maintainer).post(NEW, GOOD | {"do": "save"}, follow=True)

    row = Validator.objects.get()
    assert (row.body, row.is_enabled, row.created_by) == ({"check": "output.price > 0"}, True, "maintainer")
    assert "output.price &gt; 0" in answer.text
    assert AuditEvent.objects.get(verb="create_validator").new["body"] == row.body


@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param({"source": "output.price >"}, "note-error", id="cel-syntax"),
        pytest.param({"source": "nonsense.price > 0"}, "note-error", id="cel-unknown-name"),
        pytest.param({"kind": "json_schema", "source": "{"}, "Not JSON", id="schema-not-json"),
        pytest.param(
            {"kind": "json_schema", "source": '{"type": 5}'}, "Not a JSON Schema", id="schema-not-schema"
        ),
        pytest.param(
            {"kind": "json_schema", "source": '{"$ref": "http://x/y"}'},
            "must stay inside",
            id="schema-reaches-out",
        ),
        pytest.param({"name": ""}, "This field is required", id="no-name"),
        pytest.param({"kind": "python"}, "Select a valid choice", id="unknown-kind"),
    ],
)
@pytest.mark.parametrize("do", ["save", "check"])
def test_validator__bad__is_said_and_not_stored(
    cast: Cast, do: str, change: dict[str, str], said: str
) -> None:
    answer = page_client(cast.maintainer).post(NEW, GOOD | change | {"do": do})

    assert answer.status_code == 200
    assert said in answer.text
    assert not Validator.objects.exists()


def test_validator__check__says_that_it_runs_and_stores_nothing(cast: Cast) -> None:
    answer = page_client(cast.maintainer).post(NEW, GOOD | {"do": "check"})

    assert "The check can be run." in answer.text
    assert not Validator.objects.exists()


@pytest.mark.parametrize(
    ("trial", "said"),
    [
        pytest.param({"trial_output": '{"price": 3}'}, "Passes.", id="passes"),
        pytest.param({"trial_output": '{"price": 0}'}, "Fails.", id="fails"),
        pytest.param({"trial_output": "text"}, "be checked.", id="cannot-be-checked"),
        pytest.param({"trial_input": "{"}, 'id="id_trial_input_error"', id="input-not-json"),
        pytest.param({"trial_input": "[]"}, "The input is a JSON object", id="input-not-object"),
        pytest.param({"trial_call": "nowhere"}, "no such call", id="no-call"),
    ],
)
def test_validator__tried_on_pasted_json__says_the_verdict(
    cast: Cast, trial: dict[str, str], said: str
) -> None:
    answer = page_client(cast.maintainer).post(NEW, GOOD | trial | {"do": "try"})

    assert said in answer.text


@pytest.mark.parametrize("shape", ["http://x/w/acme/tasks/{uuid}/?after=1#call-{seq}", "{uuid}#{seq}"])
def test_validator__tried_on_a_recorded_call__says_the_verdict(cast: Cast, shape: str) -> None:
    call = make_call(make_task(cast.workspace), output={"price": 3})
    address = shape.format(uuid=call.task.uuid, seq=call.seq)

    answer = page_client(cast.maintainer).post(NEW, GOOD | {"do": "try", "trial_call": address})

    assert "Passes." in answer.text


def test_validator__tried_on_a_foreign_call__finds_none(cast: Cast) -> None:
    call = make_call(make_task(cast.elsewhere), output={"price": 3})

    answer = page_client(cast.maintainer).post(NEW, GOOD | {"do": "try", "trial_call": f"{call.task.uuid}#0"})

    assert "no such call" in answer.text


def test_validator__backtest__counts_and_lists_the_failing(cast: Cast) -> None:
    task = make_task(cast.workspace, "run-1")
    for name in ("book", "book_hotel", "cancel"):
        make_tool(cast.workspace, name)
    for price in (1, 2, 0):
        make_call(task, "book", output={"price": price})
    make_call(task, "book_hotel", output={"price": -1})
    make_call(task, "cancel", output={"price": -1})

    text = (
        page_client(cast.maintainer).post(NEW, GOOD | {"do": "backtest", "tool": "book*", "calls": "10"}).text
    )

    assert "Looked at 4 recorded calls of 2 tools" in text
    assert "<strong>2</strong> fail, 2 pass" in text
    assert "run-1 #2" in text
    assert "run-1 #4" not in text


def test_validator__edited_twice_from_one_revision__refuses_the_second(cast: Cast) -> None:
    row = make_validator(cast.workspace)
    client, url = page_client(cast.maintainer), f"/w/acme/validators/{row.uuid}/edit/"

    client.post(url, GOOD | {"do": "save", "revision": "1", "source": "output.price > 1"})
    second = client.post(url, GOOD | {"do": "save", "revision": "1", "source": "output.price > 2"})

    row.refresh_from_db()
    assert (row.revision, row.body) == (2, {"check": "output.price > 1"})
    assert "Somebody else changed" in second.text


def test_validator__name_taken__is_said(cast: Cast) -> None:
    make_validator(cast.workspace)

    assert (
        "Another validator has this name"
        in page_client(cast.maintainer).post(NEW, GOOD | {"do": "save"}).text
    )


def test_validator__switched__once_in_the_audit(cast: Cast) -> None:
    row = make_validator(cast.workspace)
    client = page_client(cast.maintainer)

    for _ in range(2):
        client.post(f"/w/acme/validators/{row.uuid}/switch/", {"to": "off"})

    row.refresh_from_db()
    assert row.is_enabled is False
    assert AuditEvent.objects.filter(verb="disable_validator").count() == 1


@pytest.mark.parametrize("path", ["new/", "{uuid}/edit/", "{uuid}/switch/"])
def test_validator__reviewer__may_not_write(cast: Cast, path: str) -> None:
    row = make_validator(cast.workspace)
    url = f"/w/acme/validators/{path.format(uuid=row.uuid)}"

    assert page_client(cast.reviewer).post(url, GOOD | {"do": "save"}).status_code == 403
