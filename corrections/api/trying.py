"""Trying rules over the API: check, simulate, backtest. Nothing is saved."""

from dataclasses import asdict
from typing import Any, ClassVar

from django.http import Http404
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from corrections.actions import trying
from corrections.api.errors import refusals
from corrections.api.serializers import (
    BacktestedSerializer,
    BacktestSerializer,
    CheckedSerializer,
    CheckSerializer,
    DecisionSerializer,
    SimulateSerializer,
)
from memory.api.access import actor_of
from memory.api.errors import Unprocessable
from memory.api.resources import describes, read


class CheckRule(APIView):
    """A live check for editors."""

    actions: ClassVar = {"POST": "look"}

    @describes(
        "rules", "Check a rule document or a condition", {200: CheckedSerializer}, request=CheckSerializer,
        operation_id="rules_check",
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        """Always 200 for a readable request: the faults are in ``errors``."""
        form = read(CheckSerializer, request)
        if "document" in form:
            return Response(trying.check_document(form["document"]).to_dict())
        if "condition" in form:
            return Response(trying.check_condition(form["condition"]).to_dict())
        raise Unprocessable(
            "Send a document or a condition.", [{"field": "document", "detail": "is missing"}]
        )


class SimulateRules(APIView):
    """Why, or why not."""

    actions: ClassVar = {"POST": "look"}

    @describes(
        "rules", "Simulate a decision", {200: DecisionSerializer}, request=SimulateSerializer,
        operation_id="rules_simulate",
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        """The explained decision for a context or a recorded call; no receipt."""
        form = read(SimulateSerializer, request)
        rules = {"documents": form.get("documents"), "with_live": form["with_live"]}
        with refusals():
            answer = self._simulate(request, form, rules)
        if answer is None:
            raise Http404
        return Response(answer)

    def _simulate(
        self, request: Request, form: dict[str, Any], rules: dict[str, Any]
    ) -> dict[str, Any] | None:
        now = timezone.now()
        if "call" in form:
            call = form["call"]
            return trying.simulate_recorded(
                task_uuid=call["task"], seq=call["seq"], now=now, by=actor_of(request), **rules
            )
        if "context" in form:
            return trying.simulate(context=form["context"], now=now, by=actor_of(request), **rules)
        raise Unprocessable("Send a context or a call.", [{"field": "context", "detail": "is missing"}])


class BacktestRule(APIView):
    """What would it have matched?"""

    actions: ClassVar = {"POST": "look"}

    @describes(
        "rules", "Backtest a rule on recorded calls", {200: BacktestedSerializer}, request=BacktestSerializer,
        operation_id="rules_backtest",
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        """Counts over the newest recorded calls of its tool; says n."""
        form = read(BacktestSerializer, request)
        with refusals("document"):
            result = trying.backtest(
                document=form["document"], limit=form["limit"], now=timezone.now(), by=actor_of(request)
            )
        return Response(asdict(result))
