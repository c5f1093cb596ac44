"""Views that are made of other operators: `flatten`, `narrow`, `reshape` and the like.

Each works out the arguments of the operators that it calls, through the dispatcher. Where there is
nothing to do it may hand back its argument, where PyTorch does; `geometry` has the views themselves.
"""
from libc.stdint cimport int64_t

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport MF_NONE, MF_contiguous, is_complex_code, is_integral_code
from dispatch._C.errors cimport refused
from dispatch._C.keys cimport KS_Conjugate, KS_Negative
from dispatch._C.symbolic cimport (
    add, eq_or_false, expect_eq, expect_ge, expect_le, floordiv, is_symbolic, lt_or_false, mul, neg, size_object, sub,
)
from dispatch._C.tensor cimport Tensor, is_contiguous_as
from dispatch._C.values cimport IntArray
from dispatch.kernels.composite.callee cimport Callee, callee, ints, numbers, sizes_of
from dispatch.kernels.composite.views.geometry cimport wrap
from dispatch.kernels.meta cimport rules

cdef Callee ADD = callee("add", "Tensor")
cdef Callee ADD_ = callee("add_", "Tensor")
cdef Callee AS_STRIDED = callee("as_strided")
cdef Callee CLONE = callee("clone")
cdef Callee CONTIGUOUS = callee("contiguous")
cdef Callee CONJ_VIEW = callee("_conj")
cdef Callee EXPAND = callee("expand")
cdef Callee ITEM = callee("item")
cdef Callee MOVEDIM = callee("movedim", "int")
cdef Callee NARROW = callee("narrow")
cdef Callee NEG_VIEW = callee("_neg_view")
cdef Callee NEW_ZEROS = callee("new_zeros")
cdef Callee PERMUTE = callee("permute")
cdef Callee RESHAPE = callee("reshape")
cdef Callee RESIZE = callee("resize_")
cdef Callee SELECT = callee("select", "int")
cdef Callee SLICE = callee("slice", "Tensor")
cdef Callee SPLIT = callee("split", "Tensor")
cdef Callee SPLIT_WITH_SIZES = callee("split_with_sizes")
cdef Callee SUM = callee("sum")
cdef Callee UNFOLD = callee("unfold")
cdef Callee UNSAFE_VIEW = callee("_unsafe_view")
cdef Callee VIEW = callee("view")
cdef Callee VIEW_AS_REAL = callee("view_as_real")


cdef object chunk(Tensor self, int64_t chunks, int64_t dim):
    cdef int d
    cdef int64_t size, each
    if self.c_ndim == 0:
        raise refused("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise refused(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    d = wrap(dim, self.c_ndim, True)
    size = self.c_sizes[d]
    if eq_or_false(size, 0):
        return SPLIT_WITH_SIZES.call((self, [0] * chunks, dim))
    each = floordiv(sub(add(size, chunks), 1), chunks)
    return SPLIT.call((self, size_object(each), dim))


cdef object conj(Tensor self):
    return CONJ_VIEW.call((self,)) if is_complex_code(self.c_dtype) else self


cdef object expand_as(Tensor self, Tensor other):
    return EXPAND.call((self, sizes_of(other)))


cdef object flatten(Tensor self, int64_t start_dim, int64_t end_dim):
    cdef int first = wrap(start_dim, self.c_ndim, True)
    cdef int last = wrap(end_dim, self.c_ndim, True)
    cdef int64_t n = 1
    cdef int i
    if first > last:
        raise refused(f"flatten() has invalid args: start_dim cannot come after end_dim, got {start_dim} and {end_dim}")
    if self.c_ndim == 0:
        return RESHAPE.call((self, [1]))
    if first == last:
        return self
    for i in range(first, last + 1):
        n = mul(n, self.c_sizes[i])
    sizes = sizes_of(self)
    return RESHAPE.call((self, sizes[:first] + [size_object(n)] + sizes[last + 1:]))


cdef object imag(Tensor self):
    if not is_complex_code(self.c_dtype):
        raise refused(f"imag is not implemented for tensors with non-complex dtypes, got {self.dtype}")
    if self.c_keys & KS_Conjugate:
        pairs = NEG_VIEW.call((VIEW_AS_REAL.call((CONJ_VIEW.call((self,)),)),))
    else:
        pairs = VIEW_AS_REAL.call((self,))
    return SELECT.call((pairs, <int>self.c_ndim, 1))


cdef int moved_dims(int* found, IntArray dims, int ndim, str name) except -1:
    """Dimensions counted from the front, each named once."""
    cdef Py_ssize_t i, k
    for i in range(dims.len):
        found[i] = wrap(dims.data[i], ndim, True)
        for k in range(i):
            if found[k] == found[i]:
                raise refused(f"movedim: repeated dim in `{name}` ({ints(dims)})")
    return 0


cdef object movedim(Tensor self, IntArray source, IntArray destination):
    """Dimensions `source` at the places `destination`, the others in order in what is left."""
    cdef int sources[64]
    cdef int places[64]
    cdef int order[64]
    cdef unsigned long long taken = 0
    cdef int n = self.c_ndim, i, rest = 0
    if source.len != destination.len:
        raise refused(f"movedim: Invalid source or destination dims: source ({ints(source)} dims) should contain the same number "
                      f"of dims as destination ({ints(destination)} dims)")
    if source.len > max(n, 1):
        raise refused(f"movedim: {source.len} dims named, the tensor has {n}")
    moved_dims(sources, source, n, "source")
    moved_dims(places, destination, n, "destination")
    for i in range(n):
        order[i] = -1
    for i in range(<int>source.len):
        order[places[i]] = sources[i]
        taken |= <unsigned long long>1 << sources[i]
    for i in range(n):
        if order[i] < 0:
            while taken >> rest & 1:
                rest += 1
            order[i] = rest
            rest += 1
    return PERMUTE.call((self, [order[i] for i in range(n)]))


cdef object movedim_int(Tensor self, int64_t source, int64_t destination):
    cdef IntArray one, other
    one.len = other.len = 1
    one.data, other.data = &source, &destination
    return movedim(self, one, other)


cdef object numpy_T(Tensor self):
    """All dimensions in reverse."""
    cdef int i
    return PERMUTE.call((self, [i for i in range(self.c_ndim - 1, -1, -1)]))


cdef object narrow(Tensor self, int64_t dim, int64_t start, int64_t length):
    cdef int d
    cdef int64_t size
    cdef Tensor found
    if self.c_ndim == 0:
        raise refused("narrow() cannot be applied to a 0-dim tensor.")
    if not expect_ge(length, 0):
        raise refused(f"narrow(): length must be non-negative. Got {size_object(length)}")
    d = wrap(dim, self.c_ndim, True)
    size = self.c_sizes[d]
    if not expect_ge(start, neg(size)) or not expect_le(start, size):
        raise refused("start out of range (expected to be in range of "
                      f"[{-size_object(size)}, {size_object(size)}], but got {size_object(start)})", IndexError)
    if lt_or_false(start, 0):
        start = add(start, size)
    if not expect_le(start, sub(size, length)):
        raise refused(f"start ({size_object(start)}) + length ({size_object(length)}) exceeds dimension size "
                      f"({size_object(size)}).")
    found = SLICE.call((self, dim, size_object(start), size_object(add(start, length))))
    if is_symbolic(found.c_sizes[d]) and not expect_eq(found.c_sizes[d], length):      # where data decide the start
        raise refused(f"there are no {size_object(length)} elements from {size_object(start)} on")
    return found


cdef object narrow_tensor(Tensor self, int64_t dim, Tensor start, int64_t length):
    if start.c_ndim or not is_integral_code(start.c_dtype, False):
        raise refused("start must be an 0-dim integral Tensor. Got "
                      f"{start.dtype} of sizes {sizes_of(start)}")
    return NARROW.call((self, dim, ITEM.call((start,)), size_object(length)))


cdef object ravel(Tensor self):
    return VIEW.call((CONTIGUOUS.call((self,)), [-1]))


cdef object real(Tensor self):
    if not is_complex_code(self.c_dtype):
        return self
    source = CONJ_VIEW.call((self,)) if self.c_keys & KS_Conjugate else self
    return SELECT.call((VIEW_AS_REAL.call((source,)), <int>self.c_ndim, 0))


cdef object reshape(Tensor self, IntArray shape):
    cdef int64_t sizes[64]
    cdef int64_t strides[64]
    cdef int n = <int>shape.len
    if is_contiguous_as(self, MF_contiguous):
        return VIEW.call((self, ints(shape)))
    rules.infer_size(sizes, shape.data, n, self.c_numel)
    if rules.compute_view_strides(strides, self.c_sizes, self.c_strides, self.c_ndim, sizes, n):
        return VIEW.call((self, ints(shape)))
    copy = CLONE.call((self, dtypes.get_memory_format(MF_contiguous)))
    return UNSAFE_VIEW.call((copy, numbers(sizes, n)))


cdef object reshape_as(Tensor self, Tensor other):
    return RESHAPE.call((self, sizes_of(other)))


cdef object resize(Tensor self, IntArray size, int memory_format):
    copy = CLONE.call((self,))
    mf = None if memory_format == MF_NONE else dtypes.get_memory_format(memory_format)
    return RESIZE.call((copy, ints(size), mf))


cdef object resolve_conj(Tensor self):
    return CLONE.call((self,)) if self.c_keys & KS_Conjugate else self


cdef object resolve_neg(Tensor self):
    return CLONE.call((self,)) if self.c_keys & KS_Negative else self


def split_sizes(Tensor self not None, list split_size, int64_t dim=0):
    return SPLIT_WITH_SIZES.call((self, split_size, dim))


cdef object unflatten(Tensor self, int64_t dim, IntArray sizes):
    cdef int64_t found[64]
    cdef int d = wrap(dim, self.c_ndim, False)
    if sizes.len == 0:
        raise refused("unflatten: sizes must be non-empty")
    rules.infer_size(found, sizes.data, <int>sizes.len, self.c_sizes[d])
    whole = sizes_of(self)
    return VIEW.call((self, whole[:d] + numbers(found, sizes.len) + whole[d + 1:]))


cdef object view_as(Tensor self, Tensor other):
    return VIEW.call((self, sizes_of(other)))


cdef object unfold(Tensor self, int64_t dimension, int64_t size, int64_t step):
    """Windows of `size` elements along `dimension`, `step` apart, in a new last dimension."""
    cdef int d = wrap(dimension, self.c_ndim, True)
    cdef int64_t length = self.c_sizes[d] if self.c_ndim else 1, last = self.c_strides[d] if self.c_ndim else 1
    if size < 0:
        raise refused(f"size is {size} but must be >= 0")
    if not expect_le(size, length):
        raise refused(f"maximum size for tensor at dimension {d} is {size_object(length)} but size is {size}")
    if step <= 0:
        raise refused(f"step is {step} but must be > 0")
    sizes, strides = sizes_of(self), numbers(self.c_strides, self.c_ndim)
    if self.c_ndim:
        sizes[d] = size_object(add(floordiv(sub(length, size), step), 1))
        strides[d] = size_object(mul(step, last))
    sizes.append(size)
    strides.append(size_object(last))
    return AS_STRIDED.call((self, sizes, strides, size_object(self.c_offset)))


cdef object unfold_backward(Tensor grad_in, IntArray input_sizes, int64_t dim, int64_t size, int64_t step):
    """The windows' values added up where they lie in a tensor of `input_sizes`."""
    cdef int d
    cdef int64_t windows, room, i, start, end
    if step <= 0:
        raise refused(f"step is {step} but must be > 0", ValueError)
    d = wrap(dim, <int>input_sizes.len, True)
    if size < 0:
        raise refused(f"size is {size} but must be >= 0")
    result = NEW_ZEROS.call((grad_in, ints(input_sizes)))
    if input_sizes.len == 0:
        return ADD.call((result, SUM.call((grad_in,))))
    if not rules.is_eager(grad_in) or grad_in.c_numel == 0:
        return result                        # without data there is nothing to add
    windows = grad_in.c_sizes[d] if d < grad_in.c_ndim else 0
    room = input_sizes.data[d] - size
    if windows == 0 or grad_in.c_sizes[grad_in.c_ndim - 1] != size or room < 0 or (windows > 1 and step > room // (windows - 1)):
        raise refused(f"expected windows of {size} among {input_sizes.data[d]} elements of dimension {d}, got "
                      f"{sizes_of(grad_in)}")
    # By windows, or by pieces of them that do not overlap, whichever are fewer.
    if windows <= (size - 1) // step + 1:
        rows = MOVEDIM.call((result, d, -1))
        for i in range(windows):
            part = SLICE.call((rows, -1, i * step, i * step + size))
            ADD_.call((part, SELECT.call((grad_in, d, i))))
        return result
    # Backwards, so that an element's windows are added in their order.
    start = (size - 1) // step * step
    while start >= 0:
        end = min(start + step, size)
        part = SLICE.call((result, d, start, (windows - 1) * step + end))
        ADD_.call((UNFOLD.call((part, d, end - start, step)), SLICE.call((grad_in, -1, start, end))))
        start -= step
    return result
