"""Filters of the management lists."""

from datetime import UTC, datetime
from typing import Any, ClassVar

from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django_filters import rest_framework as filters
from django_filters.fields import IsoDateTimeField

from memory.domain.lifecycle import PROPOSAL_STATUSES
from memory.domain.rewriting.triggers import TRIGGERS
from memory.domain.webhooks import DELIVERY_STATES
from memory.models import (
    Alert,
    ApiKey,
    AuditEvent,
    Failure,
    Member,
    RewriteProposal,
    Tool,
    Validator,
    WebhookDelivery,
)
from memory.queries.rewrites import in_status


class MomentField(IsoDateTimeField):
    """An ISO 8601 moment. One that UTC has no year for (before 1, after 9999) is refused."""

    def clean(self, value: Any) -> datetime | None:
        """The moment in UTC."""
        moment = super().clean(value)
        try:
            return moment.astimezone(UTC) if moment else None
        except OverflowError as error:
            raise ValidationError("This moment is out of range.") from error


class MomentFilter(filters.IsoDateTimeFilter):
    """Compares with a moment."""

    field_class = MomentField


class ToolFilter(filters.FilterSet):
    """Tools by a part of their name."""

    q = filters.CharFilter(field_name="name", lookup_expr="icontains", help_text="A part of the name.")

    class Meta:
        model = Tool
        fields: ClassVar = ["q"]


class ValidatorFilter(filters.FilterSet):
    """Validators by tool, kind and whether they run."""

    q = filters.CharFilter(field_name="name", lookup_expr="icontains", help_text="A part of the name.")
    tool = filters.CharFilter(help_text="Exactly this tool pattern.")
    is_enabled = filters.BooleanFilter()

    class Meta:
        model = Validator
        fields: ClassVar = ["q", "tool", "kind", "is_enabled"]


class KeyFilter(filters.FilterSet):
    """Keys that still work, or that do not."""

    revoked = filters.BooleanFilter(method="by_revoked", help_text="Only revoked keys, or only the others.")

    class Meta:
        model = ApiKey
        fields: ClassVar = ["revoked"]

    def by_revoked(self, rows: QuerySet[ApiKey], _name: str, value: bool) -> QuerySet[ApiKey]:
        """``true``: revoked; ``false``: not."""
        return rows.filter(revoked_at__isnull=not value)


class DeliveryFilter(filters.FilterSet):
    """Messages to a webhook, by what became of them."""

    state = filters.ChoiceFilter(choices=[(state, state) for state in DELIVERY_STATES])

    class Meta:
        model = WebhookDelivery
        fields: ClassVar = ["state"]


class MemberFilter(filters.FilterSet):
    """Members by role."""

    class Meta:
        model = Member
        fields: ClassVar = ["role"]


class AuditFilter(filters.FilterSet):
    """Audit events by what was done, to what, by whom and when."""

    actor = filters.CharFilter(field_name="actor_name", help_text="Exactly this actor.")
    since = MomentFilter(field_name="at", lookup_expr="gte")
    until = MomentFilter(field_name="at", lookup_expr="lt")

    class Meta:
        model = AuditEvent
        fields: ClassVar = ["verb", "subject_type", "subject_uuid", "actor", "since", "until"]


class FailureFilter(filters.FilterSet):
    """Failures by who found them, whether they repeat a known mistake, and when they happened."""

    repeat = filters.BooleanFilter()
    since = MomentFilter(field_name="happened_at", lookup_expr="gte")
    until = MomentFilter(field_name="happened_at", lookup_expr="lt")

    class Meta:
        model = Failure
        fields: ClassVar = ["source", "repeat", "since", "until"]


class RewriteFilter(filters.FilterSet):
    """Rewrites by status, trigger and path."""

    status = filters.ChoiceFilter(
        choices=[(name, name) for name in ("open", *PROPOSAL_STATUSES)],
        method="by_status",
        help_text="Only this status; `open`: nobody has decided yet.",
    )
    trigger = filters.ChoiceFilter(
        choices=[(name, name) for name in TRIGGERS], help_text="Only what was asked for because of this."
    )
    path = filters.UUIDFilter(field_name="path__uuid", help_text="Only rewrites of this version of a path.")

    class Meta:
        model = RewriteProposal
        fields: ClassVar = ["status", "trigger", "path"]

    def by_status(self, rows: QuerySet[RewriteProposal], _name: str, value: str) -> QuerySet[RewriteProposal]:
        """One status, or all the undecided."""
        return in_status(rows, value)


class AlertFilter(filters.FilterSet):
    """Alerts that are open, or that are not."""

    open = filters.BooleanFilter(
        field_name="closed_at", lookup_expr="isnull", help_text="Only open alerts, or only the others."
    )

    class Meta:
        model = Alert
        fields: ClassVar = ["kind", "open"]
