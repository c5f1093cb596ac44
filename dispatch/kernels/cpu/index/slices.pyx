"""Indices become places in memory, and slices at them are moved or added up: what bodies of look-ups share.

Indices are copied before they are checked, so that nobody can change them in between; long loops run without the lock while what
owns the memory is held. Rows along a dimension are walked twice, to check and to move; the second walk reads what has become
wrong since as 0.
"""
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport ST_complex32, ST_int64, is_in
from dispatch._C.errors cimport refused
from dispatch._C.errors import unserved
from dispatch._C.tensor cimport Tensor, data_of, new_view
from dispatch.kernels.cpu.copy.copies cimport caster, copy_values
from dispatch.kernels.cpu.copy.strided cimport LONG_RUN, copier, itemsize_of, move, owners
from dispatch.kernels.cpu.threads cimport in_spans, parts_for

cdef extern from "../kernels/cpu/index/loops.h" nogil:
    ctypedef struct dispatch_along:
        int ndim
        int inner
        int wide
        int64_t sizes[64]
        int64_t index[64]
        int64_t indexed[64]
        int64_t dense[64]
        int64_t size
        int64_t step
    dispatch_spread dispatch_reader(int itemsize) noexcept
    dispatch_spread dispatch_writer(int itemsize) noexcept
    int dispatch_reducer(int op, int code, dispatch_run* run, dispatch_spread* spread) noexcept
    void dispatch_wide_adder(int code, dispatch_run* run, dispatch_spread* spread) noexcept
    void dispatch_flat_places(int64_t* places, int64_t n, int64_t numel, int ndim, const int64_t* sizes,
                              const int64_t* steps) noexcept
    void dispatch_split(dispatch_slices* s) noexcept
    void dispatch_run_slices(const dispatch_slices* s, char* indexed, char* dense, dispatch_run run,
                             dispatch_spread spread) noexcept
    int64_t dispatch_take(char* to, int64_t itemsize, char* from_, const int64_t* index, int64_t n, int64_t numel, int ndim,
                          const int64_t* sizes, const int64_t* steps, dispatch_spread read) noexcept
    int64_t dispatch_find_outside(const int64_t* index, int64_t n, int64_t low, int64_t size) noexcept
    void dispatch_add_places(int64_t* places, const int64_t* index, int64_t n, int64_t size, int64_t step) noexcept
    int64_t dispatch_count_true(const char* mask, int64_t n) noexcept
    int64_t dispatch_true_places(int64_t* places, int64_t room, const char* mask, int ndim, const int64_t* sizes,
                                 const int64_t* steps) noexcept
    int dispatch_walk_along(const dispatch_along* w, const char* index, char* indexed, char* dense, dispatch_spread spread,
                            int64_t* wrong) noexcept


cdef int check_supported(Tensor t, unsigned long long missing, bint complex32) except -1:
    if is_in(missing, t.c_dtype) or (complex32 and t.c_dtype == ST_complex32):
        raise unserved(dtypes.get_dtype(t.c_dtype))
    return 0


cdef int copy_unless_same(Tensor out, Tensor self) except -1:
    return 0 if out is self else copy_values(out, self)


# ---- numbers -----------------------------------------------------------------------------------

cdef class Numbers:
    def __dealloc__(self):
        free(self.data)


cdef Numbers new_numbers(int64_t n):
    cdef Numbers x = Numbers.__new__(Numbers)
    x.data = <int64_t*>malloc((n if n else 1) * sizeof(int64_t))
    if x.data == NULL:
        raise MemoryError
    x.n = n
    return x


cdef Numbers read_numbers(Tensor index, int ndim, const int64_t* sizes):
    cdef dispatch_moves m
    cdef Numbers x
    cdef int d, lead = ndim - index.c_ndim, size = itemsize_of(index)
    cdef int64_t n = 1
    cdef char* from_
    cdef dispatch_run run = caster(index.c_dtype, ST_int64)
    m.ndim = ndim
    for d in range(ndim - 1, -1, -1):
        m.sizes[d], m.to[d] = sizes[d], n * sizeof(int64_t)
        m.from_[d] = 0 if d < lead or index.c_sizes[d - lead] == 1 else index.c_strides[d - lead] * size
        n *= sizes[d]
    x = new_numbers(n)
    if n == 0:
        return x
    from_ = data_of(index, size)
    if n < LONG_RUN:
        move(&m, <char*>x.data, from_, run)
        return x
    kept = owners(index, index)
    with nogil:
        move(&m, <char*>x.data, from_, run)
    return x


cdef int check_numbers(Numbers x, int64_t low, int64_t size, object error) except -1:
    cdef int64_t i = dispatch_find_outside(x.data, x.n, low, size)
    if i < x.n:
        raise refused(f"index {x.data[i]} is out of bounds for a dimension of size {size}", error)
    return 0


cdef Numbers places_of(Tensor index, int64_t low, int64_t size, int64_t step, object error):
    cdef Numbers x = read_numbers(index, index.c_ndim, index.c_sizes)
    cdef int64_t i
    check_numbers(x, low, size, error)
    for i in range(x.n):
        x.data[i] = (x.data[i] + size if x.data[i] < 0 else x.data[i]) * step
    return x


cdef Numbers flat_places(Tensor t, Tensor index):
    cdef Numbers x = read_numbers(index, index.c_ndim, index.c_sizes)
    cdef int64_t steps[64]
    cdef int d
    check_numbers(x, -t.c_numel, t.c_numel, IndexError)
    for d in range(t.c_ndim):
        steps[d] = t.c_strides[d] * itemsize_of(t)
    dispatch_flat_places(x.data, x.n, t.c_numel, t.c_ndim, t.c_sizes, steps)
    return x


cdef struct Take:
    char* to
    char* from_
    const int64_t* index
    int64_t numel
    int64_t wrong                # the place of some wrong index; negative: none was met
    int ndim, size
    const int64_t* sizes
    int64_t steps[64]
    dispatch_spread read


cdef void take_part(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    cdef Take* j = <Take*>context
    cdef int64_t good = dispatch_take(j.to + first * j.size, j.size, j.from_, j.index + first, end - first, j.numel, j.ndim,
                                      j.sizes, j.steps, j.read)
    if good < end - first:
        j.wrong = first + good


cdef int take_places(Tensor dense, Tensor indexed, Tensor index) except -1:
    cdef Take j
    cdef int64_t n = index.c_numel
    cdef int d
    if n == 0:
        return 0
    j.size, j.wrong = itemsize_of(indexed), -1
    j.numel, j.ndim, j.sizes, j.read = indexed.c_numel, indexed.c_ndim, indexed.c_sizes, dispatch_reader(j.size)
    for d in range(indexed.c_ndim):
        j.steps[d] = indexed.c_strides[d] * j.size
    j.to, j.from_, j.index = data_of(dense, j.size), data_of(indexed, j.size), <const int64_t*>data_of(index, 8)
    kept = owners(dense, indexed), owners(index, index)
    if n < LONG_RUN:
        take_part(&j, 0, 0, n)
    else:
        with nogil:
            in_spans(take_part, &j, n, parts_for(n, n * 8))
    if j.wrong >= 0:
        raise refused(f"index {j.index[j.wrong]} is out of bounds for a dimension of size {indexed.c_numel}", IndexError)
    return 0


# ---- masks -------------------------------------------------------------------------------------

cdef int64_t count_true(Tensor mask) except -1:
    cdef char* p
    cdef int64_t n = mask.c_numel
    if n == 0:
        return 0
    p = data_of(mask, 1)
    if n < LONG_RUN:
        return dispatch_count_true(p, n)
    kept = owners(mask, mask)
    with nogil:
        n = dispatch_count_true(p, n)
    return n


cdef Numbers true_places(Tensor mask, const int64_t* steps):
    cdef Numbers x
    cdef int64_t sizes[64]
    cdef int d, ndim
    cdef char* p
    mask = mask.contiguous()
    x = new_numbers(count_true(mask))
    if x.n == 0:
        return x
    p, ndim = data_of(mask, 1), mask.c_ndim
    for d in range(ndim):
        sizes[d] = mask.c_sizes[d]
    if mask.c_numel < LONG_RUN:
        x.n = dispatch_true_places(x.data, x.n, p, ndim, sizes, steps)
        return x
    kept = owners(mask, mask)
    with nogil:
        x.n = dispatch_true_places(x.data, x.n, p, ndim, sizes, steps)
    return x


# ---- slices ------------------------------------------------------------------------------------

cdef int set_rest(dispatch_slices* s, Tensor indexed, Tensor dense, int dim) except -1:
    cdef int d, a = itemsize_of(indexed), b = itemsize_of(dense)
    s.outer.ndim = 0
    for d in range(indexed.c_ndim):
        if d != dim:
            add_rest(s, indexed.c_sizes[d], indexed.c_strides[d] * a, dense.c_strides[d] * b)
    s.dense = NULL
    s.step = dense.c_strides[dim] * b if 0 <= dim < dense.c_ndim else 0
    return 0


cdef inline void add_rest(dispatch_slices* s, int64_t size, int64_t indexed, int64_t dense) noexcept:
    s.outer.sizes[s.outer.ndim] = size
    s.outer.to[s.outer.ndim] = dense if s.reads else indexed
    s.outer.from_[s.outer.ndim] = indexed if s.reads else dense
    s.outer.ndim += 1


cdef struct Cut:                 # slices in parts: some of the places, or a piece of each slice
    const dispatch_slices* s
    int dim                      # of `outer`, then of `inner`; -1: the places are cut
    char* indexed
    char* dense
    dispatch_run each
    dispatch_spread spread
    int64_t low                  # BY_MEMORY: the first byte that is written

cdef enum:
    BY_MEMORY = -2               # a `dim`
    LONG_SLICE = 256             # elements


cdef void run_where(const Cut* j, dispatch_slices* s, int64_t first, int64_t end) noexcept nogil:
    """The slices that are written in these bytes from `low` on, in their order."""
    cdef const dispatch_slices* all = j.s
    cdef int64_t k
    s.n = 1
    for k in range(all.n):
        if first <= all.at[k] - j.low < end:
            s.at = all.at + k
            if all.dense != NULL:
                s.dense = all.dense + k
            dispatch_run_slices(s, j.indexed, j.dense + (0 if all.dense != NULL else k * all.step), j.each, j.spread)


cdef void run_cut(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    cdef Cut* j = <Cut*>context
    cdef dispatch_slices s = j.s[0]
    cdef dispatch_moves* m
    cdef char* indexed = j.indexed
    cdef char* dense = j.dense
    cdef int d = j.dim
    if d == BY_MEMORY:
        run_where(j, &s, first, end)
        return
    if d < 0:
        s.at, s.n = s.at + first, end - first
        if s.dense != NULL:
            s.dense += first
        else:
            dense += first * s.step
    else:
        m = &s.outer if d < s.outer.ndim else &s.inner
        d -= 0 if d < s.outer.ndim else s.outer.ndim
        m.sizes[d] = end - first
        indexed += first * (m.from_[d] if s.reads else m.to[d])
        dense += first * (m.to[d] if s.reads else m.from_[d])
    dispatch_run_slices(&s, indexed, dense, j.each, j.spread)


cdef int64_t cut(Cut* j) noexcept:
    """Chooses what is cut, and says how many of it there are: places may occur twice, so that only what is read is cut there."""
    cdef const dispatch_slices* s = j.s
    cdef const dispatch_moves* m
    cdef int64_t n = s.n if s.reads else 1
    cdef int d, k
    j.dim = -1
    for d in range(s.outer.ndim + s.inner.ndim):
        m = &s.outer if d < s.outer.ndim else &s.inner
        k = d if d < s.outer.ndim else d - s.outer.ndim
        if m.to[k] and m.sizes[k] > 4 * n:
            j.dim, n = d, m.sizes[k]
    return by_memory(j) if j.dim >= 0 and not s.reads else n


cdef int64_t by_memory(Cut* j) noexcept:
    """Long slices that lie one behind the other are cut where they lie, as what wrote them before was, if that makes halves."""
    cdef const dispatch_slices* s = j.s
    cdef int64_t k, below = 0, low = s.at[0], high = s.at[0], length = s.inner.sizes[0] if s.inner.ndim == 1 else 0
    if s.outer.ndim or length < LONG_SLICE or not 0 < s.inner.to[0] <= 16:
        return sizes_of(j)
    for k in range(s.n):
        low, high = min(low, s.at[k]), max(high, s.at[k])
    for k in range(s.n):
        below += s.at[k] - low < (high - low) // 2
    if not s.n // 3 < below < s.n - s.n // 3:
        return sizes_of(j)
    j.dim, j.low = BY_MEMORY, low
    return high - low + 1


cdef int64_t sizes_of(const Cut* j) noexcept:
    """Of the dimension that is cut."""
    cdef int d = j.dim
    return j.s.outer.sizes[d] if d < j.s.outer.ndim else j.s.inner.sizes[d - j.s.outer.ndim]


cdef int run(dispatch_slices* s, Tensor indexed, Tensor dense, Numbers at, dispatch_run each, dispatch_spread spread,
             int copied=0) except -1:
    cdef Cut j
    cdef int d
    cdef int64_t n = at.n, length, parts
    for d in range(s.outer.ndim):
        n *= s.outer.sizes[d]
    if n == 0:
        return 0
    s.n, s.at, s.copied = at.n, at.data, copied
    j.s, j.each, j.spread = s, each, spread
    j.indexed, j.dense = data_of(indexed, itemsize_of(indexed)), data_of(dense, itemsize_of(dense))
    dispatch_split(s)
    if n < LONG_RUN:
        dispatch_run_slices(s, j.indexed, j.dense, each, spread)
        return 0
    length = cut(&j)
    parts = parts_for(length, n * itemsize_of(indexed))
    kept = owners(indexed, dense)
    with nogil:
        in_spans(run_cut, &j, length, parts)
    return 0


cdef int read_slices(dispatch_slices* s, Tensor indexed, Tensor dense, Numbers at) except -1:
    cdef int size = itemsize_of(indexed)
    return run(s, indexed, dense, at, copier(size), dispatch_reader(size), size)


cdef int write_slices(dispatch_slices* s, Tensor indexed, Tensor dense, Numbers at) except -1:
    cdef int size = itemsize_of(indexed)
    return run(s, indexed, dense, at, copier(size), dispatch_writer(size), size)


cdef int find_reducer(Tensor t, Reduction op, dispatch_run* each, dispatch_spread* spread) except -1:
    if not dispatch_reducer(op, t.c_dtype, each, spread):
        raise unserved(dtypes.get_dtype(t.c_dtype))
    return 0


cdef int reduce_slices(dispatch_slices* s, Tensor indexed, Tensor dense, Numbers at, Reduction op) except -1:
    cdef dispatch_run each = NULL
    cdef dispatch_spread spread = NULL
    find_reducer(indexed, op, &each, &spread)
    return run(s, indexed, dense, at, each, spread)


cdef dispatch_run adder(Tensor t) except NULL:
    cdef dispatch_run each = NULL
    cdef dispatch_spread spread = NULL
    find_reducer(t, ADD, &each, &spread)
    return each


cdef int add_wide_slices(dispatch_slices* s, Tensor indexed, Tensor dense, Numbers at) except -1:
    cdef dispatch_run each = NULL
    cdef dispatch_spread spread = NULL
    dispatch_wide_adder(indexed.c_dtype, &each, &spread)
    return run(s, indexed, dense, at, each, spread)


# ---- along a dimension -------------------------------------------------------------------------

cdef int set_along(dispatch_along* w, Tensor indexed, Tensor dense, int dim, Tensor index) except -1:
    """`dense` None: its steps do not count."""
    cdef int d, best = 0, a = itemsize_of(indexed), c = itemsize_of(index), n = max(index.c_ndim, 1)
    w.ndim = n
    w.wide = index.c_dtype == ST_int64
    w.size = indexed.c_sizes[dim] if indexed.c_ndim else 1
    w.step = indexed.c_strides[dim] * a if indexed.c_ndim else 0
    for d in range(n):
        w.sizes[d] = index.c_sizes[d] if index.c_ndim else 1
        w.index[d] = index.c_strides[d] * c if index.c_ndim else 0
        w.indexed[d] = 0 if d == dim or not indexed.c_ndim else indexed.c_strides[d] * a
        w.dense[d] = dense.c_strides[d] * itemsize_of(dense) if dense is not None and dense.c_ndim else 0
    for d in range(n):                     # rows along the last dimension of any length
        if w.sizes[d] > 1:
            best = d
    for d in range(n):
        if w.sizes[d] > 16 * w.sizes[best]:
            best = d
    w.inner = best
    return 0


cdef int check_along(Tensor indexed, int dim, Tensor index, object error=RuntimeError) except -1:
    cdef dispatch_along w
    cdef int64_t wrong = 0
    cdef char* p = data_of(index, itemsize_of(index))
    cdef int found
    set_along(&w, indexed, None, dim, index)
    if index.c_numel < LONG_RUN:
        found = dispatch_walk_along(&w, p, NULL, NULL, NULL, &wrong)
    else:
        kept = owners(index, index)
        with nogil:
            found = dispatch_walk_along(&w, p, NULL, NULL, NULL, &wrong)
    return refuse_index(wrong, dim, w.size, error) if found else 0


cdef struct Walk:                # a walk in parts, each with some of the rows
    dispatch_along w
    int by                       # the dimension that is cut
    const char* index
    char* indexed
    char* dense
    dispatch_spread spread
    bint check, bad
    int64_t wrong


cdef void walk_part(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    cdef Walk* j = <Walk*>context
    cdef dispatch_along w = j.w
    cdef int64_t wrong = 0
    w.sizes[j.by] = end - first
    if dispatch_walk_along(&w, j.index + first * w.index[j.by], j.indexed + first * w.indexed[j.by],
                           j.dense + first * w.dense[j.by], j.spread, &wrong if j.check else NULL):
        j.wrong, j.bad = wrong, True


cdef int walk_along(Tensor indexed, Tensor dense, int dim, Tensor index, dispatch_spread spread, bint check=False,
                    bint reads=False, object error=RuntimeError) except -1:
    cdef Walk j
    cdef int d
    cdef int64_t parts = 1
    if index.c_numel == 0:
        return 0
    set_along(&j.w, indexed, dense, dim, index)
    if j.w.size == 0:
        return check_along(indexed, dim, index, error) if check else 0
    j.index, j.indexed = data_of(index, itemsize_of(index)), data_of(indexed, itemsize_of(indexed))
    j.dense, j.spread, j.bad, j.by = data_of(dense, itemsize_of(dense)), spread, False, 0
    j.check = check or index.c_numel >= LONG_RUN     # without the lock others may change indices
    for d in range(j.w.ndim):              # what is written along the dimension may meet
        if (d != dim or reads) and (j.by == dim and not reads or j.w.sizes[d] > 4 * j.w.sizes[j.by]):
            j.by = d
    if reads or j.by != dim:
        parts = parts_for(j.w.sizes[j.by], index.c_numel * (8 + itemsize_of(dense)))
    if index.c_numel < LONG_RUN:
        in_spans(walk_part, &j, j.w.sizes[j.by], 1)
    else:
        kept = owners(indexed, dense), owners(index, index)
        with nogil:
            in_spans(walk_part, &j, j.w.sizes[j.by], parts)
    return refuse_index(j.wrong, dim, j.w.size, error) if j.bad else 0


cdef enum:
    SLICE_LEAST = 8              # elements of a slice from which it is moved as one

cdef Numbers slices_along(dispatch_slices* s, bint reads, Tensor indexed, Tensor dense, int dim, Tensor index, bint check,
                          object error=RuntimeError):
    """The places of whole slices, where `index` says the same for all elements of one (it is a vector, expanded); else None."""
    cdef int d, a = itemsize_of(indexed), b = itemsize_of(dense)
    cdef int64_t i, wrong, many = 1
    cdef Numbers x
    for d in range(index.c_ndim):
        if d != dim:
            if index.c_sizes[d] > 1 and index.c_strides[d] != 0:
                return None
            many *= index.c_sizes[d]
    if index.c_ndim < 2 or many < SLICE_LEAST:
        return None
    x = read_numbers(new_view(index, 1, index.c_sizes + dim, index.c_strides + dim, index.c_offset), 1, index.c_sizes + dim)
    if check:
        wrong = dispatch_find_outside(x.data, x.n, 0, indexed.c_sizes[dim])
        if wrong < x.n:
            refuse_index(x.data[wrong], dim, indexed.c_sizes[dim], error)
    for i in range(x.n):
        x.data[i] *= indexed.c_strides[dim] * a
    s.reads, s.dense, s.step, s.outer.ndim = reads, NULL, dense.c_strides[dim] * b, 0
    for d in range(index.c_ndim):
        if d != dim:
            add_rest(s, index.c_sizes[d], indexed.c_strides[d] * a, dense.c_strides[d] * b)
    return x


cdef int refuse_index(int64_t wrong, int dim, int64_t size, object error) except -1:
    raise refused(f"index {wrong} is out of bounds for dimension {dim} with size {size}", error)


cdef int read_along(Tensor dense, Tensor indexed, int dim, Tensor index, object error=RuntimeError) except -1:
    cdef dispatch_slices s
    cdef Numbers places = slices_along(&s, True, indexed, dense, dim, index, True, error)
    if places is not None:
        return read_slices(&s, indexed, dense, places)
    return walk_along(indexed, dense, dim, index, dispatch_reader(itemsize_of(indexed)), True, True, error)


cdef int write_along(Tensor indexed, Tensor dense, int dim, Tensor index, bint check) except -1:
    cdef dispatch_slices s
    cdef Numbers places = slices_along(&s, False, indexed, dense, dim, index, check)
    if places is not None:
        return write_slices(&s, indexed, dense, places)
    return walk_along(indexed, dense, dim, index, dispatch_writer(itemsize_of(indexed)), check)


cdef int reduce_along(Tensor indexed, Tensor dense, int dim, Tensor index, Reduction op, bint check) except -1:
    cdef dispatch_run each = NULL
    cdef dispatch_spread spread = NULL
    cdef dispatch_slices s
    cdef Numbers places = slices_along(&s, False, indexed, dense, dim, index, check)
    find_reducer(indexed, op, &each, &spread)
    if places is not None:
        return run(&s, indexed, dense, places, each, spread)
    return walk_along(indexed, dense, dim, index, spread, check)
