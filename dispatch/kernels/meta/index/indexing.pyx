"""Shape functions of reading and writing by index and by mask: metadata only, values unseen.

Called by the structured kernels. Where PyTorch's Meta kernels check less than the eager ones, the
eager checks hold, except for calls that work on fake tensors and are known to be made (a uint8
mask, a wrong dtype of `out`); where the exception types differ, `is_eager` tells the two apart.
"""
from cpython.complex cimport PyComplex_Check
from cpython.object cimport PyObject
from libc.stdint cimport int64_t
from libc.string cimport memcpy

import warnings

import numpy

from dispatch._C.advice import advise, advise_once
from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport (
    ST_NONE, ST_bool, ST_int8, ST_int32,
    ST_int64, ST_uint8, is_complex_code, is_floating_code,
)
from dispatch._C.errors cimport refused
from dispatch._C.geometry cimport TF_CONTIGUOUS
from dispatch._C.python_api cimport PySequence_Fast_ITEMS_
from dispatch._C.size cimport new_size
from dispatch._C.symbolic cimport eq_or_false, expect_eq, expect_le, is_symbolic, ne_or_true, size_object
from dispatch._C.tensor cimport Tensor, get_numpy, new_view
from dispatch.kernels.meta cimport rules
from dispatch.kernels.meta.elementwise cimport pointwise
from dispatch.kernels.meta.rules cimport MAX_DIMS, is_eager
from dispatch.kernels.meta.rules.sizes cimport sizes_of
from dispatch._C.structured cimport (
    CAST_EXACT, CAST_SAFE, COPIED, OVERLAP_ANY, OVERLAP_NONE, OVERLAP_SELF, OVERLAP_TOLD, Spec,
)


cdef inline bint is_index(Tensor t) noexcept:
    return t.c_dtype == ST_int64 or t.c_dtype == ST_int32


cdef inline int copied_into_place(Tensor self) noexcept:
    """`Spec.cast` of operators that PyTorch's Meta kernels copy into `out`, of any safe dtype."""
    return CAST_EXACT if is_eager(self) else CAST_SAFE | OVERLAP_ANY


cdef inline void set_sizes(Spec* s, Tensor like) noexcept:
    s.ndim = like.c_ndim
    memcpy(s.sizes, like.c_sizes, like.c_ndim * sizeof(int64_t))


cdef int raise_dtype(str name, Tensor t, str expected) except -1:
    raise refused(f"Expected dtype {expected} for {name}, "
                  f"got {dtypes.get_dtype(t.c_dtype)!r}")


cdef inline int check_index_dtype(str name, Tensor t) except -1:
    return 0 if is_index(t) else raise_dtype(name, t, "int32/int64")


cdef int raise_same_dtype(Tensor self, str name, Tensor other) except -1:
    a, b = dtypes.get_dtype(self.c_dtype), dtypes.get_dtype(other.c_dtype)
    same = "Expected self.dtype to be equal to src.dtype" if name == "src" else \
        f"expected self and {name} to have the same dtype"
    raise refused(f"{same}, got {a!r} and {b!r}")


# ---- index and index_put -----------------------------------------------------------------------

cdef struct Indexed:
    # dimensions of self that an index or a mask names
    bint used[MAX_DIMS]
    int n_used
    # what all indices broadcast to
    int64_t sizes[MAX_DIMS]
    int ndim
    bint has_mask


cdef inline bint is_mask(Tensor t, bint eager) noexcept:
    """uint8 is a mask; PyTorch's Meta kernel takes int8 for it."""
    return t.c_dtype == ST_bool or t.c_dtype == (ST_uint8 if eager else ST_int8)


cdef int raise_indices(bint eager, str what) except -1:
    """PyTorch raises IndexError, but RuntimeError from its Meta kernel."""
    error = IndexError if eager else RuntimeError
    raise refused(f"{what}", error)


cdef int read_indices(Indexed* x, bint eager, Tensor self, list indices,
                      bint sized) except -1:
    """What is named by `indices`; `sized`: the number of a mask's true elements is needed."""
    cdef int i, k = 0
    cdef Tensor t
    x.ndim = x.n_used = 0
    x.has_mask = False
    for i in range(self.c_ndim):
        x.used[i] = False
    for i in range(<int>len(indices)):
        if indices[i] is None:
            k += 1
            continue
        t = <Tensor>indices[i]
        if is_mask(t, eager):
            k = read_mask(x, eager, self, t, i, k, sized)
            continue
        if not is_index(t):
            raise_indices(eager, "tensors used as indices must be long, int, byte or bool tensors; the one at "
                          f"{i} is of {dtypes.get_dtype(t.c_dtype)!r}")
        if k >= self.c_ndim:
            raise_too_many(eager, self, len(indices))
        x.used[k] = True
        x.n_used += 1
        k += 1
        add_index(x, eager, t.c_sizes, t.c_ndim)
    if k > self.c_ndim:
        raise_too_many(eager, self, len(indices))
    return 0


cdef int raise_too_many(bint eager, Tensor self, Py_ssize_t n) except -1:
    return raise_indices(eager,
                         f"too many indices ({n}) for a tensor of {self.c_ndim} dimensions")


cdef int add_index(Indexed* x, bint eager, const int64_t* sizes, int ndim) except -1:
    if not eager:
        x.ndim = rules.broadcast_into(x.sizes, x.ndim, sizes, ndim)
        return 0
    try:
        x.ndim = rules.broadcast_into(x.sizes, x.ndim, sizes, ndim)
    except RuntimeError as error:
        raise refused(f"shape mismatch: indexing tensors could not be broadcast: {error}", IndexError) from None
    return 0


cdef int read_mask(Indexed* x, bint eager, Tensor self, Tensor mask, int i, int k,
                   bint sized) except -1:
    """A mask names as many dimensions as it has -> the next dimension of self."""
    cdef int j
    cdef int64_t count = 1
    x.has_mask = True
    if mask.c_dtype == ST_uint8:
        warnings.warn("indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead", UserWarning,
                      stacklevel=2)
    if sized:
        count = numpy.count_nonzero(get_numpy(mask)) if is_eager(mask) else raise_dynamic()
    if k + mask.c_ndim > self.c_ndim:
        raise refused(f"too many indices for a tensor of {self.c_ndim} dimensions", IndexError)
    for j in range(mask.c_ndim):
        if not expect_eq(mask.c_sizes[j], self.c_sizes[k + j]):
            raise refused(f"The shape of the mask {sizes_of(mask)} at index {i} does not match the shape of the "
                          f"indexed tensor {sizes_of(self)} at dimension {k + j}", IndexError)
        x.used[k + j] = True
    x.n_used += mask.c_ndim
    if mask.c_ndim:
        add_index(x, eager, &count, 1)
    return k + mask.c_ndim


cdef inline bint is_adjacent(Indexed* x, int ndim) noexcept:
    """Whether the named dimensions stand side by side; then the result has the indices' place."""
    cdef int i, changes = 0
    for i in range(1, ndim):
        changes += x.used[i] and not x.used[i - 1]
    return changes + (ndim > 0 and x.used[0]) <= 1


cdef void append_dims(Spec* s, int64_t* steps, Tensor self, Indexed* x, int start,
                      int stop) noexcept:
    """Dimensions of self that no index names, with their strides."""
    cdef int i
    for i in range(start, stop):
        if not x.used[i]:
            s.sizes[s.ndim], steps[s.ndim] = self.c_sizes[i], self.c_strides[i]
            s.ndim += 1


cdef int indexed_sizes(Spec* s, int64_t* steps, Tensor self, Indexed* x) noexcept:
    """Sizes of the result, and strides of self along them: 0 where the indices are.

    Returns the dimension of the result where those of the indices end.
    """
    cdef int first = 0, stop, i
    if x.n_used == 0:
        first = self.c_ndim
    elif is_adjacent(x, self.c_ndim):
        while not x.used[first]:
            first += 1
    s.ndim = 0
    append_dims(s, steps, self, x, 0, first)
    for i in range(x.ndim):
        s.sizes[s.ndim], steps[s.ndim] = x.sizes[i], 0
        s.ndim += 1
    stop = s.ndim
    append_dims(s, steps, self, x, first, self.c_ndim)
    return stop


cdef void mistake_strides(int64_t* steps, Tensor self, Indexed* x, int ndim) noexcept:
    """For 0-d indices PyTorch's Meta kernel takes the first strides of self, not the right ones.

    (meta_index_Tensor: its named dimensions come first when they are not adjacent.)
    """
    cdef int i, k = 0
    if is_adjacent(x, self.c_ndim):
        memcpy(steps, self.c_strides, ndim * sizeof(int64_t))
        return
    for named in (True, False):
        for i in range(self.c_ndim):
            if x.used[i] == named and k < ndim:
                steps[k] = self.c_strides[i]
                k += 1


cdef int check_bounds(Tensor self, Indexed* x) except -1:
    """No index fits in a dimension of size 0."""
    cdef int i
    if eq_or_false(rules.numel(x.sizes, x.ndim), 0):
        return 0
    for i in range(self.c_ndim):
        if x.used[i] and eq_or_false(self.c_sizes[i], 0):
            raise refused(f"index is out of bounds for dimension with size 0: dimension {i}", IndexError)
    return 0


cdef int index(Spec* s, Tensor self, list indices) except -1:
    cdef Indexed x
    cdef int64_t steps[MAX_DIMS]
    cdef bint eager = is_eager(self)
    cdef int stop
    cdef int64_t numel
    if len(indices) == 0:
        raise_indices(eager, "at least one index must be provided")
    read_indices(&x, eager, self, indices, True)
    if self.c_ndim - x.n_used + x.ndim > MAX_DIMS:
        raise refused(f"a result of more than {MAX_DIMS} dimensions")
    if eager:
        check_bounds(self, &x)
    s.dtype = self.c_dtype
    s.cast = OVERLAP_NONE | OVERLAP_SELF
    stop = indexed_sizes(s, steps, self, &x)
    numel = rules.numel(s.sizes, s.ndim)
    if eager and (has_permuted(indices) or numel == 0):
        s.has_strides = not order_with_indices(s, steps, self, indices, stop - x.ndim, stop)
        return 0
    if eq_or_false(self.c_numel, 0) or eq_or_false(numel, 0):
        return 0
    if x.ndim == 0 and not eager:
        mistake_strides(steps, self, &x, s.ndim)
    rules.dense_strides(s.strides, s.sizes, steps, s.ndim)
    s.has_strides = True
    return 0


cdef inline bint has_place(object item):
    return item is not None and not is_mask(<Tensor>item, True)


cdef bint has_permuted(list indices):
    """Whether the order of some index's dimensions in memory could be that of the result."""
    for item in indices:
        if has_place(item) and not (<Tensor>item).c_flags & TF_CONTIGUOUS:
            return True
    return False


cdef int index_strides(int64_t* steps, Spec* s, Tensor t, int start, int stop) except -1:
    """An index's strides along the result: expanded, then seen with sizes of 1 on both sides."""
    cdef int64_t expanded[MAX_DIMS]
    cdef int64_t sizes[MAX_DIMS]
    cdef int i, lead = stop - start - t.c_ndim
    for i in range(lead):
        expanded[i] = 0
    for i in range(t.c_ndim):
        expanded[lead + i] = t.c_strides[i] if eq_or_false(t.c_sizes[i], s.sizes[start + lead + i]) else 0
    for i in range(s.ndim):
        sizes[i] = s.sizes[i] if start <= i < stop else 1
    rules.compute_view_strides(steps, &s.sizes[start], expanded, stop - start, sizes, s.ndim)
    for i in range(s.ndim):
        if not start <= i < stop and ne_or_true(s.sizes[i], 1):
            steps[i] = 0
    return 0


cdef int order_with_indices(Spec* s, int64_t* steps, Tensor self, list indices, int start,
                            int stop) except -1:
    """TensorIterator's strides: self decides on the order of dimensions, then the indices do.

    `steps` are self's strides along the result; from `start` to `stop` are those of the indices. 1 if contiguous, else 0.
    """
    cdef list items = [new_view(self, s.ndim, s.sizes, steps, self.c_offset)]
    cdef Tensor t
    for item in indices:
        if has_place(item):
            t = <Tensor>item
            index_strides(steps, s, t, start, stop)
            items.append(new_view(t, s.ndim, s.sizes, steps, t.c_offset))
    if stop - start < s.ndim:
        items.append(0)                      # the indices' own shape is another, which rules out short cuts
    return rules.elementwise_strides(s.strides, s.sizes, s.ndim, PySequence_Fast_ITEMS_(<PyObject*>items),
                                     <int>len(items), ST_NONE)


cdef int index_put(Spec* s, Tensor self, list indices, Tensor values, bint accumulate) except -1:
    """Values must broadcast to what the indices name, which a mask leaves open. PyTorch's Meta kernel checks nothing."""
    cdef Indexed x
    cdef int64_t steps[MAX_DIMS]
    cdef bint differs
    if is_eager(self):
        read_indices(&x, True, self, indices, False)
        differs = self.c_dtype != values.c_dtype and not (x.has_mask and eq_or_false(values.c_numel, 1) and not accumulate)
        if differs and x.has_mask:                       # (one value for a mask: PyTorch runs masked_fill)
            read_indices(&x, True, self, indices, True)
        if differs or not x.has_mask:
            indexed_sizes(s, steps, self, &x)
            check_values(s, values)
        if differs:
            raise_same_dtype(self, "values", values)
        s.cast = OVERLAP_TOLD | (OVERLAP_SELF if x.has_mask and values.c_numel == 1 and not accumulate else OVERLAP_NONE)
    set_sizes(s, self)
    s.dtype = self.c_dtype
    rules.empty_like_strides(s.strides, self)
    s.has_strides = True
    return 0


cdef int check_values(Spec* s, Tensor values) except -1:
    cdef int i, lead = values.c_ndim - s.ndim
    for i in range(values.c_ndim):
        if i < lead or not eq_or_false(values.c_sizes[i], 1) and not expect_eq(values.c_sizes[i], s.sizes[i - lead]):
            raise refused(f"shape mismatch: value tensor of shape {sizes_of(values)} cannot be "
                          f"broadcast to indexing result of shape {list(new_size(s.ndim, s.sizes))}")
    return 0


# ---- along one dimension -----------------------------------------------------------------------

cdef int index_select(Spec* s, Tensor self, int64_t dim, Tensor index) except -1:
    """PyTorch's Meta kernel looks at no more than how many indices there are."""
    dim = s.handed[0] = rules.wrap_dim(dim, self.c_ndim, True)
    if is_eager(self):
        if index.c_ndim > 1:
            raise refused("expected index to have 0 or 1 dimensions, "
                          f"got {sizes_of(index)}", IndexError)
        if self.c_ndim == 0 and index.c_numel != 1:
            raise refused("expected index to have 1 element for a tensor of "
                          f"0 dimensions, got {index.c_numel}")
        check_index_dtype("index", index)
    set_sizes(s, self)
    if self.c_ndim:
        s.sizes[dim] = index.c_numel
    s.dtype = self.c_dtype
    s.cast = OVERLAP_NONE | OVERLAP_SELF if is_eager(self) else CAST_SAFE | OVERLAP_ANY
    return 0


cdef inline int64_t size_at(Tensor t, int d) noexcept:
    return t.c_sizes[d] if t.c_ndim else 1


cdef int check_smaller(Tensor index, str name, Tensor other, int64_t but) except -1:
    """RuntimeError unless index is no larger than `other`, in all dimensions or all but one."""
    cdef int d
    if max(index.c_ndim, 1) != max(other.c_ndim, 1):
        raise refused(f"Index tensor must have the same number of dimensions as {name} tensor, "
                      f"got shapes {sizes_of(index)} and {sizes_of(other)}")
    for d in range(max(index.c_ndim, 1)):
        if d != but and not expect_le(size_at(index, d), size_at(other, d)):
            raise refused(f"Size does not match at dimension {d} expected index {sizes_of(index)} to be no larger than "
                          f"{name} {sizes_of(other)}" + (f" apart from dimension {but}" if but >= 0 else ""))
    return 0


cdef int gather(Spec* s, Tensor self, int64_t dim, Tensor index, bint sparse_grad) except -1:
    dim = s.handed[0] = rules.wrap_dim(dim, self.c_ndim, True)
    if ne_or_true(index.c_numel, 0):
        check_index_dtype("index", index)
        check_smaller(index, "input", self, dim)
    set_sizes(s, index)
    s.dtype = self.c_dtype
    s.cast = OVERLAP_NONE
    return 0


cdef int fill_scatter(Spec* s, Tensor self, int64_t dim, Tensor index,
                      Tensor src) except -1:
    dim = s.handed[0] = rules.wrap_dim(dim, self.c_ndim, True)
    if ne_or_true(index.c_numel, 0):
        check_index_dtype("index", index)
    if src is not None and src.c_dtype != self.c_dtype:
        raise_same_dtype(self, "src", src)
    if ne_or_true(index.c_numel, 0):
        check_smaller(index, "self", self, dim)
        if src is not None:
            check_smaller(index, "src", src, -1)
    set_sizes(s, self)
    s.dtype = self.c_dtype
    s.cast = OVERLAP_SELF
    return 0


cdef int scatter(Spec* s, Tensor self, int64_t dim, Tensor index, Tensor src) except -1:
    return fill_scatter(s, self, dim, index, src)


cdef int scatter_value(Spec* s, Tensor self, int64_t dim, Tensor index, object value) except -1:
    fill_scatter(s, self, dim, index, None)
    if is_eager(self) and ne_or_true(index.c_numel, 0):
        check_number(self, value)
    return 0


cdef tuple REDUCTIONS = ("sum", "prod", "mean", "amax", "amin")


cdef int scatter_reduce(Spec* s, Tensor self, int64_t dim, Tensor index, Tensor src, object reduce,
                        bint include_self) except -1:
    fill_scatter(s, self, dim, index, src)
    if reduce not in REDUCTIONS:
        raise refused(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    if not is_eager(self):
        s.cast = CAST_SAFE | OVERLAP_ANY
    return 0


cdef int check_combined(object reduce) except -1:
    if reduce != "add" and reduce != "multiply":
        raise refused(f"reduce argument must be either add or multiply, got {reduce}")
    return 0


cdef int scatter_combine(Spec* s, Tensor self, int64_t dim, Tensor index, Tensor src, object reduce) except -1:
    advise_once("reduce of scatter with a tensor", "deprecated, call scatter_reduce")
    fill_scatter(s, self, dim, index, src)
    return check_combined(reduce)


cdef int scatter_combine_value(Spec* s, Tensor self, int64_t dim, Tensor index, object value, object reduce) except -1:
    scatter_value(s, self, dim, index, value)
    return check_combined(reduce)


# ---- adding along a dimension ------------------------------------------------------------------

cdef inline bint surely_differ(int64_t a, int64_t b) noexcept:
    """PyTorch's Meta kernel does not look at sizes, so that expressions are not asked."""
    return a != b and not is_symbolic(a) and not is_symbolic(b)


cdef bint fits_beside(Tensor self, Tensor source, int dim) noexcept:
    """Whether the other dimensions of both are the same."""
    cdef int d
    if self.c_ndim != source.c_ndim:
        return False
    for d in range(self.c_ndim):
        if d != dim and surely_differ(self.c_sizes[d], source.c_sizes[d]):
            return False
    return True


cdef int index_add(Spec* s, Tensor self, int64_t dim, Tensor index, Tensor source, object alpha) except -1:
    """self's sizes; source has those too, but along `dim` the index's length."""
    cdef int d = <int>rules.wrap_dim(dim, self.c_ndim, True)
    cdef bint eager = is_eager(self)
    cdef int64_t count
    if eager and not is_index(index):
        raise_dtype("index", index, "int64")
    if eager and source.c_dtype != self.c_dtype:
        raise_same_dtype(self, "source", source)
    if index.c_ndim > 1:
        raise refused(f"Index is supposed to be a vector, but got {sizes_of(index)}", IndexError)
    if not eager and isinstance(alpha, float) and not is_floating_code(self.c_dtype) and not is_complex_code(self.c_dtype):
        raise refused(f"expected an integer alpha for {dtypes.get_dtype(self.c_dtype)!r}, got {alpha}")
    if d < max(source.c_ndim, 1):
        count = source.c_sizes[d] if source.c_ndim else 1
    if d >= max(source.c_ndim, 1) or surely_differ(index.c_numel, count):
        raise refused(f"Number of indices ({size_object(index.c_numel)}) should be equal to source.size(dim), "
                      f"dim {d} of {sizes_of(source)}")
    if eager and not fits_beside(self, source, d):
        raise refused("source tensor shape must match self tensor shape, excluding the specified dimension. "
                      f"Got self.shape = {sizes_of(self)} source.shape = {sizes_of(source)}")
    set_sizes(s, self)
    s.dtype = self.c_dtype
    s.cast = CAST_EXACT | OVERLAP_SELF | COPIED
    return 0


# ---- masks -------------------------------------------------------------------------------------

cdef int raise_number(Tensor self, object value) except -1:
    raise refused("value cannot be converted to type "
                  f"{dtypes.get_dtype(self.c_dtype)!r} without overflow: {value}")


cdef int check_number(Tensor self, object value) except -1:
    """A complex number does not fit a real tensor; with data, its imaginary part may be 0."""
    if PyComplex_Check(value) and not is_complex_code(self.c_dtype):
        if not is_eager(self) or (value.imag and self.c_dtype != ST_bool):
            raise_number(self, value)
    return 0


cdef int fill_masked(Spec* s, Tensor self, Tensor mask) except -1:
    """The result is contiguous, of the sizes that self and mask broadcast to."""
    s.ndim = rules.broadcast_into(s.sizes, 0, self.c_sizes, self.c_ndim)
    s.ndim = rules.broadcast_into(s.sizes, s.ndim, mask.c_sizes, mask.c_ndim)
    s.dtype = self.c_dtype
    s.cast = copied_into_place(self) | OVERLAP_TOLD | OVERLAP_SELF
    return 0


cdef int fill_chosen(Spec* s, Tensor self, Tensor mask) except -1:
    """The reference makes the result of `where` contiguous, which keeps odd strides of dimensions of size 1."""
    fill_masked(s, self, mask)
    pointwise.choose_number(s, self, mask)
    s.has_strides = s.has_strides and rules.is_contiguous(s.sizes, s.strides, s.ndim)
    return 0


cdef int check_mask(Tensor mask) except -1:
    if mask.c_dtype != ST_bool:
        raise refused(f"masked_fill only supports boolean masks, but got mask with dtype {dtypes.get_dtype(mask.c_dtype)!r}")
    return 0


cdef int masked_fill(Spec* s, Tensor self, Tensor mask, Tensor value) except -1:
    if value.c_ndim:
        raise refused("masked_fill_ only supports a 0-dimensional value tensor, "
                      f"but got tensor with {value.c_ndim} dimension(s)")
    check_mask(mask)
    if is_complex_code(value.c_dtype) and not is_complex_code(self.c_dtype) and not is_eager(self):
        raise_number(self, "of a complex tensor")
    return fill_chosen(s, self, mask)


cdef int masked_fill_scalar(Spec* s, Tensor self, Tensor mask, object value) except -1:
    check_mask(mask)
    check_number(self, value)
    return fill_chosen(s, self, mask)


cdef int masked_scatter(Spec* s, Tensor self, Tensor mask, Tensor source) except -1:
    """A mask of uint8 is accepted where there is no data."""
    if mask.c_dtype == ST_uint8 and is_eager(self):
        advise("masked_scatter: a mask of uint8 is deprecated, make it bool")
    if mask.c_dtype != ST_bool and (mask.c_dtype != ST_uint8 or is_eager(self)):
        raise refused(f"masked_scatter_ only supports boolean masks, but got mask with dtype {dtypes.get_dtype(mask.c_dtype)!r}")
    if self.c_dtype != source.c_dtype:
        raise_same_dtype(self, "source", source)
    fill_masked(s, self, mask)
    if is_eager(self):
        s.cast = OVERLAP_SELF
    return 0


cdef object raise_dynamic():
    raise refused("the output's sizes depend on values, "
                  "which tensors on the meta device have not", NotImplementedError)


cdef object nonzero(Tensor self):
    return raise_dynamic()


cdef object nonzero_out(Tensor self, Tensor out):
    return raise_dynamic()
