"""The part of CEL's syntax tree messages that is read and rewritten here (spec: ``cel/expr/syntax.proto``).

Fields that are not in the table are kept as they are.
"""

from functools import cache
from typing import Any, Final

from hgmem.messages import declare

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


@cache
def checked_expression() -> Any:
    """The class of ``cel.expr.CheckedExpr``."""
    return declare("cel.expr", MESSAGES)["CheckedExpr"]
