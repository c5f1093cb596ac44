"""Expressions from text: sympy's notation and Python's.

Comes in through `expr.hook`. What `str` prints is read back as the same node; `a // b`, `a % b`,
`min(a, b)`, `a and b` are understood as well.
"""

import ast
from collections.abc import Mapping
from typing import Any

from dispatch.symbolic.expr import Expr, build, hook, leaf

__all__ = ["parse"]

_BINARY = {
    ast.Add: "Add",
    ast.Mult: "Mul",
    ast.FloorDiv: "FloorDiv",
    ast.Mod: "PythonMod",
    ast.Pow: "Pow",
    ast.BitAnd: "And",
    ast.BitOr: "Or",
    ast.LShift: "LShift",
    ast.RShift: "RShift",
    ast.Div: "IntTrueDiv",
}
_COMPARED = {
    ast.Eq: "Eq",
    ast.NotEq: "Ne",
    ast.Lt: "Lt",
    ast.LtE: "Le",
    ast.Gt: "Gt",
    ast.GtE: "Ge",
}
_CALLED = {
    "min": "Min",
    "max": "Max",
    "abs": "Abs",
    "float": "ToFloat",
    "int": "TruncToInt",
    "round": "RoundToInt",
    "sqrt": "OpaqueUnaryFn_sqrt",
    "ceil": "CeilToInt",
}


class _Reader:
    """One text, over one table."""

    def __init__(self, table: Any, names: Mapping[str, Expr]) -> None:
        self.table, self.names = table, names

    def read(self, node: ast.expr) -> Any:
        method = getattr(self, type(node).__name__, None)
        if method is None:
            raise ValueError(f"no expression: {ast.unparse(node)}")
        return method(node)

    def make(self, name: str, *args: Any) -> Any:
        return build(self.table, name, list(args))

    def Constant(self, node: ast.Constant) -> Any:
        return leaf(self.table, node.value)

    def Name(self, node: ast.Name) -> Any:
        if node.id in ("True", "true", "False", "false"):
            return leaf(self.table, node.id.lower() == "true")
        return self.names[node.id] if node.id in self.names else leaf(self.table, node.id)

    def UnaryOp(self, node: ast.UnaryOp) -> Any:
        x = self.read(node.operand)
        if isinstance(node.op, ast.UAdd):
            return x
        return -x if isinstance(node.op, ast.USub) else self.make("Not", x)

    def BinOp(self, node: ast.BinOp) -> Any:
        a, b = self.read(node.left), self.read(node.right)
        if isinstance(node.op, ast.Sub):
            return self.make("Add", a, -b)
        name = _BINARY.get(type(node.op))
        if name is None:
            raise ValueError(f"no expression: {ast.unparse(node)}")
        if name == "PythonMod" and a.is_nonnegative and b.is_nonnegative:
            name = "Mod"
        return self.make(name, a, b)

    def BoolOp(self, node: ast.BoolOp) -> Any:
        name = "And" if isinstance(node.op, ast.And) else "Or"
        return self.make(name, *map(self.read, node.values))

    def Compare(self, node: ast.Compare) -> Any:
        sides = [self.read(x) for x in (node.left, *node.comparators)]
        parts = [
            self.make(_COMPARED[type(op)], a, b)
            for op, a, b in zip(node.ops, sides, sides[1:], strict=False)
        ]
        return parts[0] if len(parts) == 1 else self.make("And", *parts)

    def IfExp(self, node: ast.IfExp) -> Any:
        parts = (node.body, node.test, node.orelse)
        return self.make("Piecewise", *map(self.read, parts))

    def Call(self, node: ast.Call) -> Any:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
        if name == "Piecewise":
            (value, condition), (otherwise, _) = (
                arg.elts for arg in node.args if isinstance(arg, ast.Tuple)
            )
            return self.make("Piecewise", *map(self.read, (value, condition, otherwise)))
        if name == "round" and len(node.args) == 2:
            name = "RoundDecimal"
        return self.make(_CALLED.get(name, name), *map(self.read, node.args))


def parse(table: Any, text: str, names: Mapping[str, Expr]) -> Any:
    """The expression of a text over a table's symbols; `names` come first."""
    return _Reader(table, names).read(ast.parse(text.strip(), mode="eval").body)


hook("parse", parse)
