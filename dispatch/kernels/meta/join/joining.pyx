"""Shape functions of joining tensors: cat and stack, which models call often.

Called by the structured kernels. Tensors of one dimension and size 0 count for the dtype and the
memory format of a result, and for nothing else.
"""
from cpython.object cimport PyObject
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from dispatch._C.dtypes cimport MF_contiguous
from dispatch._C.errors cimport refused
from dispatch._C.python_api cimport PySequence_Fast_ITEMS_
from dispatch._C.symbolic cimport add, eq_or_false, expect_eq, floordiv, size_object
from dispatch._C.tensor cimport Tensor
from dispatch.kernels.meta cimport rules
from dispatch.kernels.meta.rules cimport MAX_DIMS, is_eager
from dispatch.kernels.meta.rules.sizes cimport sizes_of
from dispatch._C.structured cimport CAST_SAFE, OVERLAP_ANY, OVERLAP_NONE, Spec


cdef inline bint counts_for_nothing(Tensor t) except -1:
    return t.c_ndim == 1 and eq_or_false(t.c_sizes[0], 0)


# ---- cat ---------------------------------------------------------------------------------------

cdef int raise_ndim(list tensors, int i, Tensor like, int64_t dim) except -1:
    """PyTorch's kernel looks at `dim` first, beside the first tensor that counts, unless one has no dimensions."""
    cdef Tensor t
    for t in tensors if is_eager(like) and all([(<Tensor>t).c_ndim for t in tensors]) else ():
        if not counts_for_nothing(t):
            rules.wrap_dim(dim, t.c_ndim, True)
            break
    raise refused(f"Tensors must have same number of dimensions: got {like.c_ndim} and {(<Tensor>tensors[i]).c_ndim}, "
                  f"{sizes_of(tensors[i])} at position {i}")


cdef Tensor find_example(list tensors, int64_t dim):
    """A tensor that has the number of dimensions of all: one has not one dimension, if any does."""
    cdef Tensor t, like = None
    cdef int i
    for i in range(<int>len(tensors)):
        t = <Tensor>tensors[i]
        if t.c_ndim != 1:
            if like is None:
                like = t
            elif t.c_ndim != like.c_ndim:
                raise_ndim(tensors, i, like, dim)
    if like is None:
        return <Tensor>tensors[0]
    for i in range(<int>len(tensors)):
        t = <Tensor>tensors[i]
        if t.c_ndim == 1 and not counts_for_nothing(t):
            raise_ndim(tensors, i, like, dim)
    if like.c_ndim == 0:
        error = RuntimeError if is_eager(like) else IndexError
        raise refused("zero-dimensional tensor (at position 0) cannot be concatenated", error)
    return like


cdef int common_format(list tensors) except -1:
    """The memory format that all suggest, which tells channels_last from the one of volumes; contiguous where they differ."""
    cdef int memory_format = MF_contiguous
    cdef Tensor t
    for item in tensors:
        t = <Tensor>item
        if t.c_ndim < 4:
            return MF_contiguous
        memory_format = rules.suggest_memory_format(t)
        if memory_format == MF_contiguous:
            return MF_contiguous
    return memory_format


cdef int add_sizes(Spec* s, Tensor t, int i, int64_t dim) except -1:
    cdef int d
    for d in range(s.ndim):
        if d != dim and not expect_eq(t.c_sizes[d], s.sizes[d]):
            raise refused(f"Sizes of tensors must match except in dimension {dim}. Expected size {size_object(s.sizes[d])} but got "
                          f"size {size_object(t.c_sizes[d])} for tensor number {i} in the list.")
    s.sizes[dim] = add(s.sizes[dim], t.c_sizes[dim])
    return 0


cdef int join_sizes(Spec* s, list tensors, int64_t dim) except -1:
    """Sizes of the result -> the wrapped dimension. It has one of size 0 if nothing counts."""
    cdef Tensor t, like = find_example(tensors, dim)
    cdef int i
    cdef bint found = False
    for i in range(<int>len(tensors)):
        t = <Tensor>tensors[i]
        if counts_for_nothing(t):
            continue
        if found:
            add_sizes(s, t, i, dim)
            continue
        dim = rules.wrap_dim(dim, like.c_ndim, True)
        s.ndim = t.c_ndim
        memcpy(s.sizes, t.c_sizes, t.c_ndim * sizeof(int64_t))
        found = True
    if not found:
        s.ndim, s.sizes[0] = 1, 0
    return 0


cdef int cat(Spec* s, list tensors, int64_t dim) except -1:
    cdef int memory_format
    if len(tensors) == 0:
        raise refused("expected a non-empty list of Tensors", ValueError)
    join_sizes(s, tensors, dim)
    s.dtype = rules.result_type(PySequence_Fast_ITEMS_(<PyObject*>tensors), <int>len(tensors))
    s.cast = CAST_SAFE | (OVERLAP_NONE if is_eager(<Tensor>tensors[0]) else OVERLAP_ANY)
    memory_format = common_format(tensors)
    if memory_format != MF_contiguous:
        rules.strides_for(s.strides, s.sizes, s.ndim, memory_format)
        s.has_strides = True
    return 0


# ---- stack -------------------------------------------------------------------------------------

cdef bint expect_sizes(Tensor t, Tensor first) except -1:
    cdef int d
    for d in range(t.c_ndim):
        if not expect_eq(t.c_sizes[d], first.c_sizes[d]):
            return False
    return True


cdef int check_equal_sizes(list tensors) except -1:
    cdef Tensor t, first = <Tensor>tensors[0]
    for i, item in enumerate(tensors):
        t = <Tensor>item
        if t.c_ndim != first.c_ndim or not expect_sizes(t, first):
            raise refused("stack expects each tensor to be equal size, but got "
                          f"{sizes_of(first)} at entry 0 and {sizes_of(t)} at entry {i}")
    return 0


cdef int split_dim(Spec* s, int64_t dim, int64_t n) except -1:
    """The view of cat's result that has `n` tensors side by side along `dim`."""
    cdef int64_t sizes[MAX_DIMS]
    cdef int64_t strides[MAX_DIMS]
    cdef int d
    for d in range(s.ndim + 1):
        sizes[d] = s.sizes[d] if d < dim else (n if d == dim else s.sizes[d - 1])
    sizes[dim + 1] = floordiv(s.sizes[dim], n)
    if s.has_strides:
        rules.compute_view_strides(strides, s.sizes, s.strides, s.ndim, sizes, s.ndim + 1)
        memcpy(s.strides, strides, (s.ndim + 1) * sizeof(int64_t))
    s.ndim += 1
    memcpy(s.sizes, sizes, s.ndim * sizeof(int64_t))
    return 0


cdef int stack(Spec* s, list tensors, int64_t dim) except -1:
    """cat along `dim`, seen with one dimension more; along a new last dimension, contiguous."""
    cdef Tensor first
    if len(tensors) == 0:
        raise refused("stack expects a non-empty TensorList")
    first = <Tensor>tensors[0]
    if first.c_ndim >= MAX_DIMS:
        raise refused(f"a result of more than {MAX_DIMS} dimensions")
    dim = rules.wrap_dim(dim, first.c_ndim + 1, True)
    check_equal_sizes(tensors)
    if dim < first.c_ndim:
        cat(s, tensors, dim)
        return split_dim(s, dim, len(tensors))
    s.ndim = first.c_ndim + 1
    memcpy(s.sizes, first.c_sizes, first.c_ndim * sizeof(int64_t))
    s.sizes[first.c_ndim] = len(tensors)
    s.dtype = rules.result_type(PySequence_Fast_ITEMS_(<PyObject*>tensors), <int>len(tensors))
    s.cast = CAST_SAFE | (OVERLAP_NONE if is_eager(first) else OVERLAP_ANY)
    return 0
