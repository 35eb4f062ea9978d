"""For agents that decide themselves: the compiled rules' documents, and the decisions they made."""

from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema

from corrections.actions.reporting import LocalDecisions, Taken, TakenList, TooMany, report_decisions
from corrections.live.bundles import BUNDLES
from hgmem.signatures import RULESET_BUNDLE, derive_key, digest_key, sign_digest
from memory.api.access import actor_of, workspace_of
from memory.api.authentication import secret_of
from memory.api.errors import TooLarge, Unprocessable
from memory.api.lean import LeanView, json_response
from memory.api.structs import ErrorAnswer
from memory.api.throttles import QueryThrottle

REFUSED = dict.fromkeys((401, 403, 429), ErrorAnswer)


class ServedRuleset(LeanView):
    """Every rule that is served, as the engine has it."""

    actions: ClassVar = {"GET": "query_corrections"}
    throttle_classes = (QueryThrottle,)

    @extend_schema(
        tags=["corrections"], summary="The served rules", operation_id="ruleset_retrieve",
        parameters=[
            OpenApiParameter("If-None-Match", OpenApiTypes.STR, OpenApiParameter.HEADER, description="ETag."),
        ],
        responses={200: OpenApiTypes.OBJECT, 304: OpenApiResponse(description="Still current."), **REFUSED},
    )  # fmt: skip
    def get(self, request: HttpRequest) -> HttpResponse:
        """``{format, version, workspace, rules}`` with an ETag and the header ``HGMem-Signature``.

        The signature is ``v1=`` and HMAC-SHA256 (hex) over the body's SHA-256 (hex); its key is made from the
        digest of the API key.
        """
        bundle = BUNDLES.get(workspace_of(request))
        if request.META.get("HTTP_IF_NONE_MATCH", "") == bundle.etag:
            return _headed(HttpResponseNotModified(), bundle.etag)
        is_packed = "gzip" in request.META.get("HTTP_ACCEPT_ENCODING", "")
        body = bundle.packed if is_packed else bundle.body
        answer = _headed(HttpResponse(body, content_type="application/json"), bundle.etag)
        if is_packed:
            answer["Content-Encoding"] = "gzip"
        key = derive_key(digest_key(secret_of(request)), RULESET_BUNDLE)
        answer["HGMem-Signature"] = sign_digest(bundle.digest, key)
        return answer


class LocalReceipts(LeanView):
    """Tell the server of decisions that were made from its rules."""

    actions: ClassVar = {"POST": "query_corrections"}
    throttle_classes = (QueryThrottle,)

    @extend_schema(
        tags=["corrections"], summary="Report local decisions", operation_id="receipts_create",
        request=LocalDecisions,
        responses={207: TakenList, **REFUSED, **dict.fromkeys((400, 413, 422), ErrorAnswer)},
    )  # fmt: skip
    def post(self, request: HttpRequest) -> HttpResponse:
        """``{"receipts": [{token, blocked, errors, exposures}]}``; a result for each, in order."""
        decisions = self.read_json(request).get("receipts")
        if not isinstance(decisions, list):
            raise Unprocessable(
                "receipts must be a list.", [{"field": "receipts", "detail": "must be a list"}]
            )
        try:
            results = report_decisions(decisions=decisions, by=actor_of(request))
        except TooMany as error:
            raise TooLarge(str(error)) from error
        return json_response({"results": [_shown(result) for result in results]}, status=207)


def _headed(answer: HttpResponse, etag: str) -> HttpResponse:
    answer["ETag"] = etag
    answer["Cache-Control"] = "private, no-cache"
    answer["Vary"] = "Authorization, X-API-Key, Accept-Encoding"
    return answer


def _shown(result: Taken) -> dict[str, Any]:
    return {"index": result.index, "status": result.status, "detail": result.detail}
