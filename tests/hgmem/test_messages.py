"""Messages that are declared in code, against what the protocol's own tools say of the same bytes."""

import pytest
from google.protobuf import struct_pb2, timestamp_pb2

from hgmem.messages import declare

DECLARED = declare(
    "test.messages",
    {
        "Moment": {"seconds": (1, "int64", "")},
        "Value": {
            "null_value": (1, "int32", "kind"),
            "number_value": (2, "double", "kind"),
            "string_value": (3, "string", "kind"),
        },
        "ListValue": {"values": (1, "Value", "*")},
    },
)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        pytest.param("Moment", timestamp_pb2.Timestamp(seconds=5, nanos=7), id="a-field-left-out-is-kept"),
        pytest.param("Value", struct_pb2.Value(null_value=0), id="zero-in-a-one-of-is-there"),
        pytest.param("Value", struct_pb2.Value(string_value="x"), id="text"),
        pytest.param(
            "ListValue",
            struct_pb2.ListValue(values=[struct_pb2.Value(number_value=1.5), struct_pb2.Value()]),
            id="repeated",
        ),
    ],
)
def test_declare__bytes_of_the_same_message__come_back(name: str, message: object) -> None:
    sent = message.SerializeToString()

    assert DECLARED[name].FromString(sent).SerializeToString() == sent


def test_declare__one_of__says_which() -> None:
    value = DECLARED["Value"].FromString(struct_pb2.Value(number_value=0.0).SerializeToString())

    assert value.WhichOneof("kind") == "number_value"
