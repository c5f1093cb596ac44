"""What kind of thing a symbol stands for, by its name (`torch.utils._sympy.symbol`)."""

import enum
from typing import Any

__all__ = ["SymT", "free_symbol_is_type", "make_symbol", "prefix_str", "symbol_is_type"]

SymT = enum.Enum(
    "SymT",
    "SIZE FLOAT UNBACKED_INT UNBACKED_FLOAT TMP INDIRECT PRECOMPUTED_SIZE INDEX R0_INDEX R1_INDEX "
    "TEMPLATE_INDEX XBLOCK YBLOCK ZBLOCK VIEW HALIDE",
)
prefix_str = {
    SymT.SIZE: "s",
    SymT.FLOAT: "zf",
    SymT.UNBACKED_INT: "u",
    SymT.UNBACKED_FLOAT: "zuf",
}


def _name(symbol: Any) -> str:
    return symbol if isinstance(symbol, str) else str(symbol.name)


def symbol_is_type(symbol: Any, kinds: Any) -> bool:
    """Whether a symbol is of this kind, or of one of these."""
    kinds = (kinds,) if isinstance(kinds, SymT) else kinds
    name = _name(symbol).lower()
    return any(kind in prefix_str and name.startswith(prefix_str[kind]) for kind in kinds)


def free_symbol_is_type(expr: Any, kinds: Any) -> bool:
    """Whether an expression has a symbol of this kind."""
    return any(symbol_is_type(s, kinds) for s in expr.free_symbols)


def make_symbol(kind: SymT, idx: int, **assumptions: Any) -> Any:
    """A sympy symbol of this kind and number."""
    import sympy

    return sympy.Symbol(f"{prefix_str[kind]}{idx}", **assumptions)
