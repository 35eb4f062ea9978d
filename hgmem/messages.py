"""Protocol buffer messages that are declared in code, in a descriptor pool of their own.

Generated modules have the same names in every package that ships them. ``xds-protos``, for one, brings CEL's
messages and with them an ancient ``opentelemetry.proto``, which breaks OpenTelemetry's exporters where both
are installed. What is declared here meets nobody.
"""

from collections.abc import Mapping, Sequence
from typing import Any

Declared = Mapping[str, Sequence[str]]
"""Message -> its fields, each ``number name type``, ``*`` after a repeated one, ``|name`` for a one-of's."""


def declare(package: str, messages: Declared) -> dict[str, Any]:
    """The classes of the messages, by name. A type is another message's name or a scalar of the language.

    Enums are declared as ``int32``, maps as repeated entries: on the wire they are the same. Fields that are
    left out are kept when a message is read and written again.
    """
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(name=f"hgmem/{package}.proto", package=package, syntax="proto3")
    for name, fields in messages.items():
        message = file.message_type.add(name=name)
        for text in fields:
            _add_field(message, text, package, messages)
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{name}"))
        for name in messages
    }


def _add_field(message: Any, text: str, package: str, messages: Declared) -> None:
    text, _, one_of = text.partition("|")
    number, name, kind = text.rstrip(" *").split()
    field = message.field.add(name=name, number=int(number))
    field.label = field.LABEL_REPEATED if "*" in text else field.LABEL_OPTIONAL
    if kind in messages:
        field.type, field.type_name = field.TYPE_MESSAGE, f".{package}.{kind}"
    else:
        field.type = field.Type.Value(f"TYPE_{kind.upper()}")
    if one_of:
        known = [each.name for each in message.oneof_decl]
        if one_of not in known:
            message.oneof_decl.add(name=one_of)
            known.append(one_of)
        field.oneof_index = known.index(one_of)
