"""Sorting and choosing the first k, with equal elements in the order that PyTorch leaves them in.

Called by `sort.sort` and `sort.topk`. Which of several equal elements comes first is not specified,
but results show it: it follows from std::sort, std::nth_element and std::partial_sort of libstdc++,
whose steps these are. A `pair` is a key and a position; only keys are compared.
"""
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc

cdef struct pair:
    int64_t key
    int64_t position

cdef enum:
    SMALL = 16                   # rows that std::sort leaves to the insertion sort


cdef inline void swap(pair* a, pair* b) noexcept nogil:
    a[0], b[0] = b[0], a[0]


# ---- heaps -------------------------------------------------------------------------------------

cdef void adjust_heap(pair* p, int64_t hole, int64_t n, pair value) noexcept nogil:
    """Let the hole sink to a leaf, then `value` rise from there."""
    cdef int64_t top = hole, child = hole, parent
    while child < (n - 1) // 2:
        child = 2 * (child + 1)
        if p[child].key < p[child - 1].key:
            child -= 1
        p[hole] = p[child]
        hole = child
    if n % 2 == 0 and child == (n - 2) // 2:
        child = 2 * child + 1
        p[hole] = p[child]
        hole = child
    while hole > top:
        parent = (hole - 1) // 2
        if not p[parent].key < value.key:
            break
        p[hole] = p[parent]
        hole = parent
    p[hole] = value


cdef inline void pop_heap(pair* p, int64_t n, pair* to) noexcept nogil:
    """The largest goes to `to`, what was there into the heap."""
    cdef pair value = to[0]
    to[0] = p[0]
    adjust_heap(p, 0, n, value)


cdef void heap_select(pair* p, int64_t k, int64_t n) noexcept nogil:
    """The `k` smallest first, as a heap."""
    cdef int64_t i
    for i in range(k // 2 - 1, -1, -1):
        adjust_heap(p, i, k, p[i])
    for i in range(k, n):
        if p[i].key < p[0].key:
            pop_heap(p, k, p + i)


cdef void partial_sort(pair* p, int64_t k, int64_t n) noexcept nogil:
    cdef int64_t i
    heap_select(p, k, n)
    for i in range(k - 1, 0, -1):
        pop_heap(p, i, p + i)


# ---- quicksort's parts -------------------------------------------------------------------------

cdef void insert(pair* p) noexcept nogil:
    """Move one element back to its place; something before it is no larger."""
    cdef pair value = p[0]
    while value.key < (p - 1).key:
        p[0] = (p - 1)[0]
        p -= 1
    p[0] = value


cdef void insertion_sort(pair* p, int64_t n) noexcept nogil:
    cdef int64_t i, j
    cdef pair value
    for i in range(1, n):
        if not p[i].key < p[0].key:
            insert(p + i)
            continue
        value = p[i]
        for j in range(i, 0, -1):
            p[j] = p[j - 1]
        p[0] = value


cdef inline pair* median(pair* a, pair* b, pair* c) noexcept nogil:
    if a.key < b.key:
        return b if b.key < c.key else c if a.key < c.key else a
    return a if a.key < c.key else c if b.key < c.key else b


cdef int64_t partition(pair* p, int64_t n) noexcept nogil:
    """Around the median of three, which is put first."""
    cdef int64_t i = 1, j = n
    swap(p, median(p + 1, p + n // 2, p + n - 1))
    while True:
        while p[i].key < p[0].key:
            i += 1
        j -= 1
        while p[0].key < p[j].key:
            j -= 1
        if i >= j:
            return i
        swap(p + i, p + j)
        i += 1


cdef int depth_limit(int64_t n) noexcept nogil:
    cdef int log = 0
    while n > 1:
        n >>= 1
        log += 1
    return 2 * log


cdef void nth_element(pair* p, int64_t nth, int64_t n) noexcept nogil:
    """What would be at `nth` comes there, with nothing larger before it."""
    cdef int64_t cut
    cdef int depth = depth_limit(n)
    while n > 3:
        if depth == 0:
            heap_select(p, nth + 1, n)
            swap(p, p + nth)
            return
        depth -= 1
        cut = partition(p, n)
        if cut <= nth:
            p, nth, n = p + cut, nth - cut, n - cut
        else:
            n = cut
    insertion_sort(p, n)


cdef void sort_parts(pair* p, int64_t n, int depth) noexcept nogil:
    """Sorted but for short runs."""
    cdef int64_t cut
    while n > SMALL:
        if depth == 0:
            partial_sort(p, n, n)
            return
        depth -= 1
        cut = partition(p, n)
        sort_parts(p + cut, n - cut, depth)
        n = cut


cdef void sort(pair* p, int64_t n) noexcept nogil:
    cdef int64_t i
    sort_parts(p, n, depth_limit(n))
    insertion_sort(p, n if n < SMALL else SMALL)
    for i in range(SMALL, n):
        insert(p + i)


# ---- the first k -------------------------------------------------------------------------------

cdef void select(pair* p, int64_t k, int64_t n, bint in_order) noexcept nogil:
    """PyTorch's choice of algorithms (topk_impl_loop)."""
    if k * 64 <= n:
        partial_sort(p, k, n)
        return
    nth_element(p, k - 1, n)
    if in_order:
        sort(p, k - 1)


cdef pair* new_pairs(int64_t n) except NULL:
    cdef pair* p = <pair*>malloc(n * sizeof(pair))
    if p == NULL:
        raise MemoryError
    return p


cdef inline void read(pair* p, const int64_t* keys, int64_t n) noexcept nogil:
    cdef int64_t j
    for j in range(n):
        p[j].key, p[j].position = keys[j], j


cdef inline void write(int64_t* positions, const pair* p, int64_t n) noexcept nogil:
    cdef int64_t j
    for j in range(n):
        positions[j] = p[j].position


def order(const int64_t[:, ::1] keys not None, int64_t[:, ::1] positions not None) -> None:
    """Fill each row of `positions` with those of the keys in order; equal ones in std::sort's."""
    cdef int64_t rows = keys.shape[0], n = keys.shape[1], i
    cdef pair* p
    if rows != positions.shape[0] or n != positions.shape[1]:
        raise ValueError(f"order: {rows} x {n} keys")
    p = new_pairs(n)
    with nogil:
        for i in range(rows):
            read(p, &keys[i, 0], n)
            sort(p, n)
            write(&positions[i, 0], p, n)
    free(p)


def first(const int64_t[:, ::1] keys not None, int64_t[:, ::1] positions not None,
          bint in_order) -> None:
    """Fill each row of `positions` with those of the smallest keys in the same row of `keys`."""
    cdef int64_t rows = keys.shape[0], n = keys.shape[1], k = positions.shape[1], i
    cdef pair* p
    if k == 0 or k > n or rows != positions.shape[0]:
        raise ValueError(f"first: {positions.shape[1]} of {n} in {rows} rows")
    p = new_pairs(n)
    with nogil:
        for i in range(rows):
            read(p, &keys[i, 0], n)
            select(p, k, n, in_order)
            write(&positions[i, 0], p, k)
    free(p)
