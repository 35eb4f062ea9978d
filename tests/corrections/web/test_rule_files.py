"""Rules as files on the page: plan, ask, see what became of it."""

import json

from django.core.files.uploadedfile import SimpleUploadedFile

from corrections.actions.rules import edit_rule
from corrections.models import ChangeRequest, Rule
from memory.permissions import SYSTEM
from tests.conftest import Cast, page_client
from tests.corrections.builders import make_rule, weather_document

URL = "/w/acme/rules/files/"


def export(cast: Cast, kind: str = "yaml") -> str:
    answer = page_client(cast.viewer).get(f"{URL}export/?format={kind}")
    assert answer["Content-Disposition"] == f'attachment; filename="acme-rules.{kind}"'
    return answer.text


def planned(cast: Cast, text: str) -> dict[str, str]:
    """The fields that the plan's form carries."""
    answer = page_client(cast.reviewer).post(URL, {"do": "plan", "pasted": text})
    plan = answer.context["plan"]
    return {
        "do": "apply",
        "name": "pasted",
        "text": text,
        "digest": plan.digest,
        "base": json.dumps(plan.base),
    }


def test_page__plan_and_apply__makes_change_requests(cast: Cast) -> None:
    make_rule(cast.workspace)
    text = export(cast).replace("Shanghai", "Beijing")
    client = page_client(cast.reviewer)

    page = client.post(URL, {"do": "plan", "pasted": text})
    assert "Beijing" in page.text
    assert ChangeRequest.objects.filter(status="open").count() == 0
    answer = client.post(URL, planned(cast, text) | {"reason": "from git"})

    change = ChangeRequest.objects.get(status="open")
    assert answer["Location"] == f"{URL}?batch={change.batch}"
    assert change.title in client.get(answer["Location"]).text
    assert change.description == "from git"


def test_page__upload_of_json__says_nothing_to_do(cast: Cast) -> None:
    make_rule(cast.workspace)
    file = SimpleUploadedFile("r.json", export(cast, "json").encode())
    assert "Nothing to do" in page_client(cast.reviewer).post(URL, {"do": "plan", "files": file}).text


def test_page__a_rule_moved_meanwhile__answers_409_with_the_new_plan(cast: Cast) -> None:
    rule = make_rule(cast.workspace)
    form = planned(cast, export(cast).replace("Shanghai", "Beijing"))
    edit_rule(rule=rule, document=weather_document(priority=7), base_version=1, by=SYSTEM)
    answer = page_client(cast.reviewer).post(URL, form)
    assert answer.status_code == 409
    assert "now it is active, version 2" in answer.text
    assert answer.context["plan"].digest != form["digest"]


def test_page__faults__are_listed_and_escaped(cast: Cast) -> None:
    answer = page_client(cast.reviewer).post(URL, {"do": "plan", "pasted": "- name: <b>x</b>"})
    assert answer.status_code == 422
    assert "&lt;b&gt;x&lt;/b&gt;" in answer.text
    assert "applies_to" in answer.text


def test_page__no_text__answers_422(cast: Cast) -> None:
    file = SimpleUploadedFile("r.yaml", b"\xff")
    assert page_client(cast.reviewer).post(URL, {"do": "plan", "files": file}).status_code == 422
    assert page_client(cast.reviewer).post(URL, {"do": "plan"}).status_code == 422


def test_page__a_viewer__sees_no_form_and_may_not_plan(cast: Cast) -> None:
    assert "Show the plan" not in page_client(cast.viewer).get(URL).text
    assert page_client(cast.viewer).post(URL, {"do": "plan", "pasted": "[]"}).status_code == 403


def test_page__a_crooked_base__is_ignored(cast: Cast) -> None:
    make_rule(cast.workspace)
    form = planned(cast, export(cast).replace("Shanghai", "Beijing")) | {"base": "[1"}
    assert page_client(cast.reviewer).post(URL, form).status_code == 302
    assert Rule.objects.count() == 1
