"""ShapeEnv: the symbols of a run, what is known of them, and the guards that the run relied on.

It makes symbols for the sizes of tensors and for numbers that data decide; `core`
decides and learns. Names and behaviour are those of
`torch.fx.experimental.symbolic_shapes.ShapeEnv`.
"""

import importlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from dispatch.symbolic import config, foreign, guard_text, provenance, recording
from dispatch.symbolic.contexts import DimDynamic, SymbolicContext
from dispatch.symbolic.errors import ValueRangeError
from dispatch.symbolic.expr import Expr
from dispatch.symbolic.node import SymNode
from dispatch.symbolic.numbers import SymBool, SymFloat, SymInt, int_of, wrap_node
from dispatch.symbolic.ranges import ValueRanges, int_oo
from dispatch.symbolic.sources import LocalSource, Source
from dispatch.symbolic.symbols import Symbols, ignoring

__all__ = ["ShapeEnv", "ShapeEnvSettings"]


# A size that nobody knows, where a plan needs one.
_UNKNOWN_SIZE = 8192


def _rebuilt(settings: dict[str, Any], state: dict[str, Any]) -> "ShapeEnv":
    """A ShapeEnv as it was pickled."""
    env = ShapeEnv(**settings)
    symbols = {row[0]: env._restore(row) for row in state["symbols"]}
    env.var_to_sources.update({symbols[name]: x for name, x in state["sources"].items()})
    for kind in ("guards", "asserts"):
        for e, sloc in state[kind]:
            env._learn_again(env.sympify(e), sloc, kind == "asserts")
    for name, e in state["replacements"].items():
        env._set_replacement(symbols[name], e)
    env.unbacked_symint_counter, env.unbacked_symfloat_counter = state["counters"]
    return env


@dataclass(frozen=True, slots=True)
class ShapeEnvSettings:
    """What changes a ShapeEnv's answers: part of the key of anything remembered by calls."""

    allow_scalar_outputs: bool
    allow_dynamic_output_shape_ops: bool
    assume_static_by_default: bool
    specialize_zero_one: bool
    duck_shape: bool
    prefer_deferred_runtime_asserts_over_guards: bool
    trace_asserts: bool


class ShapeEnv(Symbols):
    """The symbols of one run.

    Args:
        specialize_zero_one: sizes 0 and 1 are numbers, so that every other size is known to be
            at least 2.
        duck_shape: sizes of the same number are the same symbol, where the context says DUCK;
            None: as `config.use_duck_shape` says.
        assume_static_by_default: kept for readers of `settings`.
        prefer_deferred_runtime_asserts_over_guards: `_check` makes runtime asserts also where
            a guard would do.
        should_record_events: keeps in `events` what changed it, for `replay_shape_env_events`.
    """

    events: list[recording.ShapeEnvEvent]
    is_recording = False

    def __init__(
        self,
        *,
        should_record_events: bool | None = None,
        tracked_fakes: list[Any] | None = None,
        **settings: Any,
    ) -> None:
        self.tracked_fakes = tracked_fakes
        self.should_record_events = bool(should_record_events)
        self.var_to_hint_override: dict[Expr, int] = {}
        self._init(**settings)

    def _init(
        self,
        *,
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
        self.duck_shape = config.use_duck_shape if duck_shape is None else duck_shape
        self.prefer_deferred_runtime_asserts_over_guards = (
            prefer_deferred_runtime_asserts_over_guards
        )
        self.trace_asserts = trace_asserts
        self.co_fields = co_fields or {}
        self.source_name_to_debug_name: dict[str, str] = {}
        self._inputs: Any = None
        if self.should_record_events:
            recording.watch(self, {**asdict(self.settings), "co_fields": co_fields})

    @property
    def settings(self) -> ShapeEnvSettings:
        """What it was made with, as far as that changes the answers."""
        return ShapeEnvSettings(*(getattr(self, f.name) for f in fields(ShapeEnvSettings)))

    # --- symbols of inputs

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
        self,
        value: int,
        source: Source,
        dynamic_dim: DimDynamic,
        excluded_value: int | None = None,
    ) -> Any:
        """A SymInt of such a symbol. `excluded_value`, which another program serves, is passed
        over: nothing is compiled here."""
        symbol = self.create_unspecified_symbol(value, source, dynamic_dim)
        return self.create_symintnode(symbol, hint=value, source=source)

    def create_symintnode(self, sym: Any, *, hint: Any = None, source: Source | None = None) -> Any:
        """A SymInt of an expression; an int of a number."""
        sym = self.sympify(sym)
        if sym.is_number:
            if hint is not None and int(sym) != hint:
                raise AssertionError(f"int(sym)={int(sym)} != hint={hint}")
            return int(sym)
        if hint is not None and not isinstance(hint, int):  # a nested int
            return SymInt(SymNode(sym, self, int, hint))
        return int_of(sym, self)

    def create_symfloatnode(
        self, sym: Any, *, hint: Any = None, source: Source | None = None
    ) -> Any:
        """A SymFloat of an expression; a float of a number. AssertionError: not the hint."""
        sym = self.sympify(sym)
        if sym.is_number:
            if hint is not None and float(sym) != hint:
                raise AssertionError(f"float(sym)={float(sym)} != hint={hint}")
            return float(sym)
        return SymFloat(SymNode(sym, self, float, hint))

    def create_symboolnode(self, sym: Any) -> SymBool:
        """A SymBool of a condition."""
        return SymBool(SymNode(self.sympify(sym), self, bool, None))

    def transfer_symbols_from_foreign_shape_env(
        self,
        sizes: Sequence[Any],
        strides: Sequence[Any],
        storage_offset: Any,
        source: Source,
        *,
        symbolic_context: SymbolicContext | None = None,
        hint_overrides: dict[int, int] | None = None,
    ) -> tuple[tuple[Any, ...], tuple[Any, ...], Any]:
        """Sizes, strides and offset that belong to another ShapeEnv, as ones of this."""
        return foreign.transferred(
            self, sizes, strides, storage_offset, source, symbolic_context, hint_overrides or {}
        )

    def add_backed_var_to_val(self, expr: Expr, val: int) -> None:
        """Gives a symbol without a hint one."""
        if expr in self.backed_var_to_val:
            raise AssertionError(f"{expr} already exists")
        self._give_hint(expr, val)

    add_var_to_val = add_backed_var_to_val

    @property
    def var_to_val(self) -> dict[Expr, Any]:
        return self.backed_var_to_val

    # --- symbols of data

    def is_unbacked_symint(self, symbol: Any) -> bool:
        """Whether a symbol stands for a number that data decide. AssertionError: no symbol."""
        if not getattr(symbol, "is_symbol", False):
            raise AssertionError(f"expected a symbol, got {symbol}")
        return str(symbol).startswith("u")

    @contextmanager
    def ignore_fresh_unbacked_symbols(self) -> Iterator[None]:
        """Symbols made inside need not be found in a result."""
        before, ignoring.fresh_unbacked = ignoring.fresh_unbacked, True
        try:
            yield
        finally:
            ignoring.fresh_unbacked = before

    def set_real_tensor_prop_unbacked_vals(self, k: Expr, v: Any) -> None:
        """The number that an unbacked symbol had in a real run: asked when nothing else decides."""
        self.real_tensor_prop_unbacked_vals[k] = v

    def optimization_hint(self, expr: Any, fallback: int | None = None) -> int:
        """A number for an expression, to plan with and not to guard on: a symbol that data decide
        counts as `fallback` (8192), or what of its range is next to that."""
        e = self.replace(expr)
        values = dict(self.backed_var_to_val)
        wanted = _UNKNOWN_SIZE if fallback is None else fallback
        for s in e.free_symbols - values.keys():
            r = self.var_to_range[s]
            near = max(float(r.lower), min(wanted, float(r.upper)))
            values[s] = self.var_to_hint_override.get(s, int(near))
        return int(e.evaluate(values))

    # --- constraints without guards

    def _constrain_range(self, a: Any, min: Any, max: Any) -> None:
        a = self.sympify(a)
        if a.is_number:
            if not min <= int(a) <= max:
                raise ValueRangeError(f"Invalid value {int(a)} for range [{min}:{max}]")
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
        provenance.suppressed.depth += 1
        try:
            yield
        finally:
            provenance.suppressed.depth -= 1

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

    # --- guards of the whole run

    def produce_guards(self, placeholders: Any, sources: Any, *args: Any, **kwargs: Any) -> Any:
        """Conditions under which the run holds for other inputs, as Python text over `sources`.

        Raises:
            ConstraintViolationError: a guard says more than the inputs' constraints allow.
        """
        return guard_text.produce(self, placeholders, sources, *args, **kwargs)

    def produce_guards_verbose(
        self, placeholders: Any, sources: Any, *args: Any, **kwargs: Any
    ) -> list[guard_text.Texts]:
        """The same in several ways: as Python, and with the line that asked behind each."""
        return guard_text.produce_verbose(self, placeholders, sources, *args, **kwargs)

    @property
    def dim_constraints(self) -> Any:
        """What the last `produce_guards` said, to be solved for dimensions; None before."""
        if self._inputs is None:
            return None
        return importlib.import_module("dispatch.symbolic.dim_guards").of_run(self, self._inputs)

    def produce_guards_expression(
        self, placeholders: Any, *, guards: Any = None, ignore_static: bool = True
    ) -> str | None:
        """All of them as one text, for `evaluate_guards_expression`; None when there is none."""
        sources = [LocalSource(f"t{i}") for i in range(len(placeholders))]
        found = self.produce_guards(
            placeholders, sources, guards=guards, ignore_static=ignore_static
        )
        return " and ".join(found) if found else None

    def evaluate_guards_expression(self, code: str, args: Any) -> bool:
        """Whether these inputs keep to the guards."""
        inputs = {f"t{i}": arg for i, arg in enumerate(args)}
        return bool(eval(code, dict(guard_text.FUNCTIONS), {"L": inputs}))

    def evaluate_guards_for_args(
        self, placeholders: Any, args: Any, *, ignore_static: bool = True
    ) -> bool:
        """Whether inputs in the place of `placeholders` keep to the guards."""
        code = self.produce_guards_expression(placeholders, ignore_static=ignore_static)
        return not code or self.evaluate_guards_expression(code, args)

    def bind_symbols(self, placeholders: Any, args: Any) -> dict[Expr, int]:
        """The symbols' numbers when these inputs stand in the place of `placeholders`."""
        return guard_text.bind(placeholders, args)

    def get_pruned_guards(self, symints: Any) -> list[Any]:
        """Guards on nothing but these symbols."""
        known = {s.node.expr for s in symints}
        return [g for g in self.guards if g.expr.free_symbols <= known]

    def _of_own_symbols(self, code: str) -> Expr:
        e: Expr = self.parse(code)
        for s in e.free_symbols - self.backed_var_to_val.keys():
            raise NameError(f"name {s.name!r} is not defined")
        return e

    def evaluate_symexpr(self, code: str) -> Any:
        """What a text is in this run. NameError: a symbol has no hint here."""
        return self._of_own_symbols(code).evaluate(self.backed_var_to_val)

    def deserialize_symexpr(self, code: str) -> Any:
        """A text as a symbolic number. NameError: a symbol has no hint here."""
        e = self._of_own_symbols(code)
        kind = bool if e.is_Boolean else int if e.is_integer else float
        return wrap_node(SymNode(e, self, kind, None))

    def __reduce__(self) -> Any:
        asserts = [a for each in self.deferred_runtime_asserts.values() for a in each]
        state = {
            "symbols": self._rows(),
            "sources": {s.name: x for s, x in self.var_to_sources.items()},
            "guards": [(g.expr, g.sloc) for g in self.guards],
            "asserts": [(a.expr, a.stack) for a in asserts],
            "replacements": {s.name: e for s, e in self.replacements.items()},
            "counters": (self.unbacked_symint_counter, self.unbacked_symfloat_counter),
        }
        return _rebuilt, (asdict(self.settings), state)

    # --- recorded

    def _snapshot_tracked_fakes(self) -> list[Any] | None:
        """The inputs as they are now, without the tensors."""
        if self.tracked_fakes is None:
            return None
        return [
            replace(x, fake=recording.FakeTensorMeta.from_fake(x.fake))
            if hasattr(x.fake, "storage_offset")
            else x
            for x in self.tracked_fakes
        ]

    def cleanup(self) -> None:
        """Nothing: no frame is kept that would have to be let go."""

    def check_equal(self, other: "ShapeEnv") -> None:
        """Nothing when another ShapeEnv has learnt the same.

        Raises:
            NotEqualError: with what differs.
        """

        def counted(name: str, value: Any) -> Any:
            if name == "guards":
                return [str(g.expr) for g in value]
            if name == "deferred_runtime_asserts":
                return {s: [str(a.expr) for a in asserts] for s, asserts in value.items()}
            return value

        recording.shape_env_check_state_equal(self, other, (), counted)

    # --- reading

    def get_axioms(
        self, symbols: Sequence[Expr] | None = None, compute_hint: bool = False
    ) -> tuple[Expr, ...]:
        """Guards, and the runtime asserts on these symbols (None: all); `compute_hint`: with the
        run's numbers in place of what has some."""
        deferred = self.deferred_runtime_asserts
        chosen = deferred if symbols is None else [s for s in symbols if s in deferred]
        found = [g.expr for g in self.guards] + [a.expr for s in chosen for a in deferred[s]]
        if compute_hint:
            found = [e.xreplace(self.backed_var_to_val) for e in found]
        return tuple(dict.fromkeys(found))

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
