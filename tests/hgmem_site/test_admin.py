"""The raw tables: superusers only, and nobody changes anything there."""

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group
from django.test import Client
from django.urls import reverse

from memory.models import User
from tests.builders import make_call, make_failure, make_pattern, make_task, make_tool, make_validator
from tests.conftest import Cast, page_client

MODELS = sorted(
    (model for model in admin.site._registry if model is not Group), key=lambda model: model.__name__
)


@pytest.fixture
def superuser(cast: Cast) -> Client:
    task = make_task(cast.workspace)
    make_failure(make_call(task), make_pattern(cast.workspace))
    make_tool(cast.workspace)
    make_validator(cast.workspace)
    return page_client(User.objects.create_superuser("root", password="x"))


@pytest.mark.parametrize("model", [pytest.param(model, id=model.__name__) for model in MODELS])
def test_admin__superuser__may_look_and_not_change(superuser: Client, model: type) -> None:
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
    assert superuser.get(reverse(f"{name}_changelist")).status_code == 200
    assert superuser.get(reverse(f"{name}_add")).status_code == 403
    row = model.objects.first()
    if row is not None:
        page = superuser.get(reverse(f"{name}_change", args=[row.pk]))
        assert page.status_code == 200
        assert 'name="_save"' not in page.text
        assert superuser.post(reverse(f"{name}_change", args=[row.pk]), {}).status_code == 403
        assert superuser.post(reverse(f"{name}_delete", args=[row.pk]), {"post": "yes"}).status_code == 403


def test_admin__key__shows_no_digest(superuser: Client, cast: Cast, agent_api: object) -> None:
    key = cast.workspace.api_keys.get()

    page = superuser.get(reverse("admin:memory_apikey_change", args=[key.pk]))

    assert key.digest not in page.text


def test_admin__member_without_superuser__is_sent_away(cast: Cast) -> None:
    answer = page_client(cast.owner).get("/admin/")

    assert answer.status_code == 302
    assert "/admin/login/" in answer.url


def test_admin__groups__are_not_offered(superuser: Client) -> None:
    assert Group not in admin.site._registry
