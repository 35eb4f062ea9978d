"""The page of the policy of canaries, and the choice on a change request."""

import pytest

from corrections.domain.canaries import safe_canary_policy
from corrections.models import Canary
from memory.models import Workspace
from tests.conftest import Cast, page_client
from tests.corrections.builders import make_rule
from tests.pages import page_faults

pytestmark = pytest.mark.django_db
URL = "/w/acme/canaries/policy/"
FORM = {
    "start": "all", "first_share": "5", "full_share": "40", "min_look": "20", "alpha": "1", "max_days": "7",
    "holdout": "0", "rare_per_day": "3", "shadow_first": "on", "shadow_tasks": "9", "shadow_hours": "2",
}  # fmt: skip


def test_policy__saved__is_what_the_form_shows(cast: Cast) -> None:
    client = page_client(cast.owner)
    assert page_faults(client.get(URL)) == []

    answer = client.post(URL, FORM)

    policy = safe_canary_policy(Workspace.objects.get(pk=cast.workspace.pk).settings)
    assert (answer.status_code, policy.start, policy.first_share, policy.alpha) == (302, "all", 0.05, 0.01)
    assert (policy.holdout, policy.shadow_first, policy.shadow_hours) == (0, True, 2.0)
    assert 'value="5.0"' in client.get(URL).text


@pytest.mark.parametrize("field", ["first_share", "alpha", "max_days"])
def test_policy__senseless__says_so_and_keeps_the_old_one(cast: Cast, field: str) -> None:
    answer = page_client(cast.owner).post(URL, FORM | {field: "0"})

    assert (answer.status_code, f'id="id_{field}_error"' in answer.text) == (200, True)
    assert "canaries" not in Workspace.objects.get(pk=cast.workspace.pk).settings


@pytest.mark.parametrize("rollout", ["all", "canary"])
def test_change__approver_chooses__and_it_is_published_so(cast: Cast, rollout: str) -> None:
    change = make_rule(cast.workspace, active=False).changes.get()
    client, url = page_client(cast.reviewer), f"/w/acme/changes/{change.uuid}/"
    assert "It is published to all tasks at once." in client.get(url).text

    client.post(f"{url}approve/", {"revision": 1, "rollout": rollout})

    change.refresh_from_db()
    assert (change.status, Canary.objects.exists()) == ("published", rollout == "canary")
