"""matmul in terms of dot, mv, mm and bmm, as at::matmul decomposes it.

Called for the composite operator; calls operators through the dispatcher. A batch of matrices times
one matrix or vector folds the batch into rows and is one mm or mv where that costs no copy
(`should_fold`); everything else is one bmm over the broadcast batch.
"""
from cpython.object cimport PyObject
from libc.stdint cimport int64_t

from dispatch._C.dispatcher cimport call_boxed, need_entry
from dispatch._C.errors cimport refused
from dispatch._C.keys cimport KS_Python
from dispatch._C.size cimport new_size
from dispatch._C.symbolic cimport eq_or_false, mul, ne_or_true, size_object
from dispatch._C.tensor cimport TF_FAKE, TF_HAS_TORCH_DISPATCH, Tensor, needs_grad
from dispatch._C.tls cimport n_dispatch_modes, tls
from dispatch._C.references cimport take
from dispatch.kernels.composite.callee cimport Callee, callee, numbers
from dispatch.kernels.meta cimport rules

from dispatch.kernels.meta.outputs import resize_out

cdef Callee BMM = callee("bmm")
cdef Callee BMM_OUT = callee("bmm", "out")
cdef Callee CONTIGUOUS = callee("contiguous")
cdef Callee COPY = callee("copy_")
cdef Callee DOT = callee("dot")
cdef Callee DOT_OUT = callee("dot", "out")
cdef Callee EXPAND = callee("expand")
cdef Callee MM = callee("mm")
cdef Callee MM_OUT = callee("mm", "out")
cdef Callee MV = callee("mv")
cdef Callee MV_OUT = callee("mv", "out")
cdef Callee RESHAPE = callee("reshape")
cdef Callee SQUEEZE = callee("squeeze", "dim")
cdef Callee SQUEEZE_ = callee("squeeze_", "dim")
cdef Callee T = callee("t")
cdef Callee TRANSPOSE = callee("transpose", "int")
cdef Callee UNSAFE_VIEW = callee("_unsafe_view")
cdef Callee UNSQUEEZE = callee("unsqueeze")
cdef Callee VIEW = callee("view")


# ---- calls -------------------------------------------------------------------------------------

cdef object call_array(Callee c, PyObject** args, int n):
    cdef int i
    if c.entry is None or not c.entry.defined:
        c.entry = need_entry("aten::" + c.name, c.overload)
    for i in range(n, c.entry.sig.n_args):
        args[i] = c.entry.sig.args[i].dflt
    return take(call_boxed(c.entry, args))


cdef object call_one(Callee c, object a):
    cdef PyObject* args[8]
    args[0] = <PyObject*>a
    return call_array(c, args, 1)


cdef object call_two(Callee c, object a, object b):
    cdef PyObject* args[8]
    args[0], args[1] = <PyObject*>a, <PyObject*>b
    return call_array(c, args, 2)


cdef bint is_subclass_like(Tensor t) noexcept:
    return t.c_flags & (TF_FAKE | TF_HAS_TORCH_DISPATCH) or t.c_keys & KS_Python == KS_Python \
        or n_dispatch_modes(tls()) > 0


def is_plain(Tensor t not None):
    """Whether nobody sees which operators an operator on `t` is made of: no subclass, no mode, no gradient."""
    return not (needs_grad(t) or is_subclass_like(t))


# ---- folding -----------------------------------------------------------------------------------

cdef bint is_foldable(Tensor t) except -1:
    """Whether all dimensions but the last are one in memory."""
    cdef int i
    if eq_or_false(t.c_numel, 0):
        return True
    for i in range(t.c_ndim - 2):
        if ne_or_true(t.c_strides[i], mul(t.c_strides[i + 1], t.c_sizes[i + 1])):
            return False
    return True


cdef inline Tensor transposed(Tensor t):
    return TRANSPOSE.call((t, -2, -1))


cdef bint should_fold(Tensor a, Tensor b, bint has_out) except -1:
    cdef bint first_larger = a.c_ndim >= b.c_ndim
    cdef Tensor smaller = b if first_larger else a
    # A call that a mode sees, though only strides are looked at: PyTorch makes it too.
    cdef Tensor larger = a if first_larger else transposed(b)
    if larger.c_ndim < 3 or smaller.c_ndim > 2:
        return False
    if needs_grad(smaller) and not has_out:
        return True              # else the gradient of the smaller one would be expanded
    if a.c_ndim == 2:
        return False             # the result would have to be transposed and copied
    return is_foldable(larger)


cdef list folded_shape(Tensor larger, Tensor smaller):
    """The result's sizes; `larger` is on the left."""
    cdef list shape = numbers(larger.c_sizes, larger.c_ndim - 1)
    if smaller.c_ndim == 2:
        shape.append(size_object(smaller.c_sizes[1]))
    return shape


cdef Tensor fold_rows(Tensor t):
    cdef int64_t rows = 1
    cdef int i
    for i in range(t.c_ndim - 1):
        rows = mul(rows, t.c_sizes[i])
    return call_two(RESHAPE, t, [size_object(rows), size_object(t.c_sizes[t.c_ndim - 1])])


cdef object matmul_folded(Tensor a, Tensor b):
    cdef bint transpose = b.c_ndim > a.c_ndim
    cdef Tensor larger = transposed(b) if transpose else a
    cdef Tensor smaller = a if transpose else b, rows
    cdef list shape
    if transpose and a.c_ndim == 2:
        smaller = call_one(T, a)
    shape = folded_shape(larger, smaller)
    rows = fold_rows(larger)
    if smaller.c_ndim == 1:
        return call_two(UNSAFE_VIEW, call_two(MV, rows, smaller), shape)
    result = call_two(UNSAFE_VIEW, call_two(MM, rows, smaller), shape)
    return call_one(CONTIGUOUS, transposed(result)) if transpose else result


cdef object matmul_folded_out(Tensor a, Tensor b, Tensor out):
    cdef bint transpose = b.c_ndim > a.c_ndim
    cdef Tensor larger = transposed(b) if transpose else a
    cdef Tensor smaller = a if transpose else b, rows, flat
    rows = fold_rows(larger)
    resize_out(out, folded_shape(larger, smaller))
    if smaller.c_ndim == 2:
        flat = call_two(RESHAPE, out, [size_object(rows.c_sizes[0]), size_object(smaller.c_sizes[1])])
        MM_OUT.call((rows, smaller, flat))
    else:
        flat = call_two(RESHAPE, out, numbers(rows.c_sizes, 1))
        MV_OUT.call((rows, smaller, flat))
    return copy_back(out, flat, False)


cdef object copy_back(Tensor out, Tensor flat, bint viewed):
    """The result into `out`, unless `flat` is a view of it already."""
    if flat.c_storage is not out.c_storage:
        if viewed:
            flat = call_two(VIEW, flat, list(new_size(out.c_ndim, out.c_sizes)))
        call_two(COPY, out, flat)
    return out


# ---- batches -----------------------------------------------------------------------------------

cdef struct Batch:
    int ndim                     # of the broadcast batch
    int64_t sizes[64]
    int64_t count
    int64_t n, m1, m2, p         # [n, m1] times [m2, p]


cdef int read_batch(Batch* g, Tensor a, Tensor b) except -1:
    cdef int a_batch = a.c_ndim - 2 if a.c_ndim > 2 else 0
    cdef int b_batch = b.c_ndim - 2 if b.c_ndim > 2 else 0
    g.n = a.c_sizes[a.c_ndim - 2] if a.c_ndim > 1 else 1
    g.m1 = a.c_sizes[a.c_ndim - 1]
    g.m2 = b.c_sizes[b.c_ndim - 2] if b.c_ndim > 1 else b.c_sizes[0]
    g.p = b.c_sizes[b.c_ndim - 1] if b.c_ndim > 1 else 1
    g.ndim = rules.broadcast_into(g.sizes, 0, a.c_sizes, a_batch)
    g.ndim = rules.broadcast_into(g.sizes, g.ndim, b.c_sizes, b_batch)
    g.count = rules.numel(g.sizes, g.ndim)
    return 0


cdef inline list batch_sizes(Batch* g):
    return numbers(g.sizes, g.ndim)


cdef Tensor expand_batch(Batch* g, Tensor t, list matrix):
    """[batch..., matrix...] of `t`, with the batch as one dimension."""
    return call_two(RESHAPE, call_two(EXPAND, t, batch_sizes(g) + matrix), [size_object(g.count)] + matrix)


cdef list batched_shape(Batch* g, Tensor a, Tensor b):
    cdef list shape = batch_sizes(g)
    if a.c_ndim > 1:
        shape.append(size_object(g.n))
    if b.c_ndim > 1:
        shape.append(size_object(g.p))
    return shape


cdef Tensor expand_right(Batch* g, Tensor b):
    if b.c_ndim > 1:
        return expand_batch(g, b, [size_object(g.m2), size_object(g.p)])
    return call_two(UNSQUEEZE, expand_batch(g, b, [size_object(g.m2)]), 2)


cdef object matmul_batched(Tensor a, Tensor b):
    cdef Batch g
    cdef Tensor left, right
    read_batch(&g, a, b)
    left = expand_batch(&g, a, [size_object(g.n), size_object(g.m1)])
    right = expand_right(&g, b)
    result = call_two(BMM, left, right)
    if b.c_ndim == 1:
        result = call_two(SQUEEZE, result, -1)
    return call_two(UNSAFE_VIEW, result, batched_shape(&g, a, b))


cdef object matmul_batched_out(Tensor a, Tensor b, Tensor out):
    cdef Batch g
    cdef Tensor left, right, flat
    read_batch(&g, a, b)
    left = expand_batch(&g, a, [size_object(g.n), size_object(g.m1)])
    right = expand_right(&g, b)
    resize_out(out, batched_shape(&g, a, b))
    flat = call_two(RESHAPE, out, [size_object(g.count), size_object(g.n), size_object(g.p)])
    BMM_OUT.call((left, right, flat))
    return copy_back(out, call_two(SQUEEZE, flat, -1) if b.c_ndim == 1 else flat, True)


cdef int broadcasts_lone_batch(Tensor a, Tensor b) except -1:
    """1 or 2: that operand, a batch of one, is better folded than expanded; 0: neither."""
    if a.c_ndim != 3 or b.c_ndim != 3 or a.c_sizes[0] == b.c_sizes[0]:
        return 0
    if eq_or_false(a.c_sizes[0], 1) and (needs_grad(a) or is_subclass_like(a)):
        return 1
    if eq_or_false(b.c_sizes[0], 1) and (needs_grad(b) or is_subclass_like(b)):
        return 2
    return 0


# ---- the operator ------------------------------------------------------------------------------

cdef int check_dims(Tensor a, Tensor b) except -1:
    if a.c_ndim == 0 or b.c_ndim == 0:
        raise refused("both arguments to matmul need to be at least 1D, but they are "
                      f"{a.c_ndim}D and {b.c_ndim}D")
    return 0


cdef object matmul(Tensor self, Tensor other):
    cdef int lone
    check_dims(self, other)
    if self.c_ndim <= 2 and other.c_ndim <= 2:
        if other.c_ndim == 1:
            return call_two(DOT if self.c_ndim == 1 else MV, self, other)
        if self.c_ndim == 2:
            return call_two(MM, self, other)
        return call_two(SQUEEZE_, call_two(MM, call_two(UNSQUEEZE, self, 0), other), 0)
    if should_fold(self, other, False):
        return matmul_folded(self, other)
    lone = broadcasts_lone_batch(self, other)
    if lone == 1:
        return matmul(call_two(SQUEEZE, self, 0), other)
    if lone == 2:
        return matmul(self, call_two(SQUEEZE, other, 0))
    return matmul_batched(self, other)


cdef object matmul_small_out(Tensor a, Tensor b, Tensor out):
    if b.c_ndim == 1:
        return (DOT_OUT if a.c_ndim == 1 else MV_OUT).call((a, b, out))
    if a.c_ndim == 2:
        return MM_OUT.call((a, b, out))
    MM_OUT.call((call_two(UNSQUEEZE, a, 0), b, out))
    return call_two(SQUEEZE_, out, 0)


cdef int check_no_grad(Tensor a, Tensor b, Tensor out) except -1:
    if (needs_grad(a) or needs_grad(b) or needs_grad(out)) and tls().grad_mode:
        raise refused("an argument requires grad, and a result in out "
                      "cannot be differentiated")
    return 0


def matmul_out(Tensor self not None, Tensor other not None, *, Tensor out not None):
    """matmul into `out`, which is resized."""
    check_dims(self, other)
    check_no_grad(self, other, out)
    if self.c_ndim <= 2 and other.c_ndim <= 2:
        return matmul_small_out(self, other, out)
    if should_fold(self, other, True):
        return matmul_folded_out(self, other, out)
    lone = broadcasts_lone_batch(self, other)
    if lone == 1:
        return matmul_out(call_two(SQUEEZE, self, 0), other, out=out)
    if lone == 2:
        return matmul_out(self, call_two(SQUEEZE, other, 0), out=out)
    return matmul_batched_out(self, other, out)
