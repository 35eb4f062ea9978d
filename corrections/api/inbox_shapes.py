"""The shapes of the review inbox."""

from typing import Any

from rest_framework import serializers

from corrections.actions.inbox import MAX_CHOSEN, MAX_COMMENT
from corrections.actions.inbox_decisions import verbs_of
from corrections.queries.inbox_kinds import KINDS, Item

MAX_REASON = 2_000
KIND_CHOICES = [(name, name) for name in KINDS]


class ItemSerializer(serializers.Serializer[Item]):
    """Something that waits for a person. ``decisions`` are those that ``review/decide`` takes for it now."""

    kind = serializers.ChoiceField(choices=KIND_CHOICES)
    uuid = serializers.UUIDField()
    title = serializers.CharField(source="brief.title")
    why = serializers.CharField(source="brief.why")
    state = serializers.CharField(source="brief.state")
    tool = serializers.CharField(source="brief.tool")
    revision = serializers.IntegerField(source="brief.revision", allow_null=True)
    waiting_since = serializers.DateTimeField(source="at")
    assignee = serializers.CharField()
    decisions = serializers.SerializerMethodField()

    def get_decisions(self, item: Item) -> list[str]:
        """``approve`` and ``reject``, as far as it takes them."""
        return list(verbs_of(item))


class ItemPageSerializer(serializers.Serializer[Any]):
    """One page of the inbox, newest first, and how many of each kind wait in all."""

    next = serializers.URLField(allow_null=True)
    results = ItemSerializer(many=True)
    counts = serializers.DictField(child=serializers.IntegerField())


class ChosenSerializer(serializers.Serializer[Any]):
    """An item by name; ``revision`` is the one that was seen."""

    kind = serializers.ChoiceField(choices=KIND_CHOICES)
    uuid = serializers.UUIDField()
    revision = serializers.IntegerField(required=False, allow_null=True, min_value=1, default=None)


class DecideItemsSerializer(serializers.Serializer[Any]):
    """Decide on several items with one reason."""

    items = serializers.ListField(child=ChosenSerializer(), allow_empty=False, max_length=MAX_CHOSEN)
    do = serializers.ChoiceField(choices=["approve", "reject"])
    reason = serializers.CharField(max_length=MAX_REASON)


class RefusedItemSerializer(serializers.Serializer[Any]):
    """An item that was not decided."""

    kind = serializers.ChoiceField(choices=KIND_CHOICES)
    uuid = serializers.UUIDField()
    detail = serializers.CharField()


class DecidedSerializer(serializers.Serializer[Any]):
    """How many were decided, and each that was not."""

    decided = serializers.IntegerField()
    refused = RefusedItemSerializer(many=True)


class AssignItemsSerializer(serializers.Serializer[Any]):
    """Give items to a member, by the uuid of the user; null gives them to nobody."""

    items = serializers.ListField(child=ChosenSerializer(), allow_empty=False, max_length=MAX_CHOSEN)
    assignee = serializers.UUIDField(allow_null=True)


class AssignedSerializer(serializers.Serializer[Any]):
    """How many of the items still waited and were given."""

    assigned = serializers.IntegerField()


class ItemCommentSerializer(serializers.Serializer[Any]):
    """What somebody said about an item."""

    author_name = serializers.CharField()
    text = serializers.CharField()
    at = serializers.DateTimeField()


class SayCommentSerializer(serializers.Serializer[Any]):
    """A comment."""

    text = serializers.CharField(max_length=MAX_COMMENT)
