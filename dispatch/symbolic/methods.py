"""Which methods symbolic numbers have, as tables, and DynamicInt, an int that asks to be symbolic.

Names are those of `torch.fx.experimental.sym_node`. A method's operator is what a program calls for
it: `method_to_operator("int_floordiv")` is `operator.floordiv`.
"""

import builtins
import math
import operator
from collections.abc import Callable
from typing import Any

from dispatch.symbolic import questions

__all__ = [
    "DynamicInt",
    "also_bool_magic_methods",
    "always_bool_magic_methods",
    "always_float_magic_methods",
    "always_int_magic_methods",
    "bitwise_ops",
    "bool_magic_methods",
    "magic_methods",
    "method_to_operator",
    "only_bool_magic_methods",
    "only_float_magic_methods",
    "reflectable_magic_methods",
    "unary_magic_methods",
    "unary_methods",
    "unary_nonmagic_methods",
]


def _is_integer(x: Any) -> Any:
    return x.is_integer()


_CIRCULAR = ["sqrt", "cos", "cosh", "sin", "sinh", "tan", "tanh", "asin", "acos", "atan", "log2"]
bitwise_ops: dict[str, Callable[..., Any]] = {
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
}
reflectable_magic_methods: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "mod": operator.mod,
    "pow_by_natural": operator.pow,
    "float_pow": operator.pow,
    "and": operator.and_,
    "or": operator.or_,
    **bitwise_ops,
    "float_truediv": operator.truediv,
    "int_truediv": operator.truediv,
    "int_floordiv": operator.floordiv,
    "lshift": operator.lshift,
    "rshift": operator.rshift,
}
magic_methods: dict[str, Callable[..., Any]] = {
    **reflectable_magic_methods,
    **{
        name: getattr(operator, name)
        for name in ["pos", "eq", "ne", "gt", "lt", "le", "ge", "neg", "abs"]
    },
    **{name: getattr(math, name) for name in ("floor", "trunc", "ceil")},
    **{
        f"sym_{name}": getattr(questions, f"sym_{name}")
        for name in ["not", "float", "min", "max", "ite"]
    },
    "round": builtins.round,
    "is_integer": _is_integer,
    **{f"sym_{name}": getattr(questions, f"_sym_{name}") for name in _CIRCULAR},
}
_circular = {f"sym_{name}" for name in _CIRCULAR}
unary_nonmagic_methods = {"is_integer"}
unary_magic_methods = _circular | {
    "abs", "ceil", "floor", "neg", "pos", "sym_float", "sym_int", "sym_not", "trunc",
}  # fmt: skip
unary_methods = unary_magic_methods | unary_nonmagic_methods
only_bool_magic_methods = {"and", "or", "sym_ite", "sym_not"}
also_bool_magic_methods = {"eq"}
bool_magic_methods = only_bool_magic_methods | also_bool_magic_methods
only_float_magic_methods = {"is_integer", "round", "sym_int", "sym_log2"}
always_float_magic_methods = _circular | {"float_pow", "float_truediv", "int_truediv", "sym_float"}
always_int_magic_methods = {"ceil", "floor", "pow_by_natural", "trunc"}
always_bool_magic_methods = {
    "and", "eq", "ge", "gt", "is_integer", "is_non_overlapping_and_dense", "le", "lt", "ne", "or",
    "sym_not",
}  # fmt: skip


def method_to_operator(method: str) -> Callable[..., Any]:
    """What a program calls for this method of a node."""
    return magic_methods[method]


class DynamicInt(int):
    """An int that whoever compiles a program should make symbolic; its arithmetic gives such ints.

    Division by `/` and with floats gives plain floats.
    """

    def __new__(cls, val: int) -> "DynamicInt":
        if not isinstance(val, int):
            raise AssertionError(f"Expected int, got {type(val)}")
        return super().__new__(cls, int(val))

    def __repr__(self) -> str:
        return f"DynamicInt({int(self)})"

    def __reduce__(self) -> Any:
        return type(self), (int(self),)


def _arithmetic(name: str) -> Callable[..., Any]:
    plain = getattr(int, name)

    def method(self: Any, *others: Any) -> Any:
        found = plain(int(self), *(int(o) if isinstance(o, int) else o for o in others))
        return DynamicInt(found) if type(found) is int else found

    method.__name__, method.__qualname__, method.__doc__ = name, f"DynamicInt.{name}", plain.__doc__
    return method


for _name in [
    "add",
    "sub",
    "mul",
    "floordiv",
    "mod",
    "pow",
    "lshift",
    "rshift",
    "and",
    "or",
    "xor",
    "radd",
    "rsub",
    "rmul",
    "rfloordiv",
    "rmod",
    "rpow",
    "rlshift",
    "rrshift",
    "rand",
    "ror",
    "rxor",
    "neg",
    "pos",
    "abs",
    "invert",
    "round",
    "trunc",
    "floor",
    "ceil",
]:
    setattr(DynamicInt, f"__{_name}__", _arithmetic(f"__{_name}__"))
