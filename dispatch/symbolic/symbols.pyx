# cython: nonecheck=True, boundscheck=True
"""Symbols: how a ShapeEnv makes them, for the numbers of inputs and for those that data decide.

`FakeTensorMode.from_tensor` comes here with a tensor's sizes, strides and offset; operators whose result depends on data come
for unbacked ones. A symbol's name is a hash of its source's, so that runs agree. Invariant: a symbol has its hint and range
from the start.
"""
import threading
from collections import Counter

try:                                     # as `random` does: much less is asked than of OpenSSL
    from _sha2 import sha256
except ImportError:
    try:
        from _sha256 import sha256
    except ImportError:
        from hashlib import sha256

from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memset

from dispatch.symbolic import config
from dispatch.symbolic.contexts import (
    DimDynamic, StatefulSymbolicContext, StatelessSymbolicContext, StrictMinMaxConstraint, SymbolicContext,
)
from dispatch.symbolic.core cimport Core
from dispatch.symbolic.errors import ConstraintViolationError
from dispatch.symbolic.expr cimport Expr, S_FLOAT, S_SIZE, S_UNBACKED, S_UNBACKED_FLOAT
from dispatch.symbolic.numbers cimport wrapped
from dispatch.symbolic.operations cimport *
from dispatch.symbolic.properties cimport Source, TensorPropertySource, property_source
from dispatch.symbolic.properties import TensorProperty
from dispatch.symbolic.provenance import here
from dispatch.symbolic.ranges cimport ValueRanges

cdef object DYNAMIC = DimDynamic.DYNAMIC
cdef object DUCK = DimDynamic.DUCK
cdef object STATIC = DimDynamic.STATIC
cdef object UNBACKED = DimDynamic.UNBACKED
cdef object INFER_STRIDE = DimDynamic.INFER_STRIDE
cdef object SIZE = TensorProperty.SIZE
cdef object STRIDE = TensorProperty.STRIDE
cdef object OFFSET = TensorProperty.STORAGE_OFFSET
cdef enum:
    STARTS = 100                         # the numbers of symbols begin below that


class _Ignoring(threading.local):
    fresh_unbacked = False


ignoring = _Ignoring()


cdef int64_t first_id(str name) except -1:
    """Where the search for a symbol's number begins: a hash, so that runs agree."""
    cdef bytes digest = sha256(name.encode()).digest()
    cdef const unsigned char* word = digest
    cdef uint64_t found = 0
    cdef int i
    for i in range(0, 32, 4):                # of one large number, four bytes at a time
        found = (found << 32 | <uint64_t>word[i] << 24 | word[i + 1] << 16 | word[i + 2] << 8 | word[i + 3]) % <uint64_t>STARTS
    return found


cdef list innermost_first(object strides, Py_ssize_t n):
    """Dimensions by stride, of equal ones the last first: backwards, as nearly all tensors have them, or sorted."""
    cdef Py_ssize_t i
    for i in range(1, n):
        if type(strides[i - 1]) is not int or type(strides[i]) is not int or strides[i - 1] < strides[i]:
            return [-minus for _, minus in sorted([(strides[k], -k) for k in range(n)])]
    return [n - 1 - i for i in range(n)]


cdef class Symbols(Core):
    """The part of a ShapeEnv that makes symbols."""

    cdef public bint specialize_zero_one, duck_shape
    cdef readonly dict val_to_var, source_to_var
    cdef int64_t* next_ids               # of a number that a symbol has: where to look on; 0: it is free
    cdef int64_t id_room
    cdef int64_t created_inputs, created_unbacked
    cdef public int unbacked_symint_counter, unbacked_symfloat_counter
    cdef public list pending_fresh_unbacked_symbols
    cdef readonly dict var_to_stack
    cdef dict shapes_of_ids

    def __cinit__(self, *args, **kwargs):
        self.val_to_var, self.source_to_var, self.var_to_stack, self.shapes_of_ids = {}, {}, {}, {}
        self.pending_fresh_unbacked_symbols = []
        self.specialize_zero_one = self.duck_shape = True

    def __dealloc__(self):
        free(self.next_ids)

    @property
    def unique_ids(self):
        return {i for i in range(self.id_room) if self.next_ids[i]}

    @property
    def counter(self):
        """How many symbols were made, by the method that makes them."""
        return Counter(create_symbol=self.created_inputs) + Counter(create_unbacked_symbol=self.created_unbacked)

    # --- of inputs

    def create_symbol(self, val, source, dynamic_dim=DimDynamic.DUCK, constraint_dim=None, positive=True,
                      do_not_specialize_zero_one=False, symbolic_context=None):
        """The symbol of a size or number from `source` that is `val` in this run; or the number.

        Raises:
            ConstraintViolationError: `val` is not what the constraint allows.
        """
        return self.created(val, source, dynamic_dim, constraint_dim, positive, do_not_specialize_zero_one, symbolic_context)

    cdef Expr created(self, val, source, dynamic_dim, constraint_dim, positive, bint do_not_specialize_zero_one,
                      symbolic_context):
        cdef dict known
        if constraint_dim is not None and isinstance(constraint_dim, StrictMinMaxConstraint) and constraint_dim.vr.is_singleton():
            if constraint_dim.vr.lower != val:
                raise ConstraintViolationError(
                    f"Static shape constraint of {constraint_dim.vr.lower} does not match input size of {val}, for {source.name}")
            dynamic_dim, constraint_dim = STATIC, None
        if type(symbolic_context) is not StatelessSymbolicContext and isinstance(symbolic_context, StatefulSymbolicContext):
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
        name = (<TensorPropertySource>source).own_name() if type(source) is TensorPropertySource else source.name
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
        if constraint is not None and isinstance(constraint, StrictMinMaxConstraint):
            self._update_var_to_range(s, constraint.vr, is_constraint=True)
        if s.kind == K_INT and (type(val) is int or not hasattr(val, "node")):
            if not s.bounds[0] <= val <= s.bounds[1]:
                r = self.ranges[s]
                raise ConstraintViolationError(f"{val} not in range [{r.lower}, {r.upper}]")
        self.created_inputs += 1
        return s

    cdef Expr named(self, str name, val, bint positive, bint keep_zero_one):
        number = self.free_id(first_id(name))
        if type(val) is float:
            return self.new_symbol(f"zf{number}", S_FLOAT, val, positive, None, None)
        low = (0 if keep_zero_one or not self.specialize_zero_one else 2) if positive else None
        return self.new_symbol(f"s{number}", S_SIZE, val, positive, low, None)

    cdef int64_t free_id(self, int64_t wanted) except -1:
        """The first number from `wanted` on that no symbol has; runs of taken ones are stepped over."""
        cdef int64_t at = wanted, after
        while at < self.id_room and self.next_ids[at]:
            at = self.next_ids[at]
        self.take_id(at)
        while wanted != at:
            after = self.next_ids[wanted]
            self.next_ids[wanted] = at
            wanted = after
        return at

    cdef int take_id(self, int64_t number) except -1:
        cdef int64_t room = self.id_room
        cdef int64_t* grown
        if number >= room:
            room = 2 * number + STARTS
            grown = <int64_t*>realloc(self.next_ids, room * sizeof(int64_t))
            if grown == NULL:
                raise MemoryError
            memset(grown + self.id_room, 0, (room - self.id_room) * sizeof(int64_t))
            self.next_ids, self.id_room = grown, room
        self.next_ids[number] = number + 1
        return 0

    def _restore(self, row):
        """The symbol of a row of `_rows`; its number is taken."""
        digits = row[0].lstrip("szf")
        if digits.isdecimal() and len(digits) < 7:
            self.take_id(int(digits))
        return Core._restore(self, row)

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
        oblivious = config.backed_size_oblivious
        rest = STATIC
        for d in dynamic:
            if d is not STATIC:
                rest = DUCK
        self.sloc = here()
        try:
            for i in range(dim):
                val = ex_size[i] if hint_overrides is None else hint_overrides.get(i, ex_size[i])
                x = self.created(val, property_source(source, SIZE, i), dynamic[i], constraints[i], True, oblivious, context)
                if oblivious and x.op != OP_NUMBER:
                    self.size_like.add(x)
                sizes.append(x)
            strides = self.strides(source, sizes, ex_size, ex_stride, context, rest)
        finally:
            self.sloc = None
        x = self.created(ex_storage_offset, property_source(source, OFFSET, None), rest, None, True, False, context)
        return (
            tuple([(<Expr>e).value if (<Expr>e).op == OP_NUMBER else wrapped(<Expr>e, self, K_INT) for e in sizes]),
            tuple([(<Expr>e).value if (<Expr>e).op == OP_NUMBER else wrapped(<Expr>e, self, K_INT) for e in strides]),
            x.value if x.op == OP_NUMBER else wrapped(x, self, K_INT),
        )

    cdef list strides(self, source, list size, ex_size, ex_stride, context, inferred):
        """As products of sizes where the numbers say so, the innermost first."""
        cdef Py_ssize_t i, last = len(size) - 1
        cdef list found = [None] * len(size)
        cdef dict candidates = {}        # a size times its stride -> the dimension
        cdef Expr out
        for i in innermost_first(ex_stride, last + 1):
            val = ex_stride[i]
            follows = i != last and val == ex_size[i + 1] * ex_stride[i + 1]
            dynamic = context.dynamic_strides[i]
            inner = candidates.get(val) if dynamic is INFER_STRIDE else None
            if (val == 0 or val == 1) and not follows:
                out = self.table.number(val)
            elif inner is not None:
                out = self.table.binary(OP_MUL, size[inner], found[inner])
            else:
                out = self.created(val, property_source(source, STRIDE, i), inferred if dynamic is INFER_STRIDE else dynamic,
                                   context.constraint_strides[i], True, False, context)
            found[i] = out
            candidates[ex_size[i] * val] = i
        return found

    # --- of data

    cdef Expr fresh(self, str name, int symbol_type, low, high):
        cdef Expr s = self.new_symbol(name, symbol_type, None, False, low, high)
        if not ignoring.fresh_unbacked:
            self.pending_fresh_unbacked_symbols.append(s)
        self.var_to_stack[s] = self.var_to_range_sloc[s]
        self.created_unbacked += 1
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
