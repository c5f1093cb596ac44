"""Guards and runtime asserts, and the line of the program that asked."""

from typing import Any

from dispatch.symbolic.expr import Expr

suppressed: Any

class SLoc:
    filename: str | None
    lineno: int
    name: str | None
    maybe_user_loc: None
    @property
    def framework_loc(self) -> Any: ...

class ShapeGuard:
    expr: Expr
    sloc: SLoc
    size_oblivious: bool
    def __init__(self, expr: Expr, sloc: Any, size_oblivious: bool = False) -> None: ...

class RuntimeAssert:
    expr: Expr
    msg: str
    stack: Any
    def __init__(self, expr: Expr, msg: str, stack: Any) -> None: ...

def here() -> SLoc: ...
