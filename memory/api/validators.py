"""Validators: write them, try them, switch them on and off."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Literal
from uuid import UUID

import msgspec
from django.db import IntegrityError
from django.db.models import QuerySet
from django.http import Http404
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from memory.actions import validators as actions
from memory.actions.validators import ValidatorDraft
from memory.api.access import actor_of, workspace_of
from memory.api.errors import Conflict, Unprocessable
from memory.api.filters import ValidatorFilter
from memory.api.idempotency import idempotent
from memory.api.resources import RowList, describes, find, read, writes
from memory.api.validator_shapes import (
    ChangedValidatorSerializer,
    NewValidatorSerializer,
    TriedSerializer,
    TryValidatorSerializer,
    ValidatorSerializer,
)
from memory.domain.failures import CallSnapshot
from memory.domain.validators import InvalidValidatorError
from memory.models import Validator
from memory.queries.resources import call_rows, validator_rows
from memory.queries.validators import backtest_validator, snapshot_of
from memory.queries.workspaces import get_workspace

CONTENT = ("name", "tool", "kind", "body", "message")


class ValidatorList(RowList[Validator]):
    """The checks that find silent failures."""

    actions: ClassVar = {"GET": "look", "POST": "edit_validator"}
    queryset = Validator.objects.none()
    serializer_class = ValidatorSerializer
    filterset_class = ValidatorFilter

    def rows(self) -> QuerySet[Validator]:
        """The workspace's validators."""
        return validator_rows(workspace_of(self.request))

    @describes("validators", "List validators")
    def get(self, request: Request) -> Response:
        """Newest first, cursor-paged."""
        return self.listing()

    @writes("validators", "Write a validator", {201: ValidatorSerializer}, request=NewValidatorSerializer)
    @idempotent
    def post(self, request: Request) -> Response:
        """It runs on every call that is analysed from now on."""
        draft = draft_of(read(NewValidatorSerializer, request))
        with refusals():
            workspace = get_workspace(workspace_of(request))
            validator = actions.create_validator(workspace=workspace, draft=draft, by=actor_of(request))
        return Response(ValidatorSerializer(validator).data, status=201)


class ValidatorDetail(APIView):
    """One validator."""

    actions: ClassVar = {"GET": "look", "PATCH": "edit_validator", "DELETE": "edit_validator"}

    @describes("validators", "Get a validator", {200: ValidatorSerializer})
    def get(self, request: Request, uuid: UUID) -> Response:
        """As it runs now."""
        return Response(ValidatorSerializer(find(validator_rows(workspace_of(request)), uuid)).data)

    @writes(
        "validators", "Change a validator, or switch it on or off", {200: ValidatorSerializer},
        request=ChangedValidatorSerializer,
    )  # fmt: skip
    @idempotent
    def patch(self, request: Request, uuid: UUID) -> Response:
        """What is not sent stays. ``revision`` is the one you have seen: 409 when it is not the latest."""
        validator = find(validator_rows(workspace_of(request)), uuid)
        form = read(ChangedValidatorSerializer, request)
        return Response(ValidatorSerializer(_change(validator, form, request)).data)

    @writes("validators", "Delete a validator", {204: None}, request=None)
    @idempotent
    def delete(self, request: Request, uuid: UUID) -> Response:
        """The failures it found stay."""
        validator = find(validator_rows(workspace_of(request)), uuid)
        actions.delete_validator(validator=validator, by=actor_of(request))
        return Response(status=204)


class TryValidator(APIView):
    """A validator that is not saved, on calls."""

    actions: ClassVar = {"POST": "edit_validator"}

    @describes("validators", "Try a validator", {200: TriedSerializer}, request=TryValidatorSerializer)
    def post(self, request: Request) -> Response:
        """On the call that is sent, on a recorded one, or on the newest ones. Nothing is stored."""
        form = read(TryValidatorSerializer, request)
        with refusals():
            compiled = actions.compile_draft(draft_of(form))
        if form.get("backtest"):
            workspace = get_workspace(workspace_of(request))
            found = backtest_validator(workspace, form["tool"], compiled, calls=form["backtest"])
            failing = [
                {"task": call.task.uuid, "seq": call.seq, "detail": detail} for call, detail in found.failing
            ]
            verdicts = {"n": found.looked_at, **found.verdicts}
            return Response(TriedSerializer({"backtest": verdicts, "failing": failing}).data)
        checked = compiled.check(_call_of(form, request))
        return Response(TriedSerializer({"verdict": checked.verdict, "detail": checked.detail}).data)


def draft_of(form: dict[str, Any]) -> ValidatorDraft:
    """The action's draft of what was sent; 422 where the body does not fit the kind."""
    kind, body = form["kind"], form["body"]
    wanted = "check" if kind == "cel" else "schema"
    if wanted not in body:
        detail = f"The body of a {kind} validator has the field {wanted}."
        raise Unprocessable(detail, [{"field": f"body.{wanted}", "detail": detail}])
    source = str(body["check"]) if kind == "cel" else msgspec.json.encode(body["schema"]).decode()
    target: Literal["input", "output"] = "input" if body.get("target") == "input" else "output"
    return ValidatorDraft(form["name"], form["tool"], kind, source, target, form["message"])


@contextmanager
def refusals() -> Iterator[None]:
    """422 for a validator that cannot run, 409 for a stale edit or a name that is taken."""
    try:
        yield
    except InvalidValidatorError as error:
        raise Unprocessable(str(error), [{"field": "body", "detail": str(error)}]) from error
    except actions.StaleEdit as error:
        raise Conflict(str(error)) from error
    except IntegrityError as error:
        raise Conflict("A validator of this name exists already.") from error


def _change(validator: Validator, form: dict[str, Any], request: Request) -> Validator:
    if any(name in form for name in CONTENT):
        now = {name: getattr(validator, name) for name in CONTENT}
        draft = draft_of({**now, **form})
        with refusals():
            validator = actions.edit_validator(
                validator=validator, draft=draft, revision=form["revision"], by=actor_of(request)
            )
    if "is_enabled" in form:
        validator = actions.set_validator_enabled(
            validator=validator, is_enabled=form["is_enabled"], by=actor_of(request)
        )
    return validator


def _call_of(form: dict[str, Any], request: Request) -> CallSnapshot:
    recorded = form.get("call")
    if recorded is None:
        return CallSnapshot(tool=form["tool"], input=form["input"], output=form["output"])
    rows = call_rows(workspace_of(request), recorded["task"])
    call = rows.filter(seq=recorded["seq"]).first()
    if call is None:
        raise Http404
    return snapshot_of(call)
