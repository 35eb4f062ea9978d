"""What the management API says and hears: tools, patterns, validators, keys, members, audit."""

from datetime import MAXYEAR, datetime
from typing import Any

from django.contrib.auth.validators import UnicodeUsernameValidator
from rest_framework import serializers

from memory.domain.access import Role, Scope
from memory.domain.lifecycle import PATTERN_INITIAL, PATTERN_TRANSITIONS, statuses
from memory.models import ApiKey, AuditEvent, ErrorPattern, Failure, Member, Tool, ToolSchema

PATTERN_STATUSES = list(statuses(PATTERN_INITIAL, PATTERN_TRANSITIONS))
SETTABLE_STATUSES = ["open", "ignored"]
ROLES = [role.value for role in Role]
SCOPES = [scope.value for scope in Scope]


class ReasonSerializer(serializers.Serializer[Any]):
    """Why it is done."""

    reason = serializers.CharField(required=False, allow_blank=True, max_length=2_000, default="")


class ToolSerializer(serializers.ModelSerializer[Tool]):
    """A tool; ``input_schema`` is inferred from its good calls."""

    class Meta:
        model = Tool
        fields: tuple[str, ...] = (
            "uuid", "name", "description", "input_schema", "schema_hash", "schema_version",
            "reported_version", "call_count", "failure_count", "first_seen_at", "last_seen_at",
        )  # fmt: skip
        read_only_fields: tuple[str, ...] = fields


class ToolDescriptionSerializer(serializers.Serializer[Any]):
    """What people say about the tool."""

    description = serializers.CharField(allow_blank=True, max_length=20_000)


class ToolSchemaSerializer(serializers.ModelSerializer[ToolSchema]):
    """One version of a tool's input schema, and what changed in it."""

    class Meta:
        model = ToolSchema
        fields: tuple[str, ...] = (
            "version",
            "reported_version",
            "input_schema",
            "schema_hash",
            "change",
            "seen_at",
        )
        read_only_fields: tuple[str, ...] = fields


class PatternSerializer(serializers.ModelSerializer[ErrorPattern]):
    """The same mistake, however often it was made."""

    status = serializers.ChoiceField(choices=PATTERN_STATUSES, read_only=True)

    class Meta:
        model = ErrorPattern
        fields: tuple[str, ...] = (
            "uuid", "title", "tool", "error_type", "template", "identifier", "scope", "status",
            "occurrence_count", "task_count", "first_seen_at", "last_seen_at",
        )  # fmt: skip
        read_only_fields: tuple[str, ...] = fields


class SimilarPatternSerializer(serializers.Serializer[Any]):
    """A pattern that resembles another one; ``similarity`` is between 0 and 1."""

    pattern = PatternSerializer()
    similarity = serializers.FloatField()


class PatternDetailSerializer(PatternSerializer):
    """A pattern with those that resemble it, nearest first."""

    similar = SimilarPatternSerializer(many=True, read_only=True)

    class Meta(PatternSerializer.Meta):
        fields: tuple[str, ...] = (*PatternSerializer.Meta.fields, "similar")
        read_only_fields: tuple[str, ...] = fields


class PatternPageSerializer(serializers.Serializer[Any]):
    """One page of patterns; ``next`` is the address of the next one."""

    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True, help_text="Always null: pages only go on.")
    results = PatternSerializer(many=True)


class PatternStatusSerializer(serializers.Serializer[Any]):
    """Set a pattern aside, or take it up again. ``covered`` follows from the rules that are served."""

    status = serializers.ChoiceField(choices=SETTABLE_STATUSES)
    reason = serializers.CharField(required=False, allow_blank=True, max_length=2_000, default="")


class FailureSerializer(serializers.ModelSerializer[Failure]):
    """One time that something went wrong; ``call`` is null where the task failed as a whole."""

    task = serializers.UUIDField(source="task.uuid")
    external_id = serializers.CharField(source="task.external_id")
    call = serializers.IntegerField(source="call.seq", default=None, allow_null=True)

    class Meta:
        model = Failure
        fields: tuple[str, ...] = (
            "uuid", "task", "external_id", "call", "source", "error_type", "message", "http_status",
            "context", "repeat", "happened_at",
        )  # fmt: skip
        read_only_fields: tuple[str, ...] = fields


class KeySerializer(serializers.ModelSerializer[ApiKey]):
    """An API key. What it opens the door with is not kept."""

    scopes = serializers.ListField(child=serializers.ChoiceField(choices=SCOPES), read_only=True)

    class Meta:
        model = ApiKey
        fields: tuple[str, ...] = (
            "uuid", "name", "prefix", "scopes", "created_at", "created_by", "expires_at", "last_used_at",
            "revoked_at",
        )  # fmt: skip
        read_only_fields: tuple[str, ...] = fields


class NewKeySerializer(serializers.Serializer[Any]):
    """A key to make."""

    name = serializers.CharField(max_length=120)
    scopes = serializers.ListField(
        child=serializers.ChoiceField(choices=SCOPES), allow_empty=False, max_length=len(SCOPES)
    )
    expires_at = serializers.DateTimeField(required=False, allow_null=True, default=None)

    def validate_expires_at(self, moment: datetime | None) -> datetime | None:
        """In a year that every time zone has."""
        if moment is not None and not 1 < moment.year < MAXYEAR:
            raise serializers.ValidationError(f"Must lie between the years 2 and {MAXYEAR - 1}.")
        return moment


class CreatedKeySerializer(KeySerializer):
    """A key that was just made. ``secret`` is shown this once (null when the answer is repeated)."""

    secret = serializers.CharField(allow_null=True, read_only=True)

    class Meta(KeySerializer.Meta):
        fields: tuple[str, ...] = (*KeySerializer.Meta.fields, "secret")
        read_only_fields: tuple[str, ...] = fields


class MemberSerializer(serializers.ModelSerializer[Member]):
    """A person in the workspace."""

    username = serializers.CharField(source="user.username", read_only=True)
    role = serializers.ChoiceField(choices=ROLES, read_only=True)

    class Meta:
        model = Member
        fields: tuple[str, ...] = ("uuid", "username", "role", "created_at")
        read_only_fields: tuple[str, ...] = fields


class NewMemberSerializer(serializers.Serializer[Any]):
    """A user to let in; an unknown name makes a new user."""

    username = serializers.CharField(max_length=150, validators=[UnicodeUsernameValidator()])
    role = serializers.ChoiceField(choices=ROLES)


class AddedMemberSerializer(MemberSerializer):
    """A member who was just added. ``password`` is set for a new user and shown this once."""

    password = serializers.CharField(allow_null=True, read_only=True)

    class Meta(MemberSerializer.Meta):
        fields: tuple[str, ...] = (*MemberSerializer.Meta.fields, "password")
        read_only_fields: tuple[str, ...] = fields


class RoleSerializer(serializers.Serializer[Any]):
    """A new role for a member."""

    role = serializers.ChoiceField(choices=ROLES)


class AuditEventSerializer(serializers.ModelSerializer[AuditEvent]):
    """Who did what, with old and new values."""

    class Meta:
        model = AuditEvent
        fields: tuple[str, ...] = (
            "uuid", "at", "actor_kind", "actor_uuid", "actor_name", "verb", "subject_type", "subject_uuid",
            "subject_name", "old", "new", "reason",
        )  # fmt: skip
        read_only_fields: tuple[str, ...] = fields


class WorkspaceSerializer(serializers.Serializer[Any]):
    """The workspace a key belongs to."""

    uuid = serializers.UUIDField()
    slug = serializers.CharField()
    name = serializers.CharField()


class MeSerializer(serializers.Serializer[Any]):
    """Who a key is, and what it may do."""

    name = serializers.CharField()
    uuid = serializers.CharField()
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=SCOPES))
    may = serializers.ListField(child=serializers.CharField(), help_text="The actions this key may do.")
    workspace = WorkspaceSerializer()
