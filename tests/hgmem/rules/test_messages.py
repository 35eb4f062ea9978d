"""Our descriptors of CEL's messages are a true part of CEL's own."""

import pytest
from cel.expr.checked_pb2 import CheckedExpr
from google.protobuf.descriptor import FieldDescriptor

from hgmem.rules import Condition
from hgmem.rules.messages import MESSAGES, checked_expression


@pytest.mark.parametrize("name", MESSAGES)
def test_message__every_field__is_cels_own(name: str) -> None:
    ours, theirs = _find(checked_expression().DESCRIPTOR, name), _find(CheckedExpr.DESCRIPTOR, name)
    for field in ours.fields:
        other = theirs.fields_by_name[field.name]
        assert field.number == other.number
        assert field.is_repeated == other.is_repeated
        assert (field.containing_oneof and field.containing_oneof.name) == (
            other.containing_oneof and other.containing_oneof.name
        )
        kind = FieldDescriptor.TYPE_INT32 if other.type == FieldDescriptor.TYPE_ENUM else other.type
        assert field.type == kind
        if field.message_type:
            assert field.message_type.full_name == other.message_type.full_name


@pytest.mark.parametrize(
    "source",
    [
        "input.a == 1 && (input.b in [1, 2u, 'x', b'y', 1.5, null] || has(input.c))",
        "input.rows.exists(r, r.x > 0) && {'a': input.a}['a'] == 1",
        "now > timestamp('2026-01-01T00:00:00Z')",
    ],
)
def test_message__read_and_written_again__is_the_same_to_cel(source: str) -> None:
    ours = Condition.compile(source).checked
    theirs = CheckedExpr.FromString(ours.SerializeToString())
    assert theirs.HasField("source_info")  # what we do not name is kept
    assert (
        CheckedExpr.FromString(type(ours).FromString(theirs.SerializeToString()).SerializeToString())
        == theirs
    )


def _find(descriptor: object, name: str) -> object:
    pool = descriptor.file.pool
    return pool.FindMessageTypeByName(f"cel.expr.{name}")
