"""Filling tensors with random numbers in PyTorch's order: element by element, as the output lies in memory.

Called by the operators of this family after their checks. `walk_of` sorts and merges the dimensions; `run` goes through them in
rows, makes values in pieces on the stack and casts them into place; a contiguous output of the values' own dtype is filled where
it is.
"""
from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport ST_float32, ST_float64
from dispatch._C.errors cimport refused
from dispatch._C.generator cimport borrow, generator_of, give_back, try_borrow
from dispatch._C.storage cimport shared_owner
from dispatch._C.tensor cimport data_of
from dispatch.kernels.cpu.casts cimport cast_loop, get_cast

cdef enum:
    PIECE = 512              # values on the stack
    WITHOUT_LOCK = 32768     # elements from which the interpreter's lock is given back

cdef struct Walk:
    int ndim
    int n_operands           # the output and what it is drawn for
    int64_t sizes[64]
    int64_t steps[3][64]     # bytes
    char* data[3]
    int codes[3]


cdef double to_scalar(int code, double value) noexcept nogil:
    cdef double rounded
    cdef char narrow[8]
    get_cast(ST_float64, code)(<char*>&value, 8, narrow, 8, 1)
    get_cast(code, ST_float64)(narrow, 8, <char*>&rounded, 8, 1)
    return rounded


# ---- order -------------------------------------------------------------------------------------


cdef int check_target(Tensor self) except -1:
    cdef int i
    for i in range(self.c_ndim):
        if self.c_strides[i] == 0 and self.c_sizes[i] > 1:
            raise refused(f"unsupported operation: self overlaps itself, got shape {list(self.shape)} with "
                          f"strides {list(self.stride())}; clone() it before the operation")
    return 0


cdef bint comes_before(Tensor out, int a, int b) noexcept:
    if out.c_strides[a] != out.c_strides[b]:
        return out.c_strides[a] < out.c_strides[b]
    return out.c_sizes[a] < out.c_sizes[b]


cdef int walk_of(Walk* w, tuple tensors) except -1:
    """Dimensions by the output's strides, the smallest first; those of size 1 left out, neighbours merged."""
    cdef Tensor out = <Tensor>tensors[0], t
    cdef int order[64]
    cdef int n = 0, i, j, k, itemsize
    cdef bint merged
    for i in range(out.c_ndim - 1, -1, -1):
        if out.c_sizes[i] == 1:
            continue
        j = n
        while j > 0 and comes_before(out, i, order[j - 1]):
            order[j] = order[j - 1]
            j -= 1
        order[j] = i
        n += 1
    w.n_operands = <int>len(tensors)
    w.ndim = 0
    for k in range(w.n_operands):
        t = <Tensor>tensors[k]
        w.codes[k] = t.c_dtype
        w.data[k] = data_of(t, dtypes.itemsize_table()[t.c_dtype])
    for j in range(n):
        merged = w.ndim > 0
        for k in range(w.n_operands):
            t = <Tensor>tensors[k]
            itemsize = dtypes.itemsize_table()[t.c_dtype]
            w.steps[k][w.ndim] = t.c_strides[order[j]] * itemsize
            if merged:
                merged = w.steps[k][w.ndim] == w.steps[k][w.ndim - 1] * w.sizes[w.ndim - 1]
        if merged:
            w.sizes[w.ndim - 1] *= out.c_sizes[order[j]]
        else:
            w.sizes[w.ndim] = out.c_sizes[order[j]]
            w.ndim += 1
    if w.ndim == 0:
        w.ndim = 1
        w.sizes[0] = 1
        for k in range(w.n_operands):
            w.steps[k][0] = 0
    return 0


# ---- draws -------------------------------------------------------------------------------------


cdef bint row(Walk* w, char** data, Mersenne* m, const Draw* d) noexcept nogil:
    cdef double values[PIECE]
    cdef double x[PIECE]
    cdef double y[PIECE]
    cdef char* out = data[0]
    cdef const char* first = data[1]
    cdef const char* second = data[2]
    cdef int64_t left = w.sizes[0], step = w.steps[0][0], n
    cdef int size = 4 if d.values == ST_float32 else 8
    cdef bint in_place = d.values == d.code and step == size
    cdef cast_loop put = get_cast(d.values, d.code)
    while left:
        n = left if left < PIECE else PIECE
        if w.n_operands > 1:
            get_cast(w.codes[1], ST_float64)(first, w.steps[1][0], <char*>x, 8, n)
            first += n * w.steps[1][0]
        if w.n_operands > 2:
            get_cast(w.codes[2], ST_float64)(second, w.steps[2][0], <char*>y, 8, n)
            second += n * w.steps[2][0]
        if d.make(m, d, out if in_place else <void*>values, x, y, n):
            return True
        if not in_place:
            put(<char*>values, size, out, step, n)
        out += n * step
        left -= n
    return False


cdef bint run(Walk* w, Mersenne* m, const Draw* d) noexcept nogil:
    cdef int64_t at[64]
    cdef char* data[3]
    cdef int i, k
    for k in range(3):
        data[k] = w.data[k] if k < w.n_operands else NULL
    for i in range(w.ndim):
        at[i] = 0
    while True:
        if row(w, data, m, d):
            return True
        i = 1
        while i < w.ndim:
            at[i] += 1
            for k in range(w.n_operands):
                data[k] += w.steps[k][i]
            if at[i] < w.sizes[i]:
                break
            for k in range(w.n_operands):
                data[k] -= w.steps[k][i] * w.sizes[i]
            at[i] = 0
            i += 1
        if i >= w.ndim:
            return False


cdef int fill(Tensor out, object generator, Draw* d, Tensor x=None, Tensor y=None) except -1:
    cdef Walk w
    cdef Mersenne* m
    cdef bint bad
    cdef Generator g = generator_of(generator)
    cdef tuple tensors = (out,) if x is None else (out, x) if y is None else (out, x, y)
    if not out.c_numel:
        return 0
    d.code = out.c_dtype
    walk_of(&w, tensors)
    if out.c_numel < WITHOUT_LOCK and try_borrow(g):
        bad = run(&w, &g.engine, d)
        give_back(g)
        return bad
    kept = [shared_owner((<Tensor>t).c_storage) for t in tensors]
    m = borrow(g)
    with nogil:
        bad = run(&w, m, d)
        give_back(g)
    return bad
