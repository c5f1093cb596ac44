"""ShapeEnv: the symbols of a run, what is known of them, and the guards that the run relied on.

It makes symbols for the sizes of tensors and for numbers that data decide; `core`
decides and learns. Names and behaviour are those of
`torch.fx.experimental.symbolic_shapes.ShapeEnv`.
"""

import functools
import hashlib
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from dispatch.symbolic import core
from dispatch.symbolic.contexts import (
    DimDynamic,
    StatefulSymbolicContext,
    StatelessSymbolicContext,
    StrictMinMaxConstraint,
    SymbolicContext,
)
from dispatch.symbolic.errors import ConstraintViolationError
from dispatch.symbolic.expr import Expr
from dispatch.symbolic.numbers import SymBool, SymFloat, SymInt, SymNode, int_of
from dispatch.symbolic.ranges import ValueRanges, int_oo
from dispatch.symbolic.sources import Source, TensorProperty, TensorPropertySource

__all__ = ["ShapeEnv"]


@functools.lru_cache(4096)
def _first_id(source_name: str) -> int:
    """Where the search for a symbol's number begins: a hash, so that runs agree."""
    return int(hashlib.sha256(source_name.encode()).hexdigest(), 16) % 100


class _Ignoring(threading.local):
    fresh_unbacked = False


_ignoring = _Ignoring()


class ShapeEnv(core.Core):
    """The symbols of one run.

    Args:
        specialize_zero_one: sizes 0 and 1 are numbers, so that every other size is known to be
            at least 2.
        duck_shape: sizes of the same number are the same symbol, where the context says DUCK.
        assume_static_by_default: kept for readers of `settings`.
        prefer_deferred_runtime_asserts_over_guards: `_check` makes runtime asserts also where
            a guard would do.
    """

    def __init__(
        self,
        *,
        should_record_events: bool | None = None,
        tracked_fakes: list[Any] | None = None,
        allow_scalar_outputs: bool = True,
        allow_dynamic_output_shape_ops: bool = True,
        assume_static_by_default: bool = False,
        specialize_zero_one: bool = True,
        duck_shape: bool | None = None,
        co_fields: dict[str, Any] | None = None,
        prefer_deferred_runtime_asserts_over_guards: bool = False,
        trace_asserts: bool = False,
    ) -> None:
        self.allow_scalar_outputs = allow_scalar_outputs
        self.allow_dynamic_output_shape_ops = allow_dynamic_output_shape_ops
        self.assume_static_by_default = assume_static_by_default
        self.specialize_zero_one = specialize_zero_one
        self.duck_shape = duck_shape is None or duck_shape
        self.prefer_deferred_runtime_asserts_over_guards = (
            prefer_deferred_runtime_asserts_over_guards
        )
        self.trace_asserts = trace_asserts
        self.tracked_fakes = tracked_fakes
        self.should_record_events = bool(should_record_events)
        self.co_fields = co_fields or {}
        self.unique_ids: set[int] = set()
        self.val_to_var: dict[int, Expr] = {}
        self.source_to_var: dict[str, Expr] = {}
        self.var_to_hint_override: dict[Expr, int] = {}
        self.unbacked_symint_counter = 0
        self.unbacked_symfloat_counter = 0
        self.pending_fresh_unbacked_symbols: list[Expr] = []
        self.counter: Counter[str] = Counter()
        self.symbol_guard_counter: Counter[Expr] = Counter()
        self.var_to_stack: dict[Expr, Any] = {}
        self._shapes_of_ids: dict[str, Expr] = {}

    @property
    def settings(self) -> dict[str, bool]:
        """What changes the answers: part of the key of anything remembered by calls."""
        return {
            "specialize_zero_one": self.specialize_zero_one,
            "duck_shape": self.duck_shape,
            "assume_static_by_default": self.assume_static_by_default,
            "prefer_deferred_runtime_asserts_over_guards": (
                self.prefer_deferred_runtime_asserts_over_guards
            ),
            "allow_scalar_outputs": self.allow_scalar_outputs,
            "allow_dynamic_output_shape_ops": self.allow_dynamic_output_shape_ops,
            "trace_asserts": self.trace_asserts,
        }

    # --- symbols of inputs

    def create_symbol(
        self,
        val: Any,
        source: Source,
        dynamic_dim: DimDynamic = DimDynamic.DUCK,
        constraint_dim: Any = None,
        positive: bool | None = True,
        do_not_specialize_zero_one: bool = False,
        symbolic_context: SymbolicContext | None = None,
    ) -> Any:
        """The symbol of a size or number from `source` that is `val` in this run; or the number.

        Raises:
            ConstraintViolationError: `val` is not what the constraint allows.
        """
        if isinstance(constraint_dim, StrictMinMaxConstraint) and constraint_dim.vr.is_singleton():
            if constraint_dim.vr.lower != val:
                raise ConstraintViolationError(
                    f"Static shape constraint of {constraint_dim.vr.lower} does not match "
                    f"input size of {val}, for {source.name}"
                )
            dynamic_dim, constraint_dim = DimDynamic.STATIC, None
        if isinstance(symbolic_context, StatefulSymbolicContext):
            known = symbolic_context.shape_env_to_source_to_symbol_cache.setdefault(id(self), {})
            name = source.name
            if name not in known:
                known[name] = self._create_symbol(
                    val, source, dynamic_dim, constraint_dim, positive,
                    do_not_specialize_zero_one, symbolic_context,
                )  # fmt: skip
            return known[name]
        return self._create_symbol(
            val, source, dynamic_dim, constraint_dim, positive,
            do_not_specialize_zero_one, symbolic_context,
        )  # fmt: skip

    def _create_symbol(
        self,
        val: Any,
        source: Source,
        dynamic_dim: DimDynamic,
        constraint: Any,
        positive: bool | None,
        keep_zero_one: bool,
        context: SymbolicContext | None,
    ) -> Any:
        if dynamic_dim is DimDynamic.UNBACKED:
            return self._create_unbacked_size(source, context)
        if not isinstance(source, Source):
            raise AssertionError(f"{type(source)} {source}")
        if positive and val < 0:
            raise AssertionError(f"positive set for negative value: {val}")
        if constraint is not None:
            dynamic_dim = DimDynamic.DYNAMIC
        if dynamic_dim is DimDynamic.STATIC:
            return self._number(val)
        if dynamic_dim is DimDynamic.INFER_STRIDE:
            raise AssertionError(f"unhandled dynamic_dim {dynamic_dim}")
        if self.specialize_zero_one and not keep_zero_one and (val == 0 or val == 1):
            return self._number(val)
        duck = dynamic_dim is DimDynamic.DUCK and self.duck_shape
        if duck:
            known = self.val_to_var.get(val)
            if known is not None:
                self.source_to_var[source.name] = known
                sources = self.var_to_sources[known]
                sources.append(source)
                if sources[0].is_ephemeral() and not source.is_ephemeral():
                    sources[0], sources[-1] = sources[-1], sources[0]
                return known
        symbol = self._new_symbol(val, source, positive, keep_zero_one)
        if duck:
            self.val_to_var[val] = symbol
        if type(val) is int:
            if isinstance(constraint, StrictMinMaxConstraint):
                self._update_var_to_range(symbol, constraint.vr, is_constraint=True)
            r = self.var_to_range[symbol]
            if not r.lower <= val <= r.upper:
                raise ConstraintViolationError(f"{val} not in range [{r.lower}, {r.upper}]")
        self.counter["create_symbol"] += 1
        return symbol

    def _new_symbol(
        self, val: Any, source: Source, positive: bool | None, keep_zero_one: bool
    ) -> Expr:
        name = source.name
        attempt = _first_id(name)
        while attempt in self.unique_ids:
            attempt += 1
        self.unique_ids.add(attempt)
        if type(val) is float:
            symbol = self._symbol(f"zf{attempt}", "float", val, bool(positive), None, None)
        else:
            low = (0 if keep_zero_one or not self.specialize_zero_one else 2) if positive else None
            symbol = self._symbol(f"s{attempt}", "size", val, bool(positive), low, None)
        self.source_to_var[name] = symbol
        self.var_to_sources[symbol] = [source]
        self.symbol_guard_counter[symbol] = 0
        return symbol

    def _create_unbacked_size(self, source: Source, context: Any) -> Expr:
        symbol: Expr = self.create_unbacked_symint(source).node.expr
        self._constrain_range_for_size(symbol)
        self.unbacked_inputs.add(symbol)
        index = getattr(source, "idx", None)
        low, high = (getattr(context, "unbacked_bounds", None) or {}).get(index, (None, None))
        if low is not None:
            self._must(symbol >= low)
        if high is not None:
            self._must(symbol <= high)
        shape_id = (getattr(context, "shape_ids", None) or {}).get(index)
        if shape_id is not None:
            first = self._shapes_of_ids.setdefault(shape_id, symbol)
            if first is not symbol:
                self._must(self.same(symbol, first))
        return symbol

    def _must(self, condition: Expr) -> None:
        if not self.guard_or_defer_runtime_assert(condition, ""):
            raise RuntimeError(f"{condition} does not hold")

    def create_unspecified_symbol(
        self,
        val: Any,
        source: Source,
        dynamic_dim: DimDynamic = DimDynamic.DUCK,
        constraint_dim: Any = None,
        symbolic_context: SymbolicContext | None = None,
    ) -> Any:
        """A symbol of which nothing is assumed: not its sign, nor that it is not 0 or 1."""
        return self.create_symbol(
            val, source, dynamic_dim, constraint_dim, None, True, symbolic_context
        )

    def create_unspecified_symint_and_symbol(
        self, value: int, source: Source, dynamic_dim: DimDynamic
    ) -> Any:
        """A SymInt of such a symbol."""
        symbol = self.create_unspecified_symbol(value, source, dynamic_dim)
        return self.create_symintnode(symbol, hint=value, source=source)

    def create_symbolic_sizes_strides_storage_offset(
        self, ex: Any, source: Source, *, symbolic_context: SymbolicContext | None = None
    ) -> tuple[tuple[Any, ...], tuple[Any, ...], Any]:
        """Symbolic sizes, strides and offset for a tensor like `ex`."""
        return self._create_symbolic_sizes_strides_storage_offset(
            tuple(ex.size()),
            tuple(ex.stride()),
            ex.storage_offset(),
            [False] * ex.dim(),
            source,
            symbolic_context=symbolic_context,
        )

    def _create_symbolic_sizes_strides_storage_offset(
        self,
        ex_size: Sequence[Any],
        ex_stride: Sequence[Any],
        ex_storage_offset: Any,
        is_dim_dynamic: Sequence[bool],
        source: Source,
        *,
        symbolic_context: Any = None,
        hint_overrides: dict[int, int] | None = None,
    ) -> tuple[tuple[Any, ...], tuple[Any, ...], Any]:
        dim = len(ex_size)
        context = symbolic_context
        if context is None:
            context = StatelessSymbolicContext([DimDynamic.DUCK] * dim)
        if not isinstance(context, SymbolicContext) or type(context) is SymbolicContext:
            raise AssertionError("Invalid symbolic_context object")
        if len(context.dynamic_sizes) != dim or len(context.constraint_sizes) != dim:
            raise AssertionError(f"{len(context.dynamic_sizes)} != {dim}")
        static = all(d is DimDynamic.STATIC for d in context.dynamic_sizes)
        rest = DimDynamic.STATIC if static else DimDynamic.DUCK
        hints = dict(enumerate(ex_size)) | (hint_overrides or {})
        sizes = [
            self.create_symbol(
                hints[i],
                TensorPropertySource(source, TensorProperty.SIZE, i),
                context.dynamic_sizes[i],
                context.constraint_sizes[i],
                symbolic_context=context,
            )
            for i in range(dim)
        ]
        strides = self._compute_symbolic_stride(source, sizes, ex_size, ex_stride, context, rest)
        offset = self.create_symbol(
            ex_storage_offset,
            TensorPropertySource(source, TensorProperty.STORAGE_OFFSET),
            rest,
            symbolic_context=context,
        )
        return (
            tuple([int_of(x, self) for x in sizes]),
            tuple([int_of(x, self) for x in strides]),
            int_of(offset, self),
        )

    def _compute_symbolic_stride(
        self,
        source: Source,
        size: Sequence[Any],
        ex_size: Sequence[Any],
        ex_stride: Sequence[Any],
        context: Any,
        inferred: DimDynamic,
    ) -> list[Any]:
        """Strides as products of sizes where the numbers say so, the innermost first."""
        stride: list[Any] = [None] * len(size)
        candidates: dict[Any, Any] = {}
        last = len(ex_stride) - 1
        for val, minus in sorted((val, -i) for i, val in enumerate(ex_stride)):
            i = -minus
            follows = i != last and val == ex_size[i + 1] * ex_stride[i + 1]
            dynamic = context.dynamic_strides[i]
            if val in (0, 1) and not follows:
                out = self._number(val)
            elif dynamic is DimDynamic.INFER_STRIDE and val in candidates:
                out = candidates[val]
            else:
                out = self.create_symbol(
                    val,
                    TensorPropertySource(source, TensorProperty.STRIDE, i),
                    inferred if dynamic is DimDynamic.INFER_STRIDE else dynamic,
                    context.constraint_strides[i],
                    symbolic_context=context,
                )
            stride[i] = out
            candidates[ex_size[i] * val] = size[i] * out
        return stride

    def create_symintnode(self, sym: Any, *, hint: Any = None, source: Source | None = None) -> Any:
        """A SymInt of an expression; an int of a number."""
        sym = self.sympify(sym)
        if sym.is_number:
            if hint is not None and int(sym) != hint:
                raise AssertionError(f"int(sym)={int(sym)} != hint={hint}")
            return int(sym)
        return int_of(sym, self)

    def create_symfloatnode(
        self, sym: Any, *, hint: Any = None, source: Source | None = None
    ) -> Any:
        """A SymFloat of an expression; a float of a number."""
        sym = self.sympify(sym)
        if sym.is_number:
            return float(sym)
        return SymFloat(SymNode(sym, self, float, hint))

    def create_symboolnode(self, sym: Any) -> SymBool:
        """A SymBool of a condition."""
        return SymBool(SymNode(self.sympify(sym), self, bool, None))

    def add_backed_var_to_val(self, expr: Expr, val: int) -> None:
        """Gives a symbol without a hint one."""
        if expr in self.backed_var_to_val:
            raise AssertionError(f"{expr} already exists")
        self._give_hint(expr, val)

    @property
    def var_to_val(self) -> dict[Expr, Any]:
        return self.backed_var_to_val

    # --- symbols of data

    def _fresh(self, name: str, kind: str, low: Any, high: Any) -> Expr:
        symbol = self._symbol(name, kind, None, False, low, high)
        if not _ignoring.fresh_unbacked:
            self.pending_fresh_unbacked_symbols.append(symbol)
        self.var_to_stack[symbol] = self.var_to_range_sloc[symbol]
        self.counter["create_unbacked_symbol"] += 1
        return symbol

    def create_unbacked_symint(self, source: Source | None = None) -> SymInt:
        """A whole number that data decide."""
        name = f"u{self.unbacked_symint_counter}"
        self.unbacked_symint_counter += 1
        return int_of(self._fresh(name, "unbacked", None, None), self)

    def create_unbacked_symbool(self) -> SymBool:
        """A truth value that data decide."""
        name = f"u{self.unbacked_symint_counter}"
        self.unbacked_symint_counter += 1
        symbol = self._fresh(name, "unbacked", 0, 1)
        return SymBool(SymNode(self.same(symbol, 1), self, bool, None))

    def create_unbacked_symfloat(self) -> SymFloat:
        """A float that data decide."""
        name = f"zuf{self.unbacked_symfloat_counter}"
        self.unbacked_symfloat_counter += 1
        return SymFloat(SymNode(self._fresh(name, "unbacked float", None, None), self, float, None))

    def is_unbacked_symint(self, symbol: Any) -> bool:
        """Whether a symbol stands for a number that data decide."""
        return str(symbol).startswith("u")

    @contextmanager
    def ignore_fresh_unbacked_symbols(self) -> Iterator[None]:
        """Symbols made inside need not be found in a result."""
        before, _ignoring.fresh_unbacked = _ignoring.fresh_unbacked, True
        try:
            yield
        finally:
            _ignoring.fresh_unbacked = before

    def set_real_tensor_prop_unbacked_vals(self, k: Expr, v: Any) -> None:
        """The number that an unbacked symbol had in a real run: asked when nothing else decides."""
        self.real_tensor_prop_unbacked_vals[k] = v

    # --- constraints without guards

    def _constrain_range(self, a: Any, min: Any, max: Any) -> None:
        a = self.sympify(a)
        if a.is_number:
            if not min <= int(a) <= max:
                raise ValueError(f"Invalid value {int(a)} for range [{min}:{max}]")
        elif a.is_symbol:
            self.constrain_symbol_range(a, min, max)

    def constrain_symbol_range(self, s: Expr, compiler_min: Any, compiler_max: Any) -> None:
        """The symbol lies between these, said by somebody who knows."""
        self._update_var_to_range(s, ValueRanges(compiler_min, compiler_max))

    def _constrain_range_for_size(self, a: Expr, min: Any = None, max: Any = None) -> None:
        min = 0 if min is None else min
        max = int_oo if max is None else max
        if max < min:
            raise ValueError(
                "Maximum value to constrain_as_size can't be less than the specified min value, "
                f"received min={min} and max={max}"
            )
        self.constrain_symbol_range(a, min, max)
        self.size_like.add(a)

    def _constrain_is_bounded(self, a: Expr, upper_bound: int) -> None:
        """Nothing follows from it."""

    def _constrain_unify(self, a: Any, b: Any) -> None:
        if not isinstance(a, SymInt):
            a, b = b, a
        if not isinstance(a, SymInt):
            if a != b:
                raise AssertionError(f"Expected {a} == {b}")
            return
        for x in (a, b):
            if isinstance(x, SymInt):
                if not x.node.expr.is_symbol:
                    raise AssertionError("constraining non-Symbols NYI")
                if x.node.shape_env is not self:
                    raise AssertionError("a.node.shape_env must be self")
        if isinstance(b, SymInt):
            self._replace_by(b.node.expr, a.node.expr)
        else:
            self._replace_by(a.node.expr, self.sympify(b))

    def _default_value_range(self, do_not_specialize_zero_one: bool = False) -> ValueRanges:
        low = 0 if do_not_specialize_zero_one or not self.specialize_zero_one else 2
        return ValueRanges(low, int_oo)

    def _default_unspecified_value_range(self) -> ValueRanges:
        return ValueRanges.unknown_int()

    # --- settings while it runs

    def freeze(self) -> None:
        """Guards from now on are counted as ignored."""
        self.frozen = True

    def freeze_runtime_asserts(self) -> None:
        """Runtime asserts are not expected any more."""
        self.runtime_asserts_frozen = True

    @contextmanager
    def suppress_guards(self) -> Iterator[None]:
        """Answers by the hint, and nothing is recorded."""
        core.suppressed.depth += 1
        try:
            yield
        finally:
            core.suppressed.depth -= 1

    @contextmanager
    def error_on_new_guards(self) -> Iterator[None]:
        """A guard inside raises."""
        before, self._error_on_new_guards = self._error_on_new_guards, True
        try:
            yield
        finally:
            self._error_on_new_guards = before

    def _get_key(self) -> tuple[int, ...]:
        """Changes with whatever is learnt."""
        return (
            len(self.replacements),
            self._version_counter,
            self.num_deferred_runtime_asserts,
            self.unbacked_symint_counter,
        )

    # --- reading

    def format_guards(self, verbose: bool = False) -> str:
        """One guard a line."""
        return "\n".join(f" - {g.expr}{' ' + str(g.sloc) if verbose else ''}" for g in self.guards)

    def get_nontrivial_guards(self) -> list[Any]:
        """Guards that are not true by what is known now."""
        unknown = [g.expr for g in self.guards if self._maybe_evaluate_static(g.expr) is None]
        return [self.simplify(e) for e in unknown]

    def __str__(self) -> str:
        lines = ["ShapeEnv"]
        for s, r in self.var_to_range.items():
            names = ", ".join(x.name for x in self.var_to_sources.get(s, ()))
            hint = self.backed_var_to_val.get(s)
            target = f" -> {self.replacements[s]}" if s in self.replacements else ""
            lines.append(
                f"  {s} in [{r.lower}, {r.upper}]{target}"
                + (f" (is {hint})" if hint is not None else " (unbacked)")
                + (f" from {names}" if names else "")
            )
        lines += [f"  guard  {g.expr}  {g.sloc}" for g in self.guards]
        lines += [
            f"  assert {a.expr}  {a.stack}"
            for each in self.deferred_runtime_asserts.values()
            for a in each
        ]
        return "\n".join(lines)
