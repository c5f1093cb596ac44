"""Views: new tensors over the storage of another, made of metadata alone, valid on every device.

Called by the dispatcher below ADInplaceOrView, which relates a view to its base and shares their
version. A view is always a new object, even of the same sizes.
Each computes the new geometry in full before it makes or changes a tensor.
"""
from cpython.object cimport PyObject
from libc.stdint cimport INT64_MAX, int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport (
    DEV_META, MF_NONE, MF_contiguous, MF_preserve, ST_NONE, ST_complex32, ST_complex64,
    ST_complex128, ST_float16, ST_float32, ST_float64, is_complex_code,
)
from dispatch._C.errors cimport refused
from dispatch._C.errors import scalar_type
from dispatch._C.fallbacks cimport cut_off
from dispatch._C.keys cimport KS_Conjugate, KS_Negative
from dispatch._C.geometry cimport TF_CONTIGUOUS, check_steps, check_within, reach_of
from dispatch._C.python_api cimport PyLong_AsLongLong_, PyLong_CheckExact_
from dispatch._C.storage cimport has_bytes
from dispatch._C.symbolic cimport (
    SIZE_ERROR, SYMBOLIC_LIMIT, add, any_symbolic, concrete, eq_or_false, expect_eq, expect_ge, expect_gt, expect_le,
    first_symbolic, floordiv, gt_or_false, gt_or_true, hint_of, is_symbolic, larger, lt_or_false, lt_or_true, mod, mul,
    ne_or_true, neg, size_from, size_object, smaller, sub, symbolic_calls,
)
from dispatch._C.tensor cimport (
    Tensor, is_contiguous_as, needs_grad, new_view, new_view_dtype, place_tensor,
    set_geometry,
)
from dispatch._C.tls cimport tls
from dispatch._C.values cimport IntArray
from dispatch.kernels.composite.callee cimport ints, numbers, sizes_of
from dispatch.kernels.meta cimport rules
from dispatch.kernels.meta.rules.sizes cimport same_sizes


cdef struct Geometry:
    int ndim
    int64_t sizes[64]
    int64_t strides[64]
    int64_t offset


# ---- helpers -----------------------------------------------------------------------------------

cdef inline void load(Geometry* g, Tensor self) noexcept:
    g.ndim = self.c_ndim
    memcpy(g.sizes, self.c_sizes, self.c_ndim * sizeof(int64_t))
    memcpy(g.strides, self.c_strides, self.c_ndim * sizeof(int64_t))
    g.offset = self.c_offset


cdef inline Tensor made(Tensor self, Geometry* g):
    return new_view(self, g.ndim, g.sizes, g.strides, g.offset)


cdef inline Tensor changed(Tensor self, Geometry* g):
    """The in-place variant: `self` takes the geometry."""
    set_geometry(self, g.ndim, g.sizes, g.strides, g.offset)
    return self


cdef int raise_dim(int64_t dim, int extent) except -1:
    if extent == 0:
        raise refused(f"Dimension specified as {dim} but tensor has no dimensions", IndexError)
    raise refused(f"Dimension out of range (expected to be in range of [{-extent}, {extent - 1}], but got {dim})", IndexError)


cdef bint exactly_contiguous(Tensor self) noexcept:
    """Contiguous, with the usual strides in dimensions of size 1 too; no for expressions."""
    cdef int64_t step = 1
    cdef int i
    for i in range(self.c_ndim - 1, -1, -1):
        if self.c_strides[i] != step:
            return False
        if self.c_sizes[i] > 1:
            step *= self.c_sizes[i]
    return True


# ---- one view ----------------------------------------------------------------------------------

cdef object alias(Tensor self):
    return new_view(self, self.c_ndim, self.c_sizes, self.c_strides, self.c_offset)


cdef object detach(Tensor self):
    return alias(self)


cdef object _conj(Tensor self):
    cdef Tensor out
    if not is_complex_code(self.c_dtype):
        raise refused(f"expected a complex tensor, got {self.dtype}")
    out = alias(self)
    out.c_keys ^= KS_Conjugate
    return out


cdef object _neg_view(Tensor self):
    cdef Tensor out = alias(self)
    out.c_keys ^= KS_Negative
    return out


cdef int raise_view(Tensor self, IntArray size, error) except -1:
    raise refused(
        f"Cannot view a tensor with shape {sizes_of(self)} and strides {numbers(self.c_strides, self.c_ndim)} as {ints(size)} "
        "without a copy: view size is not compatible with input tensor's size and stride. Use .reshape(...)", error)


cdef inline bint is_plain_size(IntArray size, int64_t numel) noexcept:
    """Positive sizes, few enough elements that their product is exact, of `numel` elements."""
    cdef int64_t n = 1
    cdef int i
    if numel >= <int64_t>1 << 31:
        return False
    for i in range(size.len):
        if size.data[i] <= 0 or size.data[i] > numel or n > numel:
            return False
        n *= size.data[i]
    return n == numel


cdef bint no_hint(int n, const int64_t* sizes) except -1:
    """Whether data decide one of them."""
    cdef int i
    for i in range(n):
        if is_symbolic(sizes[i]) and hint_of(sizes[i], -1) == -1:
            return True
    return False


cdef Tensor viewed(Tensor self, IntArray size):
    cdef int64_t sizes[64]
    cdef int64_t strides[64]
    cdef int n = <int>size.len
    if self.c_flags & TF_CONTIGUOUS and is_plain_size(size, self.c_numel) and \
            exactly_contiguous(self):
        return new_view(self, n, size.data, NULL, self.c_offset)
    rules.infer_size(sizes, size.data, n, self.c_numel)
    if self.c_numel == 0:
        check_steps(n, sizes)
    if tls().meta_in_include:
        if self.c_flags & TF_CONTIGUOUS and (no_hint(self.c_ndim, self.c_sizes) or no_hint(n, sizes)):
            rules.contiguous_strides(strides, sizes, n)      # of sizes that data decide nothing else is known
        elif not rules.compute_view_strides_meta(strides, self.c_sizes, self.c_strides, self.c_ndim, sizes, n):
            raise_view(self, size, ValueError)        # the type that PyTorch's fake tensors raise here
    elif not rules.compute_view_strides(strides, self.c_sizes, self.c_strides, self.c_ndim, sizes, n):
        raise_view(self, size, RuntimeError)
    return new_view(self, n, sizes, strides, self.c_offset)


cdef object view(Tensor self, IntArray size):
    return viewed(self, size)


cdef object _unsafe_view(Tensor self, IntArray size):
    return viewed(self, size)


cdef int check_strided(Tensor self, IntArray size, IntArray stride,
                       int64_t offset, bint bounded) except -1:
    """at::as_strided's checks; a Meta tensor's storage bounds nothing there, and nothing bounds expressions."""
    cdef int itemsize = dtypes.itemsize_table()[self.c_dtype]
    if size.len != stride.len:
        raise refused(f"mismatch in length of strides and shape: {ints(stride)} and {ints(size)}")
    if is_symbolic(offset) or first_symbolic(<int>size.len, size.data) or first_symbolic(<int>stride.len, stride.data):
        return 0
    if bounded:
        check_within(self.c_storage.c_nbytes, itemsize, <int>size.len, size.data, stride.data, offset)
    else:
        reach_of(itemsize, <int>size.len, size.data, stride.data, offset)
    return 0


cdef object _reshape_alias(Tensor self, IntArray size, IntArray stride):
    """A fake tensor's strides are those of a view, whatever is given (PyTorch's decomposition)."""
    if self.c_devtype == DEV_META or tls().meta_in_include:
        return viewed(self, size)
    check_strided(self, size, stride, self.c_offset, True)
    return new_view(self, <int>size.len, size.data, stride.data, self.c_offset)


cdef IntArray read_list(list values, int64_t* buffer) except *:
    """A list of ints in `buffer`, which has room for 128."""
    cdef IntArray r
    cdef Py_ssize_t i
    r.data = buffer
    r.len = len(values)
    if r.len > 128:
        raise refused(f"a tensor has at most 128 dimensions, got {r.len}")
    for i in range(r.len):
        buffer[i] = size_from(values[i])
    return r


def as_strided(Tensor self not None, list size, list stride, storage_offset=None):
    """A view of any geometry within the storage: the one operator that takes more than 64 dimensions."""
    cdef int64_t sizes[128]
    cdef int64_t strides[128]
    cdef int64_t offset = self.c_offset if storage_offset is None else size_from(storage_offset)
    cdef IntArray s = read_list(size, sizes), t = read_list(stride, strides)
    check_strided(self, s, t, offset, self.c_storage.devtype != DEV_META)
    return new_view(self, <int>s.len, s.data, t.data, offset)


cdef int raise_expand(Tensor self, IntArray size, int dim) except -1:
    cdef int64_t old = dim - (size.len - self.c_ndim)
    if old < 0:
        raise refused(f"size {size_object(size.data[dim])} at new leading dimension {dim} of "
                      f"{ints(size)}: there is nothing to keep")
    raise refused(f"The expanded size of the tensor ({size_object(size.data[dim])}) must match the existing size "
                  f"({size_object(self.c_sizes[old])}) at non-singleton dimension {dim}.  "
                  f"Target sizes: {ints(size)}.  Tensor sizes: {sizes_of(self)}")


cdef object expand(Tensor self, IntArray size, bint implicit):
    """inferExpandGeometry: a new dimension has stride 0, or, unless all are new, what a contiguous one would have."""
    cdef Geometry g
    cdef int i, old, n = <int>size.len
    cdef int64_t have, want
    if n < self.c_ndim:
        raise refused(f"the number of sizes provided ({n}) must be greater or equal to the number of dimensions in the tensor "
                      f"({self.c_ndim}): {ints(size)} for {sizes_of(self)}")
    for i in range(n - 1, -1, -1):
        old = i - (n - self.c_ndim)
        have = self.c_sizes[old] if old >= 0 else 1
        if old >= 0:
            g.strides[i] = self.c_strides[old]
        else:
            g.strides[i] = mul(g.sizes[i + 1], g.strides[i + 1]) if i + 1 < n else 1
        want = size.data[i]
        if old >= 0 and eq_or_false(want, -1):
            want = have
        if want != have and not (expect_ge(want, 0) and (eq_or_false(have, 1) or expect_eq(want, have))):
            raise_expand(self, size, i)
        if ne_or_true(want, have) or self.c_ndim == 0:
            g.strides[i] = 0
        g.sizes[i] = want
    return new_view(self, n, g.sizes, g.strides, self.c_offset)


cdef object permute(Tensor self, IntArray dims):
    cdef int64_t sizes[64]
    cdef int64_t strides[64]
    cdef unsigned long long seen = 0, bit
    cdef int i, d
    if dims.len != self.c_ndim:
        raise refused("number of dimensions in the tensor input does not match the length of the desired ordering of dimensions: "
                      f"{self.c_ndim} and {ints(dims)}")
    for i in range(self.c_ndim):
        d = wrap(dims.data[i], self.c_ndim, True)
        bit = <unsigned long long>1 << d
        if seen & bit:
            raise refused(f"permute(): duplicate dims are not allowed, got {ints(dims)}")
        seen |= bit
        sizes[i] = self.c_sizes[d]
        strides[i] = self.c_strides[d]
    return new_view(self, self.c_ndim, sizes, strides, self.c_offset)


cdef int swap(Geometry* g, Tensor self, int64_t dim0, int64_t dim1) except -1:
    cdef int a = wrap(dim0, self.c_ndim, True), b = wrap(dim1, self.c_ndim, True)
    load(g, self)
    if a != b:
        g.sizes[a] = self.c_sizes[b]
        g.sizes[b] = self.c_sizes[a]
        g.strides[a] = self.c_strides[b]
        g.strides[b] = self.c_strides[a]
    return 0


cdef object transpose(Tensor self, int64_t dim0, int64_t dim1):
    cdef Geometry g
    swap(&g, self, dim0, dim1)
    return made(self, &g)


cdef int swap_last(Geometry* g, Tensor self) except -1:
    if self.c_ndim > 2:
        raise refused(f"t() expects a tensor with <= 2 dimensions, but self is {self.c_ndim}D")
    return swap(g, self, 0, 0 if self.c_ndim < 2 else 1)


cdef object t(Tensor self):
    cdef Geometry g
    swap_last(&g, self)
    return made(self, &g)


cdef int drop_ones(Geometry* g, Tensor self, unsigned long long among) except -1:
    """Leave out the dimensions of size 1 that are in the bit set `among`."""
    cdef int i
    g.ndim = 0
    g.offset = self.c_offset
    for i in range(self.c_ndim):
        if not (among >> i) & 1 or not eq_or_false(self.c_sizes[i], 1):
            g.sizes[g.ndim] = self.c_sizes[i]
            g.strides[g.ndim] = self.c_strides[i]
            g.ndim += 1
    return 0


cdef int drop_listed(Geometry* g, Tensor self, IntArray dim) except -1:
    cdef unsigned long long among = 0, bit
    cdef int i, d
    for i in range(dim.len):
        d = wrap(dim.data[i], self.c_ndim, True)
        bit = <unsigned long long>1 << d
        if among & bit:
            raise refused(f"dimension {d} is given more than once in {ints(dim)}")
        among |= bit
    return drop_ones(g, self, among)


cdef object squeeze(Tensor self):
    cdef Geometry g
    drop_ones(&g, self, ~<unsigned long long>0)
    return made(self, &g)


cdef object squeeze_dim(Tensor self, int64_t dim):
    cdef Geometry g
    drop_ones(&g, self, <unsigned long long>1 << wrap(dim, self.c_ndim, True))
    return made(self, &g)


cdef object squeeze_dims(Tensor self, IntArray dim):
    cdef Geometry g
    drop_listed(&g, self, dim)
    return made(self, &g)


cdef int add_one(Geometry* g, Tensor self, int64_t dim) except -1:
    cdef int i, d = wrap(dim, self.c_ndim + 1, True)
    if self.c_ndim >= 64:
        raise refused("a tensor has at most 64 dimensions")
    g.ndim = self.c_ndim + 1
    g.offset = self.c_offset
    for i in range(d):
        g.sizes[i] = self.c_sizes[i]
        g.strides[i] = self.c_strides[i]
    g.sizes[d] = 1
    g.strides[d] = mul(self.c_sizes[d], self.c_strides[d]) if d < self.c_ndim else 1
    for i in range(d, self.c_ndim):
        g.sizes[i + 1] = self.c_sizes[i]
        g.strides[i + 1] = self.c_strides[i]
    return 0


cdef object unsqueeze(Tensor self, int64_t dim):
    cdef Geometry g
    add_one(&g, self, dim)
    return made(self, &g)


cdef int64_t fresh_offset(object env) except? SIZE_ERROR:
    """An offset that data decide: an index of unknown sign counts from either end."""
    made = env.create_unbacked_symint()
    env._constrain_range_for_size(made.node._expr)
    return size_from(made)


cdef inline int64_t place_of(Tensor self, int d, int64_t at) except? SIZE_ERROR:
    """The offset of the place `at` along a dimension."""
    if is_symbolic(at) and lt_or_true(at, 0) and not lt_or_false(at, 0):
        return fresh_offset(<object>symbolic_calls.env_of(at))
    return add(self.c_offset, mul(at, self.c_strides[d]))


cdef Tensor selected(Tensor self, int d, int64_t offset):
    cdef int64_t sizes[64]
    cdef int64_t strides[64]
    cdef int n = self.c_ndim - 1
    memcpy(sizes, self.c_sizes, d * sizeof(int64_t))
    memcpy(strides, self.c_strides, d * sizeof(int64_t))
    memcpy(sizes + d, self.c_sizes + d + 1, (n - d) * sizeof(int64_t))
    memcpy(strides + d, self.c_strides + d + 1, (n - d) * sizeof(int64_t))
    return new_view(self, n, sizes, strides, offset)


cdef int raise_index(Tensor self, int d, int64_t index) except -1:
    raise refused(f"select(): index {size_object(index)} out of range for tensor of size {sizes_of(self)} at dimension {d}",
                  IndexError)


cdef object select(Tensor self, int64_t dim, int64_t index):
    cdef int d
    cdef int64_t size
    if self.c_ndim == 0:
        raise refused("select() cannot be applied to a 0-dim tensor", IndexError)
    d = wrap(dim, self.c_ndim, False)
    size = self.c_sizes[d]
    if is_symbolic(index):                # PyTorch does not ask data
        if not gt_or_true(size, index) or lt_or_false(index, neg(size)):
            raise_index(self, d, index)
    elif not expect_gt(size, index) or not expect_ge(index, neg(size)):
        raise_index(self, d, index)
    if lt_or_false(index, 0):
        return selected(self, d, add(self.c_offset, mul(add(index, size), self.c_strides[d])))
    return selected(self, d, place_of(self, d, index))


cdef inline Tensor sliced(Tensor self, int d, int64_t offset, int64_t length, int64_t step):
    cdef Geometry g
    load(&g, self)
    g.sizes[d] = length
    g.strides[d] = mul(step, self.c_strides[d])
    g.offset = offset
    return made(self, &g)


cdef inline int less(int64_t a, int64_t b) except -2:
    """Whether a < b, as far as hints and ranges say: 1, 0, or -1 where data decide."""
    return 1 if lt_or_false(a, b) else -1 if lt_or_true(a, b) else 0


cdef int64_t clamped_slowly(int64_t at, int64_t size, bint* unknown) except? SIZE_ERROR:
    """Of expressions. Where data decide the sign there is no such place: `unknown`."""
    cdef int below = less(at, 0), other
    if below == 0:
        other = less(size, at)
        return size if other == 1 else at if other == 0 else smaller(at, size)
    if below == 1:
        at = add(at, size)
        other = less(at, 0)
        return 0 if other == 1 else at if other == 0 else larger(at, 0)
    if lt_or_false(at, neg(size)):
        return 0
    if gt_or_false(at, size):
        return size
    unknown[0] = True
    return 0


cdef inline int64_t clamped(int64_t at, int64_t size, bint* unknown) except? SIZE_ERROR:
    if at == INT64_MAX:
        return size              # up to the end, as Python's slices write it
    if any_symbolic(at, size):
        return clamped_slowly(at, size, unknown)
    if at < 0:
        at += size
    return 0 if at < 0 else size if at > size else at


cdef int64_t slice_length_slowly(int64_t first, int64_t last, int64_t step) except? SIZE_ERROR:
    cdef int below = less(last, first)
    cdef int64_t length = sub(last, first)
    if below == 1:
        return 0
    if below == -1:
        length = larger(length, 0)
    return length if step == 1 else floordiv(add(length, sub(step, 1)), step)


cdef inline int64_t slice_length(int64_t first, int64_t last, int64_t step) except? SIZE_ERROR:
    if any_symbolic(first, last) or is_symbolic(step):
        return slice_length_slowly(first, last, step)
    return 0 if last <= first else last - first if step == 1 else 1 + (last - first - 1) // step


cdef Tensor sliced_by_data(Tensor self, int d, object start, int64_t first, bint first_is_known, object end, int64_t step):
    """Between places that data decide: as many elements as they say, from an offset that they say."""
    cdef int64_t length
    env = (end if first_is_known else start).node.shape_env
    made_length = env.create_unbacked_symint()
    length = size_from(made_length)
    expect_ge(length, 0)
    expect_le(length, self.c_sizes[d])
    return sliced(self, d, place_of(self, d, first) if first_is_known else fresh_offset(env), length, step)


cdef inline int64_t bound_from(object o) except? SIZE_ERROR:
    """A place to begin or end at; one far before the first element is any such one."""
    cdef int64_t n
    if PyLong_CheckExact_(<PyObject*>o):
        n = PyLong_AsLongLong_(<PyObject*>o)
        return n if n > SYMBOLIC_LIMIT else SYMBOLIC_LIMIT
    return size_from(o)


cdef object slice(Tensor self, int64_t dim, object start, object end, int64_t step):
    cdef int d = wrap(dim, self.c_ndim, False)
    cdef int64_t size = self.c_sizes[d]
    cdef bint no_first = False, no_last = False
    cdef int64_t first = 0 if start is None else clamped(bound_from(start), size, &no_first)
    cdef int64_t last = size if end is None else clamped(bound_from(end), size, &no_last)
    if not expect_gt(step, 0):
        raise refused(f"step must be positive, got {size_object(step)}")
    if no_first or no_last:
        return sliced_by_data(self, d, start, first, not no_first, end, step)
    return sliced(self, d, place_of(self, d, first), slice_length(first, last, step), step)


cdef object diagonal(Tensor self, int64_t offset, int64_t dim1, int64_t dim2):
    cdef Geometry g
    cdef int a = wrap(dim1, self.c_ndim, True), b = wrap(dim2, self.c_ndim, True)
    cdef int i
    cdef int64_t length
    if a == b:
        raise refused(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    if offset >= 0:
        length = larger(smaller(self.c_sizes[a], sub(self.c_sizes[b], offset)), 0)
    else:
        length = larger(smaller(add(self.c_sizes[a], offset), self.c_sizes[b]), 0)
    g.ndim = 0
    g.offset = self.c_offset
    if offset and length:                    # for expressions as if there were elements, like PyTorch
        g.offset = add(g.offset, mul(offset, self.c_strides[b]) if offset > 0 else mul(-offset, self.c_strides[a]))
    for i in range(self.c_ndim):
        if i != a and i != b:
            g.sizes[g.ndim] = self.c_sizes[i]
            g.strides[g.ndim] = self.c_strides[i]
            g.ndim += 1
    g.sizes[g.ndim] = length
    g.strides[g.ndim] = add(self.c_strides[a], self.c_strides[b])
    g.ndim += 1
    return made(self, &g)


cdef inline bint is_multiple(int64_t n, int64_t of) except -1:
    return expect_eq(mod(n, of), 0)


cdef inline int64_t rescaled(int64_t n, int64_t ratio, bint down) except? SIZE_ERROR:
    return floordiv(n, ratio) if down else mul(n, ratio)


cdef int rescale(Geometry* g, Tensor self, int dtype, int old, int new) except -1:
    """The geometry in elements of `new` bytes instead of `old`, along the last dimension."""
    cdef int i, last = self.c_ndim - 1
    cdef int64_t ratio = old // new if old > new else new // old
    what = f"{self.dtype} as {dtypes.get_dtype(dtype)}, of another size"
    if self.c_ndim == 0:
        raise refused(f"{what}: self.dim() cannot be 0")
    if not expect_eq(self.c_strides[last], 1):
        raise refused(f"{what}: self.stride(-1) must be 1, got {size_object(self.c_strides[last])}")
    if new > old and not is_multiple(self.c_sizes[last], ratio):
        raise refused(f"{what}: self.size(-1) must be divisible by {ratio}, got {size_object(self.c_sizes[last])}")
    if new > old and not is_multiple(self.c_offset, ratio):
        raise refused(f"{what}: self.storage_offset() must be divisible by {ratio}, got {size_object(self.c_offset)}")
    for i in range(last):
        if new > old and not is_multiple(self.c_strides[i], ratio):
            raise refused(f"{what}: self.stride({i}) must be divisible by {ratio}, got {size_object(self.c_strides[i])}")
        g.strides[i] = rescaled(self.c_strides[i], ratio, new > old)
    g.sizes[last] = rescaled(self.c_sizes[last], ratio, new > old)
    g.offset = rescaled(self.c_offset, ratio, new > old)
    return 0


cdef object view_dtype(Tensor self, int dtype):
    cdef Geometry g
    cdef int old = dtypes.itemsize_table()[self.c_dtype], new = dtypes.itemsize_table()[dtype]
    if self.c_keys & KS_Conjugate:
        raise refused("another dtype is not supported for conjugate view tensors, use resolve_conj()")
    if self.c_keys & KS_Negative:
        raise refused("another dtype is not supported for tensors with negative bit set, use resolve_neg()")
    load(&g, self)
    if old != new:
        rescale(&g, self, dtype, old, new)
    return new_view_dtype(self, dtype, g.ndim, g.sizes, g.strides, g.offset)


cdef object view_as_real(Tensor self):
    cdef Geometry g
    cdef int i, dtype
    if self.c_keys & KS_Conjugate:
        raise refused("the tensor is a conjugate view: use resolve_conj() first")
    if not is_complex_code(self.c_dtype):
        raise refused(f"view_as_real is only supported for complex tensors, got {self.dtype}")
    dtype = (ST_float32 if self.c_dtype == ST_complex64 else
             ST_float64 if self.c_dtype == ST_complex128 else ST_float16)
    if self.c_ndim >= 64:
        raise refused("a tensor has at most 64 dimensions")
    load(&g, self)
    for i in range(g.ndim):
        g.strides[i] = mul(g.strides[i], 2)
    g.sizes[g.ndim] = 2
    g.strides[g.ndim] = 1
    return new_view_dtype(self, dtype, g.ndim + 1, g.sizes, g.strides, mul(g.offset, 2))


cdef object view_as_complex(Tensor self):
    cdef Geometry g
    cdef int i, dtype, last = self.c_ndim - 1
    if self.c_dtype == ST_float32:
        dtype = ST_complex64
    elif self.c_dtype == ST_float64:
        dtype = ST_complex128
    elif self.c_dtype == ST_float16:
        dtype = ST_complex32
    else:
        raise refused("view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: "
                      f"{scalar_type(self.dtype)}")
    if last < 0:
        raise refused("Input tensor must have one or more dimensions")
    if not expect_eq(self.c_sizes[last], 2):
        raise refused(f"Tensor must have a last dimension of size 2, got sizes {sizes_of(self)}")
    if not expect_eq(self.c_strides[last], 1):
        raise refused(f"Tensor must have a last dimension with stride 1, got strides {list(self.stride())}")
    load(&g, self)
    for i in range(last):
        if not is_multiple(g.strides[i], 2):
            raise refused("Tensor must have a stride divisible by 2 for all but last dimension, "
                          f"got {size_object(g.strides[i])} at dimension {i}")
        g.strides[i] = floordiv(g.strides[i], 2)
    if not is_multiple(g.offset, 2):
        raise refused(f"storage offset {size_object(g.offset)} is odd")
    return new_view_dtype(self, dtype, last, g.sizes, g.strides, floordiv(g.offset, 2))


# ---- several -----------------------------------------------------------------------------------

cdef enum:
    MANY_RESULTS = 1 << 20
    BYTES_OF_RESULT = 256        # a view's own, at least


def check_results(int64_t n):
    """RuntimeError before the first of so many views is made, if there can be no memory for all."""
    cdef void* room
    if n < MANY_RESULTS:
        return
    room = NULL if n > INT64_MAX // BYTES_OF_RESULT else malloc(n * BYTES_OF_RESULT)
    if room == NULL:
        raise refused(f"there is no memory for {n} results")
    free(room)


cdef int64_t n_pieces(int64_t size, int64_t split_size) except? SIZE_ERROR:
    """A number: how many results there are is no expression."""
    if any_symbolic(size, split_size):
        size = concrete(floordiv(add(size, sub(split_size, 1)), split_size))
    elif size:
        size = (size - 1) // split_size + 1
    return max(size, 1)


cdef object split(Tensor self, int64_t split_size, int64_t dim):
    cdef int d
    cdef int64_t size, n, i
    if self.c_ndim == 0:
        raise refused("split expects at least a 1-dimensional tensor")
    if not expect_ge(split_size, 0):
        raise refused(f"split expects split_size be non-negative, but got split_size={size_object(split_size)}")
    d = wrap(dim, self.c_ndim, True)
    size = self.c_sizes[d]
    if eq_or_false(split_size, 0):
        if not expect_eq(size, 0):
            raise refused(f"split_size can only be 0 if dimension size is 0, but got dimension size of {size_object(size)}")
        return [sliced(self, d, self.c_offset, 0, 1)]
    n = n_pieces(size, split_size) - 1
    check_results(n)
    out = [sliced(self, d, place_of(self, d, mul(i, split_size)), split_size, 1) for i in range(n)]
    out.append(sliced(self, d, place_of(self, d, mul(n, split_size)), sub(size, mul(n, split_size)), 1))
    return out


def split_with_sizes(Tensor self not None, list split_sizes, int64_t dim=0):
    """Pieces of the given lengths, however many."""
    cdef int d
    cdef int64_t total = 0, start = 0, length
    cdef list out = []
    if self.c_ndim == 0:
        raise refused("split expects at least a 1-dimensional tensor")
    d = wrap(dim, self.c_ndim, True)
    for item in split_sizes:
        length = size_from(item)
        if not expect_ge(length, 0):
            raise refused("split_with_sizes expects split_sizes have only non-negative entries, "
                          f"but got split_sizes={split_sizes}")
        total = add(total, length)
    if not expect_eq(total, self.c_sizes[d]):
        raise refused(f"split_with_sizes expects split_sizes to sum exactly to {size_object(self.c_sizes[d])} (input tensor's "
                      f"size at dimension {d}), but got split_sizes={split_sizes}")
    for item in split_sizes:
        length = size_from(item)
        out.append(sliced(self, d, place_of(self, d, start), length, 1))
        start = add(start, length)
    return out


cdef object unbind(Tensor self, int64_t dim):
    cdef int d = wrap(dim, self.c_ndim, False)
    cdef int64_t i
    cdef int64_t n = concrete(self.c_sizes[d])
    check_results(n)
    return [selected(self, d, add(self.c_offset, mul(i, self.c_strides[d]))) for i in range(n)]


# ---- in place ----------------------------------------------------------------------------------

cdef object as_strided_(Tensor self, IntArray size, IntArray stride, object storage_offset):
    cdef int64_t offset = self.c_offset if storage_offset is None else size_from(storage_offset)
    check_strided(self, size, stride, offset, True)
    set_geometry(self, <int>size.len, size.data, stride.data, offset)
    return self


cdef object detach_(Tensor self):
    cut_off(self)
    return self


cdef object resize_(Tensor self, IntArray size, int memory_format):
    """at::native::resize_: sizes that stay keep their strides unless a format is given."""
    cdef int64_t strides[64]
    cdef int n = <int>size.len
    cdef bint same = n == self.c_ndim and same_sizes(size.data, self.c_sizes, n)
    if needs_grad(self) and not tls().inference_mode:
        raise refused("cannot resize variables that require grad")
    if same and memory_format == MF_NONE:
        return self
    if rules.numel(size.data, n) == 0:
        check_steps(n, size.data)
    if memory_format == MF_preserve:
        raise refused("memory_format must not be preserve_format")
    rules.strides_for(strides, size.data, n,
                      MF_contiguous if memory_format == MF_NONE else memory_format)
    place_tensor(self, self.c_storage, n, size.data, strides, self.c_offset)
    return self


cdef object squeeze_(Tensor self):
    cdef Geometry g
    drop_ones(&g, self, ~<unsigned long long>0)
    return changed(self, &g)


cdef object squeeze_dim_(Tensor self, int64_t dim):
    cdef Geometry g
    drop_ones(&g, self, <unsigned long long>1 << wrap(dim, self.c_ndim, True))
    return changed(self, &g)


cdef object squeeze_dims_(Tensor self, IntArray dim):
    cdef Geometry g
    drop_listed(&g, self, dim)
    return changed(self, &g)


cdef object t_(Tensor self):
    cdef Geometry g
    if self.c_ndim > 2 and not has_bytes(self.c_storage):
        raise refused(f"expects a tensor with <= 2 dimensions, but self is {self.c_ndim}D", AssertionError)
    swap_last(&g, self)
    return changed(self, &g)


cdef object transpose_(Tensor self, int64_t dim0, int64_t dim1):
    cdef Geometry g
    swap(&g, self, dim0, dim1)
    return changed(self, &g)


cdef object unsqueeze_(Tensor self, int64_t dim):
    cdef Geometry g
    add_one(&g, self, dim)
    return changed(self, &g)


# ---- what a tensor's metadata are --------------------------------------------------------------

cdef object sym_is_contiguous(Tensor self, int memory_format):
    return is_contiguous_as(self, memory_format)


cdef int check_ints(str what, object expected, int n, const int64_t* values) except -1:
    cdef list got = numbers(values, n)
    if expected is not None and expected != got:
        raise refused(f"expected {what} {expected}, got {got}")
    return 0


cdef object _assert_tensor_metadata(Tensor a, object size, object stride, int dtype, object device,
                                    int layout):
    """A Meta tensor stands in for one of any device, so its device is not compared."""
    check_ints("size", size, a.c_ndim, a.c_sizes)
    check_ints("stride", stride, a.c_ndim, a.c_strides)
    if dtype != ST_NONE and dtype != a.c_dtype:
        raise refused(f"expected dtype {dtypes.get_dtype(dtype)}, "
                      f"got {a.dtype}")
    if device is not None and a.c_devtype != DEV_META and device != a.device:
        raise refused(f"expected device {device}, got {a.device}")
    if layout >= 0 and layout != a.c_layout:
        raise refused(f"expected layout {dtypes.get_layout(layout)}, "
                      f"got {a.layout}")
    return None
