"""How an elementwise loop is run over tensors.

The short way: all operands have the loop's dtypes and lie contiguously, or have one element. Otherwise operands that share
memory with an output in another order are copied first, single elements are converted, dimensions are sorted by the output's
strides and joined, and the innermost one goes through the loop: at once, or in blocks that are converted into buffers, computed
and converted back; loops of 16-bit floats convert what they load themselves. From a number of elements on the interpreter's lock is
given up and what owns the memory is held; from a number of bytes on the largest dimension is split over threads.
"""
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint64_t
from libc.string cimport memcpy, memset

import numpy

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport (
    DEV_CPU, DTYPES_FLOAT8, DTYPES_REDUCED_FLOATING, FLOAT_LIMITS, ST_bfloat16, ST_bool, ST_complex32, ST_complex64,
    ST_complex128, ST_float16, ST_float32, ST_float64, ST_int64, ST_uint64, is_complex_code, is_floating_code, is_in,
)
from dispatch._C.errors cimport refused
from dispatch._C.errors import unserved
from dispatch._C.geometry cimport TF_CONTIGUOUS
from dispatch._C.storage cimport shared_owner
from dispatch._C.tensor cimport data_of, new_empty
from dispatch.kernels.cpu.casts cimport cast_loop, get_cast
from dispatch.kernels.cpu.copy.strided cimport copier, dispatch_moves, move
from dispatch.kernels.cpu.overlap cimport apart
from dispatch.kernels.cpu.threads cimport dim_to_cut, in_parts, threads_for

cdef extern from "short_rows.h" nogil:
    bint run_short_rows(inner_loop loop, void* data, char** pointers, const Py_ssize_t* by, const Py_ssize_t* steps,
                        const int* sizes, const int* given, int n_in, int n, int64_t rows, int64_t count, bint of_halves,
                        void** first, void** second)

cdef extern from "numpy/ndarraytypes.h":      # what the other header is made of
    pass

cdef extern from "numpy/ufuncobject.h":
    ctypedef struct PyUFuncObject:
        int nin, nout, nargs, ntypes
        inner_loop* functions
        void** data
        const char* types

cdef enum:
    LONG_RUN = 1 << 15           # elements from which the interpreter's lock is given up
    BLOCK = 512                  # elements that are converted at once
    SHORT_ROW = 128              # a dimension up to which a row that is broadcast is repeated
    PARTS_OF_A_THREAD = 4
    LONG_STEP = 16               # elements of a dimension from which what lies apart is brought together first
    WIDEST = 16                  # bytes of the largest element
    TILE_ROWS = 16               # of operands that lie in another order: so many or more are brought at once, in so many bytes
    TILE_BYTES = 1 << 15
    MAX_TURNED = 3               # operands of that kind


# ---- dtypes ------------------------------------------------------------------------------------------------------------------

cdef inline int widened(int code) noexcept nogil:
    """What a narrow dtype is computed in."""
    if is_in(DTYPES_REDUCED_FLOATING | DTYPES_FLOAT8, code):
        return ST_float32
    return ST_complex64 if code == ST_complex32 else code


cdef inline int part_of(int code) noexcept nogil:
    if code == ST_complex64:
        return ST_float32
    if code == ST_complex128:
        return ST_float64
    return ST_float16 if code == ST_complex32 else code


cdef inline int dtype_at(formula* f, int k, int code) noexcept nogil:
    """The dtype of operand k for a dtype of computation."""
    cdef int kind = f.dtypes[k]
    if kind == OF_COMPUTE:
        return code
    return part_of(code) if kind == OF_REAL else kind


cdef int raise_missing(int code) except -1:
    raise unserved(dtypes.get_dtype(code))


# ---- memory ------------------------------------------------------------------------------------------------------------------

cdef Tensor copied(Tensor t):
    """The same values in memory of their own."""
    cdef Tensor copy = new_empty(t.c_dtype, DEV_CPU, -1, t.c_ndim, t.c_sizes, NULL)
    cdef Walk w
    cdef int i
    w.n, w.n_in = 2, 1
    w.in_blocks = w.of_halves = False
    w.ndim = t.c_ndim
    w.loop, w.data = copy_loop, <void*>get_cast(t.c_dtype, t.c_dtype)
    for i in range(t.c_ndim):
        w.sizes[i] = t.c_sizes[i]
    enter(&w, 0, t)
    enter(&w, 1, copy)
    simplify(&w)
    run_walk(&w)
    return copy


cdef void copy_loop(char** pointers, const Py_ssize_t* count, const Py_ssize_t* steps, void* data) noexcept nogil:
    (<cast_loop>data)(pointers[0], steps[0], pointers[1], steps[1], count[0])


# ---- the short way -----------------------------------------------------------------------------------------------------------

cdef int run(formula* f, int code, PyObject** operands, number* numbers) except -1:
    cdef char* pointers[MAX_OPERANDS]
    cdef Py_ssize_t steps[MAX_OPERANDS]
    cdef number singles[MAX_OPERANDS]
    cdef int n_in = f.n_in, n = n_in + f.n_out, k, wide = code, wanted, itemsize
    cdef const uint8_t* itemsizes = dtypes.itemsize_table()
    cdef PyObject* t
    cdef Py_ssize_t numel = (<Tensor>operands[n_in if f.n_out else 0]).c_numel
    cdef inner_loop loop = f.loops[code], half = NULL
    cdef void* data
    cdef bint exact
    if is_in(f.narrow, code):
        wide = widened(code)
        exact = f.exact >= 0 and (<Tensor>operands[f.exact]).c_numel == 1
        if loop != NULL and not exact:
            return run_any(f, loop, f.data[code], code, wide, operands, numbers)
        if is_in(DTYPES_REDUCED_FLOATING, code):
            half = f.halves[code == ST_bfloat16]
        if half == NULL:
            return run_any(f, f.loops[wide], f.data[wide], code, wide, operands, numbers)
        if exact:
            return run_any(f, half, NULL, code, code, operands, numbers)
        loop = half
    if loop == NULL:
        raise_missing(code)
    data = f.data[code]
    for k in range(n):
        t = operands[k]            # borrowed: counting each operand would cost as much as what is asked here
        wanted = dtype_at(f, k, code)
        itemsize = itemsizes[wanted]
        if not (<Tensor>t).c_flags & TF_CONTIGUOUS:
            return run_any(f, loop, data, code, code, operands, numbers)
        if (<Tensor>t).c_numel == numel:
            steps[k] = itemsize
        elif (<Tensor>t).c_numel == 1 and k < n_in and half == NULL:
            steps[k] = 0
        else:
            return run_any(f, loop, data, code, code, operands, numbers)
        pointers[k] = data_of(<Tensor>t, itemsizes[(<Tensor>t).c_dtype])
        if (<Tensor>t).c_dtype != wanted:
            if (<Tensor>t).c_numel != 1 or k >= n_in or half != NULL:
                return run_any(f, loop, data, code, code, operands, numbers)
            get_cast((<Tensor>t).c_dtype, wanted)(pointers[k], 0, <char*>&singles[k], 0, 1)
            pointers[k] = <char*>&singles[k]
            steps[k] = 0
        elif <size_t>pointers[k] & ((itemsize if itemsize < 8 else 8) - 1):
            return run_any(f, loop, data, code, code, operands, numbers)
        elif k >= n_in and not all_apart(t, operands, n_in):
            return run_any(f, loop, data, code, code, operands, numbers)
    if numel >= LONG_RUN:
        return run_any(f, loop, data, code, code, operands, numbers)
    if numel:
        loop(pointers, &numel, steps, <void*>numbers if data == NULL else data)
    return 0


cdef inline bint all_apart(PyObject* out, PyObject** operands, int n_in) noexcept:
    cdef int k
    for k in range(n_in):
        if out != operands[k] and not apart(<Tensor>out, <Tensor>operands[k]):
            return False
    return True


# ---- any operands ------------------------------------------------------------------------------------------------------------

cdef struct Walk:                # what is to be done: pointers, steps in bytes; operands first, then outputs
    inner_loop loop
    void* data
    int n, n_in
    int ndim
    bint in_blocks               # something is converted
    bint of_halves               # the loop converts 16-bit floats; operands that stand still are float32
    char* pointers[MAX_OPERANDS]
    int64_t sizes[64]
    Py_ssize_t steps[64][MAX_OPERANDS]
    # Conversions, NULL for none: of an operand before the loop, of an output after it; the second after the first, by way of
    # elements of `middle` bytes.
    cast_loop first[MAX_OPERANDS]
    cast_loop second[MAX_OPERANDS]
    int middle[MAX_OPERANDS]
    int given_sizes[MAX_OPERANDS]    # bytes of an element where it lies
    int itemsizes[MAX_OPERANDS]  # in the loop
    cast_loop copies[MAX_OPERANDS]   # of its elements in the loop
    int same[MAX_OPERANDS]       # an operand before it that is converted alike from the same elements; -1: none
    number singles[MAX_OPERANDS]


cdef int run_any(formula* f, inner_loop loop, void* data, int code, int wide, PyObject** operands, number* numbers) except -1:
    """By a loop whose operands are of the dtype `wide`, for results rounded to `code`. `data`: what it reads; NULL: the numbers."""
    cdef Walk w
    cdef int k, i, n_in = f.n_in, n = n_in + f.n_out
    cdef int64_t numel, nbytes = 0
    cdef Tensor t, out
    cdef list kept = []
    cdef Tensor shape = <Tensor>operands[n_in if f.n_out else 0]
    numel = shape.c_numel
    if numel == 0:
        return 0
    w.loop = loop
    w.data = data if data != NULL else <void*>numbers
    w.of_halves = code == wide and is_in(DTYPES_REDUCED_FLOATING & f.narrow, code)
    w.n, w.n_in = n, n_in
    w.ndim = shape.c_ndim
    w.in_blocks = False
    for i in range(w.ndim):
        w.sizes[i] = shape.c_sizes[i]
    for k in range(n):
        t = <Tensor>operands[k]
        if k < n_in:
            for i in range(n_in, n):
                out = <Tensor>operands[i]
                if out is not t and t.c_numel and not apart(out, t):
                    t = copied(t)
                    kept.append(t)
                    break
        if numel >= LONG_RUN:
            kept.append(shared_owner(t.c_storage))
        enter(&w, k, t)
        if w.of_halves and k < n_in and t.c_numel == 1:
            convert(&w, k, t, dtype_at(f, k, code), dtype_at(f, k, ST_float32), k == f.exact)
        else:
            convert(&w, k, t, dtype_at(f, k, code), dtype_at(f, k, wide), k == f.exact and code != ST_complex32)
        nbytes += numel * w.itemsizes[k]
    if w.in_blocks:
        for k in range(n):
            w.same[k] = same_elements(&w, k)
    simplify(&w)
    if w.of_halves:
        widen_still(&w, code)
    if numel < LONG_RUN:
        run_whole(&w, 1)
        return 0
    with nogil:
        run_whole(&w, threads_for(nbytes))
    return 0


cdef void run_whole(Walk* w, int parts) noexcept nogil:
    cdef int64_t repeats = repeats_of(w)
    if repeats > 1:
        run_repeated(w, repeats, parts)
        return
    gather(w)
    run_split(w, parts)


cdef int enter(Walk* w, int k, Tensor t) except -1:
    """Pointer and steps of operand k along the output's dimensions; 0 where it is broadcast."""
    cdef int d, lead = w.ndim - t.c_ndim, itemsize = dtypes.itemsize_table()[t.c_dtype]
    w.pointers[k] = data_of(t, itemsize)
    w.first[k] = w.second[k] = NULL
    w.copies[k] = get_cast(t.c_dtype, t.c_dtype)
    w.itemsizes[k] = w.given_sizes[k] = itemsize
    for d in range(w.ndim):
        if d < lead or t.c_sizes[d - lead] == 1:
            w.steps[d][k] = 0
        else:
            w.steps[d][k] = t.c_strides[d - lead] * itemsize
    return 0


cdef void convert(Walk* w, int k, Tensor t, int value, int wide, bint exact) noexcept:
    """How operand k comes to the loop's dtype `wide` by way of `value`, the dtype that it is rounded to; an output the reverse."""
    cdef int start = t.c_dtype, d
    cdef size_t alignment = (w.itemsizes[k] if w.itemsizes[k] < 8 else 8) - 1
    cdef size_t bits = <size_t>w.pointers[k]
    cdef bint single = k < w.n_in and t.c_numel == 1
    cdef char middle[WIDEST]
    cdef cast_loop before, after = NULL
    if exact and single:
        value = wide
    if value == start:
        value = wide
    for d in range(w.ndim):
        bits |= <size_t>w.steps[d][k]
    if start == wide and value == wide and not bits & alignment:
        return
    if k < w.n_in:
        before = get_cast(start, value)
        if value != wide:
            after = get_cast(value, wide)
    else:
        before = get_cast(wide, value if value != wide else start)
        if value != wide:
            after = get_cast(value, start)
    w.itemsizes[k] = dtypes.itemsize_table()[wide]
    w.copies[k] = get_cast(wide, wide)
    if single:
        if after == NULL:
            before(w.pointers[k], 0, <char*>&w.singles[k], 0, 1)
        else:
            before(w.pointers[k], 0, middle, 0, 1)
            after(middle, 0, <char*>&w.singles[k], 0, 1)
        w.pointers[k] = <char*>&w.singles[k]
        return
    w.first[k], w.second[k] = before, after
    w.middle[k] = dtypes.itemsize_table()[value]
    w.in_blocks = True


cdef int same_elements(Walk* w, int k) noexcept:
    cdef int d, other
    cdef bint equal
    if k >= w.n_in or w.first[k] == NULL:
        return -1
    for other in range(k):
        equal = (w.pointers[other] == w.pointers[k] and w.first[other] == w.first[k] and w.second[other] == w.second[k]
                 and w.middle[other] == w.middle[k])
        for d in range(w.ndim):
            equal = equal and w.steps[d][other] == w.steps[d][k]
        if equal:
            return other
    return -1


cdef void simplify(Walk* w) noexcept nogil:
    """Dimensions of size 1 out, the output's smallest step innermost, runs of dimensions joined."""
    cdef int d, e, k, last = w.n - 1
    cdef bint joined
    e = 0
    for d in range(w.ndim):
        if w.sizes[d] != 1:
            move_dim(w, d, e)
            e += 1
    w.ndim = e
    for d in range(1, w.ndim):                           # insertion sort, the largest step outside
        e = d
        while e > 0 and is_inside(w, e - 1, e, last):
            swap_dims(w, e - 1, e)
            e -= 1
    e = 0
    for d in range(1, w.ndim):
        joined = True
        for k in range(w.n):
            joined = joined and w.steps[e][k] == w.steps[d][k] * w.sizes[d]
        if joined:
            w.sizes[d] *= w.sizes[e]
        else:
            e += 1
        move_dim(w, d, e)
    if w.ndim:
        w.ndim = e + 1


cdef inline bint is_inside(Walk* w, int a, int b, int last) noexcept nogil:
    """Whether dimension a, which lies outside b, should lie inside it."""
    cdef Py_ssize_t x = w.steps[a][last], y = w.steps[b][last]
    return (x if x >= 0 else -x) < (y if y >= 0 else -y)


cdef inline void move_dim(Walk* w, int from_, int to) noexcept nogil:
    cdef int k
    w.sizes[to] = w.sizes[from_]
    for k in range(w.n):
        w.steps[to][k] = w.steps[from_][k]


cdef inline void swap_dims(Walk* w, int a, int b) noexcept nogil:
    cdef int k
    w.sizes[a], w.sizes[b] = w.sizes[b], w.sizes[a]
    for k in range(w.n):
        w.steps[a][k], w.steps[b][k] = w.steps[b][k], w.steps[a][k]


cdef void widen_still(Walk* w, int code) noexcept:
    """What stands still along the innermost dimension becomes a float32, as single elements are already."""
    cdef int k
    for k in range(w.n_in):
        if w.ndim == 0 or w.steps[w.ndim - 1][k] != 0 or w.itemsizes[k] != sizeof(uint16_t):
            continue
        if w.first[k] == NULL:
            w.first[k] = get_cast(code, ST_float32)
        else:
            w.second[k], w.middle[k] = get_cast(code, ST_float32), w.itemsizes[k]
        w.itemsizes[k] = sizeof(float)
        w.same[k] = -1
        w.in_blocks = True


cdef void gather(Walk* w) noexcept nogil:
    """Elements of a long innermost dimension that lie apart go through blocks: loops are for those without gaps."""
    cdef int k, inner = w.ndim - 1
    if w.ndim == 0 or w.sizes[inner] < LONG_STEP:
        return
    for k in range(w.n):
        if w.first[k] == NULL and w.steps[inner][k] != 0 and w.steps[inner][k] != w.itemsizes[k]:
            w.first[k] = w.copies[k]
            w.same[k] = -1
            w.in_blocks = True


# ---- short rows that are broadcast -------------------------------------------------------------------------------------------

cdef int64_t repeats_of(Walk* w) noexcept nogil:
    """How often the innermost dimension is repeated to be long: 1, unless it is short, and joins the next one but for operands that
    are one row of it."""
    cdef int inner = w.ndim - 1, k, d
    if w.ndim < 2 or w.sizes[inner] > SHORT_ROW or w.sizes[inner - 1] < 4:
        return 1
    for k in range(w.n):
        if w.steps[inner - 1][k] == w.steps[inner][k] * w.sizes[inner]:
            continue
        if k >= w.n_in:
            return 1
        for d in range(inner):
            if w.steps[d][k] != 0:
                return 1
    return min(w.sizes[inner - 1], BLOCK // w.sizes[inner])


cdef void run_repeated(Walk* w, int64_t repeats, int parts) noexcept nogil:
    """With such operands written out `repeats` times, so that the loop has many elements at once."""
    cdef number rooms[MAX_OPERANDS][BLOCK]
    cdef number middle[SHORT_ROW]
    cdef Walk rest
    cdef int inner = w.ndim - 1, k
    cdef int64_t n = w.sizes[inner], whole = w.sizes[inner - 1] // repeats, left = w.sizes[inner - 1] - whole * repeats, i
    cdef Py_ssize_t size
    cdef char* room
    for k in range(w.n):
        if w.steps[inner - 1][k] == w.steps[inner][k] * n:
            w.steps[inner - 1][k] *= repeats
            continue
        size, room = w.itemsizes[k], <char*>rooms[k]
        if w.first[k] == NULL:
            w.copies[k](w.pointers[k], w.steps[inner][k], room, size, n)
        else:
            bring(w, k, w.pointers[k], w.steps[inner][k], room, <char*>middle, n)
        for i in range(1, repeats):
            memcpy(room + i * n * size, room, n * size)
        w.pointers[k], w.steps[inner][k] = room, size
        w.first[k] = w.second[k] = NULL
    w.sizes[inner], w.sizes[inner - 1] = repeats * n, whole
    memcpy(&rest, w, sizeof(Walk))
    run_split(w, parts)
    if left:
        for k in range(w.n):
            rest.pointers[k] += whole * rest.steps[inner - 1][k]
        rest.sizes[inner], rest.sizes[inner - 1] = left * n, 1
        run_walk(&rest)


# ---- the walk ----------------------------------------------------------------------------------------------------------------

cdef void run_walk(Walk* w) noexcept nogil:
    """Where operands lie in another order, by tiles of two dimensions."""
    cdef Turned turned
    if w.ndim > 1 and find_turned(w, &turned):
        run_tiles(w, &turned)
    else:
        run_in_order(w)


cdef void run_in_order(Walk* w) noexcept nogil:
    """The innermost dimension in one go, rows of it one after the other, the dimensions around them counted up."""
    cdef int64_t at[64]
    cdef int d, k, inner = w.ndim - 1
    cdef Py_ssize_t steps[MAX_OPERANDS]
    if w.ndim == 0:
        for k in range(w.n):
            steps[k] = 0
        run_inner(w, w.pointers, 1, steps)
        return
    if inner == 0:
        run_inner(w, w.pointers, w.sizes[0], w.steps[0])
        return
    for d in range(inner):
        at[d] = 0
    while True:
        if not run_short_rows(w.loop, w.data, w.pointers, w.steps[inner - 1], w.steps[inner], w.itemsizes, w.given_sizes, w.n_in,
                              w.n, w.sizes[inner - 1], w.sizes[inner], w.of_halves,
                              <void**>w.first if w.in_blocks else NULL, <void**>w.second):
            run_rows(w, w.sizes[inner - 1], w.steps[inner - 1], w.sizes[inner], w.steps[inner])
        if not advance(w, at, inner - 2):
            return


cdef inline bint advance(Walk* w, int64_t* at, int d) noexcept nogil:
    """Count up from dimension d outwards; False: there is no further place."""
    cdef int k
    while d >= 0:
        at[d] += 1
        for k in range(w.n):
            w.pointers[k] += w.steps[d][k]
        if at[d] < w.sizes[d]:
            return True
        for k in range(w.n):
            w.pointers[k] -= w.steps[d][k] * w.sizes[d]
        at[d] = 0
        d -= 1
    return False


cdef inline void run_rows(Walk* w, int64_t rows, const Py_ssize_t* by, Py_ssize_t count, Py_ssize_t* steps) noexcept nogil:
    """Rows are often short: little may be done for each."""
    cdef char* pointers[MAX_OPERANDS]
    cdef int64_t i
    cdef int k, n = w.n
    for i in range(rows):
        for k in range(n):
            pointers[k] = w.pointers[k] + i * by[k]
        run_inner(w, pointers, count, steps)


# ---- operands in another order -----------------------------------------------------------------------------------------------

cdef struct Turned:
    int dim, n                   # along which they lie closest; how many operands
    int operands[MAX_TURNED]


cdef bint find_turned(Walk* w, Turned* turned) noexcept nogil:
    """Operands whose neighbours along another dimension than the innermost one lie without gaps."""
    cdef int k, d, inner = w.ndim - 1
    turned.n = 0
    if w.sizes[inner] < LONG_STEP:
        return False
    for k in range(w.n_in):
        if -64 < w.steps[inner][k] < 64 or turned.n == MAX_TURNED:
            continue
        for d in range(inner):
            if w.steps[d][k] == w.given_sizes[k] and w.sizes[d] >= LONG_STEP and (turned.n == 0 or turned.dim == d):
                turned.dim, turned.operands[turned.n] = d, k
                turned.n += 1
                break
    return turned.n > 0


cdef void run_tiles(Walk* w, Turned* turned) noexcept nogil:
    """Such operands' elements are turned round into buffers, a tile of rows and columns at once; its rows go as any others."""
    cdef char buffers[MAX_TURNED][TILE_BYTES]
    cdef Walk tile
    cdef int64_t at[64]
    cdef int last = w.ndim - 2, inner = w.ndim - 1, d, i, k, widest = 1
    cdef int64_t cols
    for d in range(turned.dim, last):
        swap_dims(w, d, d + 1)
    memcpy(&tile, w, sizeof(Walk))
    tile.ndim, tile.in_blocks = 2, False
    move_dim(&tile, last, 0)
    move_dim(&tile, inner, 1)
    for i in range(turned.n):
        k = turned.operands[i]
        widest = max(widest, w.given_sizes[k])
        if tile.first[k] == tile.copies[k] and tile.second[k] == NULL:
            tile.first[k] = NULL
        tile.steps[1][k] = w.given_sizes[k]
    cols = min(w.sizes[inner], TILE_BYTES // (TILE_ROWS * widest))
    for k in range(w.n):
        tile.in_blocks = tile.in_blocks or tile.first[k] != NULL
    memset(at, 0, sizeof(at))
    while True:
        run_plane(w, turned, &tile, TILE_BYTES // (cols * widest), cols, buffers)
        if not advance(w, at, last - 1):
            return


cdef void run_plane(Walk* w, Turned* turned, Walk* tile, int64_t rows, int64_t cols, char (*buffers)[TILE_BYTES]) noexcept nogil:
    """Tile after tile; at once, where the rows of every operand follow on each other."""
    cdef dispatch_moves m
    cdef int last = w.ndim - 2, inner = w.ndim - 1, i, k
    cdef int64_t row = 0, col
    cdef bint follow
    while row < w.sizes[last]:
        tile.sizes[0] = min(rows, w.sizes[last] - row)
        col = 0
        while col < w.sizes[inner]:
            tile.sizes[1] = min(cols, w.sizes[inner] - col)
            for k in range(w.n):
                tile.pointers[k] = w.pointers[k] + row * w.steps[last][k] + col * w.steps[inner][k]
            for i in range(turned.n):
                k = turned.operands[i]
                m.ndim = 2
                m.sizes[0], m.sizes[1] = tile.sizes[0], tile.sizes[1]
                m.from_[0], m.from_[1] = w.steps[last][k], w.steps[inner][k]
                m.to[0], m.to[1] = tile.sizes[1] * w.given_sizes[k], w.given_sizes[k]
                tile.steps[0][k] = m.to[0]
                move(&m, buffers[i], tile.pointers[k], copier(w.given_sizes[k]))
                tile.pointers[k] = buffers[i]
            follow = True
            for k in range(w.n):
                follow = follow and tile.steps[0][k] == tile.steps[1][k] * tile.sizes[1]
            if follow:
                run_inner(tile, tile.pointers, tile.sizes[0] * tile.sizes[1], tile.steps[1])
            else:
                run_in_order(tile)
            col += cols
        row += rows


cdef inline void run_inner(Walk* w, char** pointers, Py_ssize_t count, Py_ssize_t* steps) noexcept nogil:
    if w.in_blocks:
        run_blocks(w, pointers, count, steps)
    else:
        w.loop(pointers, &count, steps, w.data)


cdef inline bint stands_still(Walk* w, int k, Py_ssize_t* steps) noexcept nogil:
    """Whether an operand that is converted is one element for a loop that has a way for that."""
    return (k < w.n_in and steps[k] == 0 and w.first[k] != NULL
            and (w.of_halves or 2 <= w.n_in <= 3 and (k == 0 or k == w.n_in - 1)))


cdef inline void bring(Walk* w, int k, char* from_, Py_ssize_t step, char* to, char* middle, Py_ssize_t n) noexcept nogil:
    """n elements of operand k as the loop takes them."""
    if w.second[k] == NULL:
        w.first[k](from_, step, to, w.itemsizes[k], n)
    else:
        w.first[k](from_, step, middle, w.middle[k], n)
        w.second[k](middle, w.middle[k], to, w.itemsizes[k], n)


cdef void run_blocks(Walk* w, char** pointers, Py_ssize_t count, Py_ssize_t* steps) noexcept nogil:
    """Through buffers, for operands and outputs that are converted."""
    cdef char buffers[MAX_OPERANDS][BLOCK * WIDEST]
    cdef char middle[BLOCK * WIDEST]
    cdef char* used[MAX_OPERANDS]
    cdef Py_ssize_t used_steps[MAX_OPERANDS]
    cdef Py_ssize_t start = 0, n
    cdef int k
    for k in range(w.n):
        used_steps[k] = steps[k] if w.first[k] == NULL else w.itemsizes[k]
        if stands_still(w, k, steps):
            bring(w, k, pointers[k], 0, buffers[k], middle, 1)
            used_steps[k] = 0
    while start < count:
        n = count - start if count - start < BLOCK else BLOCK
        for k in range(w.n):
            used[k] = pointers[k] + start * steps[k]
            if w.first[k] == NULL:
                continue
            if w.same[k] >= 0:
                used[k] = used[w.same[k]]
                continue
            if k < w.n_in and used_steps[k]:
                bring(w, k, used[k], steps[k], buffers[k], middle, n)
            used[k] = buffers[k]
        w.loop(used, &n, used_steps, w.data)
        for k in range(w.n_in, w.n):
            if w.first[k] == NULL:
                continue
            used[k] = pointers[k] + start * steps[k]
            if w.second[k] == NULL:
                w.first[k](buffers[k], w.itemsizes[k], used[k], steps[k], n)
            else:
                w.first[k](buffers[k], w.itemsizes[k], middle, w.middle[k], n)
                w.second[k](middle, w.middle[k], used[k], steps[k], n)
        start += n


# ---- threads -----------------------------------------------------------------------------------------------------------------

cdef struct Split:
    Walk* walk
    int dim
    int64_t length, parts


cdef void run_split(Walk* w, int parts) noexcept nogil:
    """A dimension in parts: more than there are threads, for one of them may come late."""
    cdef Split s
    if parts < 2:
        run_walk(w)
        return
    s.walk, s.dim = w, dim_to_cut(w.sizes, w.ndim, parts)
    parts *= PARTS_OF_A_THREAD
    s.length = (w.sizes[s.dim] + parts - 1) // parts
    if s.dim == w.ndim - 1:
        s.length = (s.length + 63) // 64 * 64            # two threads do not write to one cache line
    s.parts = (w.sizes[s.dim] + s.length - 1) // s.length
    in_parts(run_part, &s, s.parts)


cdef void run_part(void* context, int64_t part) noexcept nogil:
    cdef Split* s = <Split*>context
    cdef Walk w
    cdef int64_t first = part * s.length, left
    cdef int k
    memcpy(&w, s.walk, sizeof(Walk))
    left = w.sizes[s.dim] - first
    w.sizes[s.dim] = s.length if s.length < left else left
    for k in range(w.n):
        w.pointers[k] += first * w.steps[s.dim][k]
    run_walk(&w)


# ---- checks ------------------------------------------------------------------------------------------------------------------

cdef int check(formula* f, int code, PyObject** operands, str text) except -1:
    cdef number fault
    if f.loops[code] == NULL:
        return 0
    fault.i64 = 0
    run(f, code, operands, &fault)
    if fault.i64:
        raise refused(text)
    return 0


# ---- numbers -----------------------------------------------------------------------------------------------------------------

cdef int load_scalar(number* to, object value, int code, str name, int way) except -1:
    cdef int wide = widened(code), own
    cdef number given, middle
    if type(value) is float and is_in(1 << ST_float64 | 1 << ST_float32, code):
        if code == ST_float64:
            to.f64 = value
            return 0
        if -3e38 < <double>value < 3e38:
            to.f32 = <float><double>value
            return 0
    if way != WRAPPED:
        check_fits(value, wide if way == EXACT else code, name)
    own = hold(&given, value)
    if way != EXACT and wide != code:
        get_cast(own, code)(<char*>&given, 0, <char*>&middle, 0, 1)
        get_cast(code, wide)(<char*>&middle, 0, <char*>to, 0, 1)
    else:
        get_cast(own, wide)(<char*>&given, 0, <char*>to, 0, 1)
    return 0


cdef int hold(number* to, object value) except -1:
    """A Python number as an element of the dtype that is returned."""
    cdef double complex z
    if isinstance(value, complex):
        z = value
        memcpy(to, &z, sizeof(z))
        return ST_complex128
    if isinstance(value, float):
        to.f64 = value
        return ST_float64
    if -(1 << 63) <= value < 1 << 63:
        to.i64 = value
        return ST_int64
    if 0 <= value < 1 << 64:
        to.i64 = <int64_t><uint64_t>value
        return ST_uint64
    to.f64 = float(value)
    return ST_float64


cdef double largest(int code) noexcept:
    cdef int i = 0
    while FLOAT_LIMITS[i].code != code:
        i += 1
    return FLOAT_LIMITS[i].max


cdef int check_fits(object value, int code, str name) except -1:
    """c10's checked conversion of a number; RuntimeError."""
    cdef bint fits
    if isinstance(value, complex) or is_complex_code(code) or code == ST_bool:
        fits = is_complex_code(code) or not isinstance(value, complex)
    elif is_floating_code(code):
        fits = value != value or value in (float("inf"), float("-inf")) or abs(value) <= largest(code)
    else:
        limits = numpy.iinfo(dtypes.numpy_descr(code))
        low = limits.min if isinstance(value, float) or limits.min else -limits.max
        fits = low <= value <= limits.max
    if not fits:
        raise refused(f"{name} {value} does not fit in {dtypes.get_dtype(code)!r}")
    return 0


# ---- numpy's loops -----------------------------------------------------------------------------------------------------------

cdef int take_loop(formula* f, int code, str ufunc) except -1:
    """The loop from operands of the dtype to the same, or to bool."""
    cdef PyUFuncObject* u
    cdef int i, k, num = dtypes.numpy_descr(code).num
    cdef const char* types
    cdef bint fits
    call = getattr(numpy, ufunc)
    u = <PyUFuncObject*><void*>call
    for i in range(u.ntypes):
        types = u.types + i * u.nargs
        fits = u.functions != NULL and u.functions[i] != NULL
        for k in range(u.nin):
            fits = fits and types[k] == num
        if fits and (types[u.nin] == num or types[u.nin] == 0):
            f.loops[code], f.data[code] = u.functions[i], u.data[i]
            return 0
    raise ImportError(f"numpy.{ufunc} has no loop for {dtypes.get_dtype(code)!r}")
