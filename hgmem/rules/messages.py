"""The part of CEL's syntax tree messages that is read and rewritten here (spec: ``cel/expr/syntax.proto``).

The generated classes come with packages that also bring copies of other projects' messages, overwrite those,
and demand the newest runtime of protocol buffers: too much for a library in somebody else's process. So the
descriptors are made from the table below, in a pool of their own. Fields that are not in it are kept as they
are.
"""

from functools import cache
from typing import Any, Final

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_PACKAGE: Final = "cel.expr"
_Field = descriptor_pb2.FieldDescriptorProto
_TYPES: Final = {
    "string": _Field.TYPE_STRING, "bool": _Field.TYPE_BOOL, "int64": _Field.TYPE_INT64,
    "uint64": _Field.TYPE_UINT64, "int32": _Field.TYPE_INT32, "double": _Field.TYPE_DOUBLE,
    "bytes": _Field.TYPE_BYTES,
}  # fmt: skip
MESSAGES: Final[dict[str, dict[str, tuple[int, str, str]]]] = {
    "CheckedExpr": {"expr": (4, "Expr", "")},
    "Expr": {
        "id": (2, "int64", ""),
        "const_expr": (3, "Constant", "expr_kind"),
        "ident_expr": (4, "Expr.Ident", "expr_kind"),
        "select_expr": (5, "Expr.Select", "expr_kind"),
        "call_expr": (6, "Expr.Call", "expr_kind"),
        "list_expr": (7, "Expr.CreateList", "expr_kind"),
        "struct_expr": (8, "Expr.CreateStruct", "expr_kind"),
        "comprehension_expr": (9, "Expr.Comprehension", "expr_kind"),
    },
    "Expr.Ident": {"name": (1, "string", "")},
    "Expr.Select": {"operand": (1, "Expr", ""), "field": (2, "string", ""), "test_only": (3, "bool", "")},
    "Expr.Call": {"target": (1, "Expr", ""), "function": (2, "string", ""), "args": (3, "Expr", "*")},
    "Expr.CreateList": {"elements": (1, "Expr", "*"), "optional_indices": (2, "int32", "*")},
    "Expr.CreateStruct": {"message_name": (1, "string", ""), "entries": (2, "Expr.CreateStruct.Entry", "*")},
    "Expr.CreateStruct.Entry": {
        "id": (1, "int64", ""),
        "field_key": (2, "string", "key_kind"),
        "map_key": (3, "Expr", "key_kind"),
        "value": (4, "Expr", ""),
        "optional_entry": (5, "bool", ""),
    },
    "Expr.Comprehension": {
        "iter_var": (1, "string", ""),
        "iter_range": (2, "Expr", ""),
        "accu_var": (3, "string", ""),
        "accu_init": (4, "Expr", ""),
        "loop_condition": (5, "Expr", ""),
        "loop_step": (6, "Expr", ""),
        "result": (7, "Expr", ""),
        "iter_var2": (8, "string", ""),
    },
    "Constant": {
        "null_value": (1, "int32", "constant_kind"),  # an enumeration of one value, the same on the wire
        "bool_value": (2, "bool", "constant_kind"),
        "int64_value": (3, "int64", "constant_kind"),
        "uint64_value": (4, "uint64", "constant_kind"),
        "double_value": (5, "double", "constant_kind"),
        "string_value": (6, "string", "constant_kind"),
        "bytes_value": (7, "bytes", "constant_kind"),
    },
}
"""Message -> field -> (number, type, ``*`` for repeated or the name of its oneof)."""


@cache
def checked_expression() -> Any:
    """The class of ``cel.expr.CheckedExpr``."""
    pool = descriptor_pool.DescriptorPool()
    pool.Add(_file())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.CheckedExpr"))


def _file() -> Any:
    file = descriptor_pb2.FileDescriptorProto(name="hgmem/cel_expr.proto", package=_PACKAGE, syntax="proto3")
    made: dict[str, Any] = {}
    for name, fields in MESSAGES.items():
        owner, _, short = name.rpartition(".")
        message = made[owner].nested_type.add() if owner else file.message_type.add()
        message.name = short
        made[name] = message
        oneofs: list[str] = []
        for field, (number, kind, group) in fields.items():
            added = message.field.add(name=field, number=number)
            added.label = _Field.LABEL_REPEATED if group == "*" else _Field.LABEL_OPTIONAL
            if kind in _TYPES:
                added.type = _TYPES[kind]
            else:
                added.type, added.type_name = _Field.TYPE_MESSAGE, f".{_PACKAGE}.{kind}"
            if group not in ("", "*"):
                if group not in oneofs:
                    oneofs.append(group)
                    message.oneof_decl.add(name=group)
                added.oneof_index = oneofs.index(group)
    return file
