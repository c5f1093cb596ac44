# cython: nonecheck=True, boundscheck=True
"""Symbols: how a ShapeEnv makes them, for the numbers of inputs and for those that data decide.

`FakeTensorMode.from_tensor` comes here with a tensor's sizes, strides and offset; operators whose result depends on data come
for unbacked ones. A symbol's name is a hash of its source's, so that runs agree. Invariant: a symbol has its hint and range
from the start.
"""
import hashlib
import threading
from collections import Counter

from libc.stdint cimport int64_t

from dispatch.symbolic import config
from dispatch.symbolic.contexts import (
    DimDynamic, StatefulSymbolicContext, StatelessSymbolicContext, StrictMinMaxConstraint, SymbolicContext,
)
from dispatch.symbolic.core cimport Core
from dispatch.symbolic.errors import ConstraintViolationError
from dispatch.symbolic.expr cimport Expr, S_FLOAT, S_SIZE, S_UNBACKED, S_UNBACKED_FLOAT
from dispatch.symbolic.numbers cimport wrapped
from dispatch.symbolic.operations cimport *
from dispatch.symbolic.provenance import here
from dispatch.symbolic.ranges cimport ValueRanges
from dispatch.symbolic.sources import Source, TensorProperty, TensorPropertySource

cdef object DYNAMIC = DimDynamic.DYNAMIC
cdef object DUCK = DimDynamic.DUCK
cdef object STATIC = DimDynamic.STATIC
cdef object UNBACKED = DimDynamic.UNBACKED
cdef object INFER_STRIDE = DimDynamic.INFER_STRIDE
cdef object SIZE = TensorProperty.SIZE
cdef object STRIDE = TensorProperty.STRIDE
cdef dict FIRST_IDS = {}                 # of names: at most a few thousand are remembered


class _Ignoring(threading.local):
    fresh_unbacked = False


ignoring = _Ignoring()


cdef int64_t first_id(str name) except -1:
    """Where the search for a symbol's number begins: a hash, so that runs agree."""
    found = FIRST_IDS.get(name)
    if found is None:
        if len(FIRST_IDS) > 8192:
            FIRST_IDS.clear()
        found = FIRST_IDS[name] = int.from_bytes(hashlib.sha256(name.encode()).digest(), "big") % 100
    return found


cdef class Symbols(Core):
    """The part of a ShapeEnv that makes symbols."""

    cdef public bint specialize_zero_one, duck_shape
    cdef readonly dict val_to_var, source_to_var
    cdef dict next_ids                   # of a taken number: where to look on
    cdef public int unbacked_symint_counter, unbacked_symfloat_counter
    cdef public list pending_fresh_unbacked_symbols
    cdef readonly object counter
    cdef readonly dict var_to_stack
    cdef dict shapes_of_ids

    def __cinit__(self, *args, **kwargs):
        self.val_to_var, self.source_to_var, self.next_ids, self.var_to_stack, self.shapes_of_ids = {}, {}, {}, {}, {}
        self.pending_fresh_unbacked_symbols = []
        self.counter = Counter()
        self.specialize_zero_one = self.duck_shape = True

    @property
    def unique_ids(self):
        return set(self.next_ids)

    # --- of inputs

    def create_symbol(self, val, source, dynamic_dim=DimDynamic.DUCK, constraint_dim=None, positive=True,
                      do_not_specialize_zero_one=False, symbolic_context=None):
        """The symbol of a size or number from `source` that is `val` in this run; or the number.

        Raises:
            ConstraintViolationError: `val` is not what the constraint allows.
        """
        cdef dict known
        if isinstance(constraint_dim, StrictMinMaxConstraint) and constraint_dim.vr.is_singleton():
            if constraint_dim.vr.lower != val:
                raise ConstraintViolationError(
                    f"Static shape constraint of {constraint_dim.vr.lower} does not match input size of {val}, for {source.name}")
            dynamic_dim, constraint_dim = STATIC, None
        if isinstance(symbolic_context, StatefulSymbolicContext):
            known = symbolic_context.shape_env_to_source_to_symbol_cache.setdefault(id(self), {})
            name = source.name
            if name not in known:
                known[name] = self.made(val, source, dynamic_dim, constraint_dim, positive, do_not_specialize_zero_one,
                        symbolic_context)
            return known[name]
        return self.made(val, source, dynamic_dim, constraint_dim, positive, do_not_specialize_zero_one, symbolic_context)

    cdef Expr made(self, val, source, dynamic, constraint, positive, bint keep_zero_one, context):
        cdef bint duck = False
        cdef Expr s
        cdef ValueRanges r
        cdef list sources
        if dynamic is UNBACKED:
            return self.unbacked_size(source, context)
        if not isinstance(source, Source):
            raise AssertionError(f"{type(source)} {source}")
        if positive and val < 0:
            raise AssertionError(f"positive set for negative value: {val}")
        if constraint is not None:
            dynamic = DYNAMIC
        if dynamic is STATIC or (self.specialize_zero_one and not keep_zero_one and (val == 0 or val == 1)):
            return self.table.number(val)
        if dynamic is DUCK:
            duck = self.duck_shape
        elif dynamic is not DYNAMIC:
            raise AssertionError(f"unhandled dynamic_dim {dynamic}")
        name = source.name
        if duck:
            s = self.val_to_var.get(val)
            if s is not None:
                self.source_to_var[name] = s
                sources = self.var_to_sources[s]
                sources.append(source)
                if sources[0].is_ephemeral() and not source.is_ephemeral():
                    sources[0], sources[len(sources) - 1] = source, sources[0]
                return s
        s = self.named(name, val, positive is True, keep_zero_one)
        self.source_to_var[name] = s
        self.var_to_sources[s] = [source]
        if duck:
            self.val_to_var[val] = s
        if isinstance(constraint, StrictMinMaxConstraint):
            self._update_var_to_range(s, constraint.vr, is_constraint=True)
        if s.kind == K_INT and (type(val) is int or not hasattr(val, "node")):
            r = self.var_to_range[s]
            if not r.low <= val <= r.high:
                raise ConstraintViolationError(f"{val} not in range [{r.lower}, {r.upper}]")
        self.counter["create_symbol"] += 1
        return s

    cdef Expr named(self, str name, val, bint positive, bint keep_zero_one):
        number = self.free_id(first_id(name))
        if type(val) is float:
            return self.new_symbol(f"zf{number}", S_FLOAT, val, positive, None, None)
        low = (0 if keep_zero_one or not self.specialize_zero_one else 2) if positive else None
        return self.new_symbol(f"s{number}", S_SIZE, val, positive, low, None)

    cdef object free_id(self, object wanted):
        """The first number from `wanted` on that no symbol has; runs of taken ones are stepped over."""
        cdef list passed = []
        while wanted in self.next_ids:
            passed.append(wanted)
            wanted = self.next_ids[wanted]
        for number in passed:
            self.next_ids[number] = wanted
        self.next_ids[wanted] = wanted + 1
        return wanted

    cdef Expr unbacked_size(self, source, context):
        cdef Expr s = self.fresh(f"u{self.unbacked_symint_counter}", S_UNBACKED, None, None)
        self.unbacked_symint_counter += 1
        self._constrain_range_for_size(s)
        self.unbacked_inputs.add(s)
        index = getattr(source, "idx", None)
        low, high = (getattr(context, "unbacked_bounds", None) or {}).get(index, (None, None))
        if low is not None:
            self.must(s >= low)
        if high is not None:
            self.must(s <= high)
        shape_id = (getattr(context, "shape_ids", None) or {}).get(index)
        if shape_id is not None:
            first = self.shapes_of_ids.setdefault(shape_id, s)
            if first is not s:
                self.must(self.same(s, first))
        return s

    cdef int must(self, Expr condition) except -1:
        if not self.expect(condition, ""):
            raise RuntimeError(f"{condition} does not hold")
        return 0

    # --- of tensors

    def create_symbolic_sizes_strides_storage_offset(self, ex, source, *, symbolic_context=None):
        """Symbolic sizes, strides and offset for a tensor like `ex`."""
        return self._create_symbolic_sizes_strides_storage_offset(
            tuple(ex.size()), tuple(ex.stride()), ex.storage_offset(), None, source, symbolic_context=symbolic_context)

    def _create_symbolic_sizes_strides_storage_offset(self, ex_size, ex_stride, ex_storage_offset, is_dim_dynamic, source, *,
                                                      symbolic_context=None, hint_overrides=None):
        cdef Py_ssize_t i, dim = len(ex_size)
        cdef Expr x
        cdef list sizes = [], strides
        context = StatelessSymbolicContext([DUCK] * dim) if symbolic_context is None else symbolic_context
        if not isinstance(context, SymbolicContext) or type(context) is SymbolicContext:
            raise AssertionError("Invalid symbolic_context object")
        dynamic, constraints = context.dynamic_sizes, context.constraint_sizes
        if len(dynamic) != dim or len(constraints) != dim:
            raise AssertionError(f"{len(dynamic)} != {dim}")
        rest = STATIC if all([d is STATIC for d in dynamic]) else DUCK
        oblivious = config.backed_size_oblivious
        self.sloc = here()
        try:
            for i in range(dim):
                val = ex_size[i] if hint_overrides is None else hint_overrides.get(i, ex_size[i])
                x = self.create_symbol(val, TensorPropertySource(source, SIZE, i), dynamic[i], constraints[i],
                                       do_not_specialize_zero_one=oblivious, symbolic_context=context)
                if oblivious and x.op != OP_NUMBER:
                    self.size_like.add(x)
                sizes.append(x)
            strides = self.strides(source, sizes, ex_size, ex_stride, context, rest)
        finally:
            self.sloc = None
        x = self.create_symbol(ex_storage_offset, TensorPropertySource(source, TensorProperty.STORAGE_OFFSET), rest,
                symbolic_context=context)
        return (
            tuple([(<Expr>e).value if (<Expr>e).op == OP_NUMBER else wrapped(<Expr>e, self, K_INT) for e in sizes]),
            tuple([(<Expr>e).value if (<Expr>e).op == OP_NUMBER else wrapped(<Expr>e, self, K_INT) for e in strides]),
            x.value if x.op == OP_NUMBER else wrapped(x, self, K_INT),
        )

    cdef list strides(self, source, list size, ex_size, ex_stride, context, inferred):
        """As products of sizes where the numbers say so, the innermost first."""
        cdef Py_ssize_t i, last = len(size) - 1
        cdef list found = [None] * len(size)
        cdef dict candidates = {}
        cdef Expr out
        for val, minus in sorted([(ex_stride[i], -i) for i in range(last + 1)]):
            i = -minus
            follows = i != last and val == ex_size[i + 1] * ex_stride[i + 1]
            dynamic = context.dynamic_strides[i]
            if (val == 0 or val == 1) and not follows:
                out = self.table.number(val)
            elif dynamic is INFER_STRIDE and val in candidates:
                out = candidates[val]
            else:
                out = self.create_symbol(val, TensorPropertySource(source, STRIDE, i), inferred if dynamic is INFER_STRIDE
                        else dynamic,
                                         context.constraint_strides[i], symbolic_context=context)
            found[i] = out
            candidates[ex_size[i] * val] = self.table.binary(OP_MUL, size[i], out)
        return found

    # --- of data

    cdef Expr fresh(self, str name, int symbol_type, low, high):
        cdef Expr s = self.new_symbol(name, symbol_type, None, False, low, high)
        if not ignoring.fresh_unbacked:
            self.pending_fresh_unbacked_symbols.append(s)
        self.var_to_stack[s] = self.var_to_range_sloc[s]
        self.counter["create_unbacked_symbol"] += 1
        return s

    def create_unbacked_symint(self, source=None):
        """A whole number that data decide."""
        s = self.fresh(f"u{self.unbacked_symint_counter}", S_UNBACKED, None, None)
        self.unbacked_symint_counter += 1
        return wrapped(s, self, K_INT)

    def create_unbacked_symbool(self):
        """A truth value that data decide."""
        s = self.fresh(f"u{self.unbacked_symint_counter}", S_UNBACKED, 0, 1)
        self.unbacked_symint_counter += 1
        return wrapped(self.table.build(OP_EQ, [s, self.table.number(1)]), self, K_BOOL)

    def create_unbacked_symfloat(self):
        """A float that data decide."""
        s = self.fresh(f"zuf{self.unbacked_symfloat_counter}", S_UNBACKED_FLOAT, None, None)
        self.unbacked_symfloat_counter += 1
        return wrapped(s, self, K_FLOAT)
