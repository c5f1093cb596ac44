"""Nodes that are no expressions: sizes of ragged dimensions, and constant truth values.

They stand inside a SymInt or SymBool (`numbers` calls their methods). A nested int is a length that
differs from row to row: it equals itself and its own multiples only, and is at least 2. Behaviour:
c10's NestedIntSymNodeImpl and ConstantSymNodeImpl.
"""

from typing import Any

from dispatch.symbolic.numbers import SymInt

__all__ = ["ConstantNode", "NestedIntNode", "_get_constant_bool_symnode", "_get_nested_int"]


class _Plain:
    """What both kinds answer alike."""

    shape_env = constant = None
    kind = "ConstantIntNode"

    def is_int(self) -> bool:
        return False

    def is_float(self) -> bool:
        return False

    def is_bool(self) -> bool:
        return False

    def is_symbolic(self) -> bool:
        return False

    def is_constant(self) -> bool:
        return False

    def is_nested_int(self) -> bool:
        return False

    def nested_int(self) -> int | None:
        return None

    def maybe_as_int(self) -> int | None:
        return None

    def clone(self) -> Any:
        return self

    def has_hint(self) -> bool:
        return True

    def wrap_int(self, num: int) -> "ConstantNode":
        return ConstantNode(num)

    def wrap_bool(self, num: bool) -> "ConstantNode":
        return ConstantNode(num)

    def _graph_repr(self) -> str:
        return str(self)

    __repr__ = _graph_repr


_METHODS = [
    "add",
    "sub",
    "mul",
    "mod",
    "int_floordiv",
    "int_truediv",
    "float_truediv",
    "pow_by_natural",
    "float_pow",
    "lshift",
    "rshift",
    "and_",
    "or_",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "sym_min",
    "sym_max",
    "abs",
    "neg",
    "ceil",
    "floor",
    "trunc",
    "sym_not",
    "sym_float",
]


def _refused(name: str) -> Any:
    def method(self: Any, *args: Any) -> Any:
        raise RuntimeError(f"{name} not supported by {self.kind}")

    return method


for _name in _METHODS:
    setattr(_Plain, _name, _refused(_name))


class ConstantNode(_Plain):
    """A number or truth value that is what it is in every run."""

    def __init__(self, value: int | bool) -> None:
        self.value = value

    def is_int(self) -> bool:
        return type(self.value) is int

    def is_bool(self) -> bool:
        return type(self.value) is bool

    def is_constant(self) -> bool:
        return True

    def maybe_as_int(self) -> int | None:
        return int(self.value) if self.is_int() else None

    def mul(self, other: Any) -> Any:
        return other.mul(self)

    def guard_int(self, file: str, line: int) -> int:
        return int(self.value)

    def int_(self) -> int:
        return int(self.value)

    def guard_bool(self, file: str, line: int) -> bool:
        return bool(self.value)

    def bool_(self) -> bool:
        return bool(self.value)

    def __str__(self) -> str:
        return str(self.value)

    @property
    def hint(self) -> int | bool:
        return self.value


class NestedIntNode(_Plain):
    """coeff * (the lengths numbered `val`)."""

    kind = "NestedIntSymNode"

    def __init__(self, val: int, coeff: int = 1) -> None:
        self.val, self.coeff = val, coeff

    def is_int(self) -> bool:
        return True

    def is_nested_int(self) -> bool:
        return True

    def nested_int(self) -> int | None:
        return self.val

    def nested_int_coeff(self) -> int:
        return self.coeff

    @property
    def hint(self) -> SymInt:
        return SymInt(self)

    def __str__(self) -> str:
        return f"j{self.val}" if self.coeff == 1 else f"{self.coeff}*j{self.val}"

    def guard_int(self, file: str, line: int) -> int:
        raise RuntimeError(f"a nested int is no number: {self}")

    def mul(self, other: Any) -> "NestedIntNode":
        """By a plain number."""
        number = other.maybe_as_int()
        if number is None:
            raise RuntimeError("a nested int is multiplied by plain numbers only")
        return NestedIntNode(self.val, self.coeff * number)

    def _sign(self, name: str, other: Any) -> int:
        """The sign of self - other, so far as the question needs it."""
        if other.is_nested_int() and other.nested_int() == self.val:
            return self.coeff - int(other.nested_int_coeff())
        number = other.maybe_as_int()
        if number is not None and number <= 2 and name in ("ge", "lt"):
            return 0
        if number is not None and number < 2 and name in ("gt", "le"):
            return 1
        raise RuntimeError(f"nested int {name}: Relation is indeterminate")

    def eq(self, other: Any) -> ConstantNode:
        same = other.is_nested_int() and other.nested_int() == self.val
        return ConstantNode(same and other.nested_int_coeff() == self.coeff)

    def ne(self, other: Any) -> ConstantNode:
        return ConstantNode(not self.eq(other).value)

    def ge(self, other: Any) -> ConstantNode:
        return ConstantNode(self._sign("ge", other) >= 0)

    def gt(self, other: Any) -> ConstantNode:
        return ConstantNode(self._sign("gt", other) > 0)

    def lt(self, other: Any) -> ConstantNode:
        return ConstantNode(self._sign("lt", other) < 0)

    def le(self, other: Any) -> ConstantNode:
        return ConstantNode(self._sign("le", other) <= 0)


def _get_nested_int(data: int, coeff: int) -> SymInt:
    """The size of the ragged dimension number `data`, times `coeff`."""
    return SymInt(NestedIntNode(data, coeff))


def _get_constant_bool_symnode(value: bool) -> ConstantNode:
    """A node that is this truth value in every run."""
    return ConstantNode(value)
