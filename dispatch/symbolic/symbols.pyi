"""Symbols, the part of a ShapeEnv that makes symbols."""

from collections import Counter
from typing import Any

from dispatch.symbolic.contexts import DimDynamic, SymbolicContext
from dispatch.symbolic.core import Core
from dispatch.symbolic.expr import Expr
from dispatch.symbolic.numbers import SymBool, SymFloat, SymInt
from dispatch.symbolic.sources import Source

ignoring: Any

class Symbols(Core):
    specialize_zero_one: bool
    duck_shape: bool
    val_to_var: dict[Any, Expr]
    source_to_var: dict[str, Expr]
    unbacked_symint_counter: int
    unbacked_symfloat_counter: int
    pending_fresh_unbacked_symbols: list[Expr]
    var_to_stack: dict[Expr, Any]
    @property
    def counter(self) -> Counter[str]: ...
    @property
    def unique_ids(self) -> set[int]: ...
    def create_symbol(
        self,
        val: Any,
        source: Source,
        dynamic_dim: DimDynamic = ...,
        constraint_dim: Any = None,
        positive: bool | None = True,
        do_not_specialize_zero_one: bool = False,
        symbolic_context: SymbolicContext | None = None,
    ) -> Expr: ...
    def create_symbolic_sizes_strides_storage_offset(
        self, ex: Any, source: Source, *, symbolic_context: SymbolicContext | None = None
    ) -> tuple[tuple[Any, ...], tuple[Any, ...], Any]: ...
    def _create_symbolic_sizes_strides_storage_offset(
        self,
        ex_size: Any,
        ex_stride: Any,
        ex_storage_offset: Any,
        is_dim_dynamic: Any,
        source: Source,
        *,
        symbolic_context: Any = None,
        hint_overrides: dict[int, int] | None = None,
    ) -> tuple[tuple[Any, ...], tuple[Any, ...], Any]: ...
    def create_unbacked_symint(self, source: Source | None = None) -> SymInt: ...
    def create_unbacked_symbool(self) -> SymBool: ...
    def create_unbacked_symfloat(self) -> SymFloat: ...
