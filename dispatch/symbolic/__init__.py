"""Symbolic sizes: numbers that are expressions over the sizes of inputs, and what a run relied on.

The names are those of `torch.fx.experimental.symbolic_shapes`, with `SymInt` and its like and the
`sym_*` functions of `torch`. `docs/symbolic.md` has the whole. `DimConstraints` comes with sympy,
when it is asked for; `_LATER` has what else waits for that.
"""

import importlib
from typing import Any

from dispatch.symbolic import calls, parsing, pickles, rules, sympy_bridge, text  # noqa: F401
from dispatch.symbolic.bindings import (
    CallMethodKey as CallMethodKey,
    ConvertIntKey as ConvertIntKey,
    DivideByKey as DivideByKey,
    compute_unbacked_bindings as compute_unbacked_bindings,
    rebind_unbacked as rebind_unbacked,
    resolve_unbacked_bindings as resolve_unbacked_bindings,
)
from dispatch.symbolic.contents import (
    free_symbols as free_symbols,
    free_unbacked_symbols as free_unbacked_symbols,
    guarding_hint_or_throw as guarding_hint_or_throw,
    has_free_symbols as has_free_symbols,
    has_free_unbacked_symbols as has_free_unbacked_symbols,
    has_symbolic_sizes_strides as has_symbolic_sizes_strides,
    hint_int as hint_int,
    optimization_hint as optimization_hint,
)
from dispatch.symbolic.contexts import (
    Constraint as Constraint,
    DimConstraint as DimConstraint,
    DimDynamic as DimDynamic,
    EqualityConstraint as EqualityConstraint,
    RelaxedUnspecConstraint as RelaxedUnspecConstraint,
    StatefulSymbolicContext as StatefulSymbolicContext,
    StatelessSymbolicContext as StatelessSymbolicContext,
    StrictMinMaxConstraint as StrictMinMaxConstraint,
    SubclassSymbolicContext as SubclassSymbolicContext,
    SymbolicContext as SymbolicContext,
    SymIntSymbolicContext as SymIntSymbolicContext,
)
from dispatch.symbolic.errors import (
    ConstraintViolationError as ConstraintViolationError,
    GuardOnDataDependentSymNode as GuardOnDataDependentSymNode,
    PendingUnbackedSymbolNotFound as PendingUnbackedSymbolNotFound,
    ShapeEnvGuardError as ShapeEnvGuardError,
    ValueRangeError as ValueRangeError,
)
from dispatch.symbolic.expr import (
    Expr as Expr,
)
from dispatch.symbolic.guard_text import (
    eval_is_non_overlapping_and_dense as eval_is_non_overlapping_and_dense,
)
from dispatch.symbolic.nested import (
    _get_constant_bool_symnode as _get_constant_bool_symnode,
    _get_nested_int as _get_nested_int,
)
from dispatch.symbolic.node import SymNode as SymNode
from dispatch.symbolic.numbers import (
    SymBool as SymBool,
    SymFloat as SymFloat,
    SymInt as SymInt,
    to_node as to_node,
    wrap_node as wrap_node,
)
from dispatch.symbolic.provenance import (
    RuntimeAssert as RuntimeAssert,
    ShapeGuard as ShapeGuard,
    SLoc as SLoc,
)
from dispatch.symbolic.questions import (
    SymTypes as SymTypes,
    _advise_is_bounded as _advise_is_bounded,
    _advise_is_size as _advise_is_size,
    _check as _check,
    _check_is_size as _check_is_size,
    _constrain_range_for_size as _constrain_range_for_size,
    _sym_acos as _sym_acos,
    _sym_asin as _sym_asin,
    _sym_atan as _sym_atan,
    _sym_cos as _sym_cos,
    _sym_cosh as _sym_cosh,
    _sym_log2 as _sym_log2,
    _sym_sin as _sym_sin,
    _sym_sinh as _sym_sinh,
    _sym_sqrt as _sym_sqrt,
    _sym_tan as _sym_tan,
    _sym_tanh as _sym_tanh,
    constrain_range as constrain_range,
    constrain_unify as constrain_unify,
    expect_true as expect_true,
    guard_bool as guard_bool,
    guard_float as guard_float,
    guard_int as guard_int,
    guard_or_false as guard_or_false,
    guard_or_true as guard_or_true,
    guard_scalar as guard_scalar,
    guard_size_oblivious as guard_size_oblivious,
    has_guarding_hint as has_guarding_hint,
    has_static_value as has_static_value,
    is_concrete_bool as is_concrete_bool,
    is_concrete_float as is_concrete_float,
    is_concrete_int as is_concrete_int,
    is_nested_int as is_nested_int,
    is_symbolic as is_symbolic,
    statically_known_false as statically_known_false,
    statically_known_true as statically_known_true,
    sym_and as sym_and,
    sym_eq as sym_eq,
    sym_float as sym_float,
    sym_int as sym_int,
    sym_ite as sym_ite,
    sym_max as sym_max,
    sym_min as sym_min,
    sym_not as sym_not,
    sym_or as sym_or,
    sym_sqrt as sym_sqrt,
    sym_sum as sym_sum,
)
from dispatch.symbolic.ranges import (
    ValueRanges as ValueRanges,
    int_oo as int_oo,
)
from dispatch.symbolic.retracing import (
    CURRENT_NODE_KEY as CURRENT_NODE_KEY,
    SHAPEENV_EVENT_KEY as SHAPEENV_EVENT_KEY,
    SYMPY_INTERP as SYMPY_INTERP,
    InnerTensorKey as InnerTensorKey,
    Specialization as Specialization,
    SymIntEqByExpr as SymIntEqByExpr,
    TrackedFake as TrackedFake,
    ValueRangesSLoc as ValueRangesSLoc,
    bind_symbols as bind_symbols,
    cast_symbool_to_symint_guardless as cast_symbool_to_symint_guardless,
    check_consistent as check_consistent,
    create_contiguous as create_contiguous,
    eval_guards as eval_guards,
    find_symbol_binding_fx_nodes as find_symbol_binding_fx_nodes,
    fx_placeholder_targets as fx_placeholder_targets,
    fx_placeholder_vals as fx_placeholder_vals,
    is_accessor_node as is_accessor_node,
    is_symbol_binding_fx_node as is_symbol_binding_fx_node,
)
from dispatch.symbolic.shape_env import (
    ShapeEnv as ShapeEnv,
    ShapeEnvSettings as ShapeEnvSettings,
)
from dispatch.symbolic.sources import (
    AttrSource as AttrSource,
    CallMethodItemSource as CallMethodItemSource,
    ConstantSource as ConstantSource,
    EphemeralSource as EphemeralSource,
    GetItemSource as GetItemSource,
    LocalSource as LocalSource,
    Source as Source,
    TensorProperty as TensorProperty,
    TensorPropertySource as TensorPropertySource,
)
from dispatch.symbolic.sympy_bridge import canonicalize_bool_expr as canonicalize_bool_expr

# What few programs ask for, and where it is.
_LATER = {
    "DimConstraints": "dim_constraints",
    "DynamicDimConstraintPrinter": "dim_constraints",
    "IndicatorTypes": "functions",
    "bound_sympy": "functions",
}


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(importlib.import_module(f"dispatch.symbolic.{_LATER[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
