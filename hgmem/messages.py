"""Protocol buffer messages that are declared in code, in a descriptor pool of their own.

Generated classes come with packages that also bring copies of other projects' messages, overwrite those, and
demand the newest runtime of protocol buffers: too much for a library in somebody else's process. With
``xds-protos``, which has CEL's, OpenTelemetry's exporters fail to import.
"""

from collections.abc import Mapping
from typing import Any, Final

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_Field = descriptor_pb2.FieldDescriptorProto
_TYPES: Final = {
    "string": _Field.TYPE_STRING, "bool": _Field.TYPE_BOOL, "int64": _Field.TYPE_INT64,
    "uint64": _Field.TYPE_UINT64, "int32": _Field.TYPE_INT32, "double": _Field.TYPE_DOUBLE,
    "bytes": _Field.TYPE_BYTES, "fixed64": _Field.TYPE_FIXED64,
}  # fmt: skip
Table = Mapping[str, Mapping[str, tuple[int, str, str]]]
"""Message -> field -> (number, type, ``*`` for repeated or the name of its oneof)."""


def declare(package: str, table: Table) -> dict[str, Any]:
    """The classes of the messages by name; ``Outer.Inner`` comes after ``Outer``.

    Enumerations are declared as ``int32``, which is the same on the wire. What a message holds beside its
    fields is kept when it is written again.
    """
    pool = descriptor_pool.DescriptorPool()
    pool.Add(_file(package, table))
    found = {name: pool.FindMessageTypeByName(f"{package}.{name}") for name in table}
    return {name: message_factory.GetMessageClass(descriptor) for name, descriptor in found.items()}


def _file(package: str, table: Table) -> Any:
    file = descriptor_pb2.FileDescriptorProto(name=f"{package}.proto", package=package, syntax="proto3")
    made: dict[str, Any] = {}
    for name, fields in table.items():
        owner, _, short = name.rpartition(".")
        message = made[owner].nested_type.add() if owner else file.message_type.add()
        message.name = short
        made[name] = message
        for field, (number, kind, group) in fields.items():
            added = message.field.add(name=field, number=number)
            added.label = _Field.LABEL_REPEATED if group == "*" else _Field.LABEL_OPTIONAL
            if kind in _TYPES:
                added.type = _TYPES[kind]
            else:
                added.type, added.type_name = _Field.TYPE_MESSAGE, f".{package}.{kind}"
            if group not in ("", "*"):
                _join_one_of(message, added, group)
    return file


def _join_one_of(message: Any, field: Any, group: str) -> None:
    known = [each.name for each in message.oneof_decl]
    if group not in known:
        message.oneof_decl.add(name=group)
        known.append(group)
    field.oneof_index = known.index(group)
