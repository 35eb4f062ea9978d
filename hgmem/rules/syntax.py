"""CEL's checked syntax tree as messages: ``cel.expr.CheckedExpr`` and what it holds.

The field numbers are those of cel-spec (``cel/expr/checked.proto``, ``cel/expr/syntax.proto``). Parts that
nobody here reads are carried as they are.
"""

from functools import cache
from typing import Any, Final

from hgmem.messages import declare

_KIND: Final = "|expr_kind"
_CONSTANT: Final = "|constant_kind"
MESSAGES: Final[dict[str, tuple[str, ...]]] = {
    "CheckedExpr": (
        "2 reference_map bytes*", "3 type_map bytes*", "4 expr Expr", "5 source_info bytes*",
        "6 expr_version string",
    ),
    "Expr": (
        "2 id int64", f"3 const_expr Constant{_KIND}", f"4 ident_expr Ident{_KIND}",
        f"5 select_expr Select{_KIND}", f"6 call_expr Call{_KIND}", f"7 list_expr CreateList{_KIND}",
        f"8 struct_expr CreateStruct{_KIND}", f"9 comprehension_expr Comprehension{_KIND}",
    ),
    "Constant": (
        f"1 null_value int32{_CONSTANT}", f"2 bool_value bool{_CONSTANT}", f"3 int64_value int64{_CONSTANT}",
        f"4 uint64_value uint64{_CONSTANT}", f"5 double_value double{_CONSTANT}",
        f"6 string_value string{_CONSTANT}", f"7 bytes_value bytes{_CONSTANT}",
        f"8 duration_value Seconds{_CONSTANT}", f"9 timestamp_value Seconds{_CONSTANT}",
    ),
    "Seconds": ("1 seconds int64", "2 nanos int32"),
    "Ident": ("1 name string",),
    "Select": ("1 operand Expr", "2 field string", "3 test_only bool"),
    "Call": ("1 target Expr", "2 function string", "3 args Expr*"),
    "CreateList": ("1 elements Expr*", "2 optional_indices int32*"),
    "CreateStruct": ("1 message_name string", "2 entries Entry*"),
    "Entry": (
        "1 id int64", "2 field_key string|key_kind", "3 map_key Expr|key_kind", "4 value Expr",
        "5 optional_entry bool",
    ),
    "Comprehension": (
        "1 iter_var string", "8 iter_var2 string", "2 iter_range Expr", "3 accu_var string",
        "4 accu_init Expr", "5 loop_condition Expr", "6 loop_step Expr", "7 result Expr",
    ),
}  # fmt: skip


@cache
def checked_expr() -> Any:
    """The class of ``CheckedExpr``."""
    return declare("cel.expr", MESSAGES)["CheckedExpr"]
