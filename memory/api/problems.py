"""The error shape, for OpenAPI."""

from typing import Any

from rest_framework import serializers


class ErrorRowSerializer(serializers.Serializer[Any]):
    """One fault and where it is."""

    field = serializers.CharField()
    detail = serializers.CharField()


class ProblemSerializer(serializers.Serializer[Any]):
    """Every error of this API."""

    code = serializers.CharField()
    detail = serializers.CharField()
    field = serializers.CharField(required=False)
    errors = ErrorRowSerializer(many=True, required=False)  # type: ignore[assignment]  # a field's name


REFUSALS = {
    401: ProblemSerializer, 403: ProblemSerializer, 404: ProblemSerializer, 409: ProblemSerializer,
    422: ProblemSerializer, 429: ProblemSerializer,
}  # fmt: skip
"""What any endpoint may answer instead."""
