"""The dispatch cache of fake tensors (torch._subclasses.fake_tensor's FakeTensorMode._cached_dispatch_impl), in C.

Used by the mode's handler. Invariant: two calls with equal keys have outputs with equal metadata; a registration anywhere changes
the epoch, which is part of every key.
"""
import weakref

from cpython.object cimport PyObject
from libc.stdint cimport int16_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcmp, memcpy, memset

from dispatch._C cimport dtypes
from dispatch._C.emitted cimport AK_TENSOR, OF_ALIASING, OF_MUTABLE
from dispatch._C.keys cimport KS_Conjugate, KS_Negative, KS_ZeroTensor
from dispatch._C.operator cimport OperatorEntry
from dispatch._C.registration import _on_registration_change
from dispatch._C.python_api cimport (
    PyComplex_CheckExact_, PyComplex_ImagAsDouble_, PyComplex_RealAsDouble_, PyErr_Clear_, PyFloat_AS_DOUBLE_,
    PyFloat_CheckExact_, PyList_CheckExact_, PyList_GET_ITEM_, PyList_GET_SIZE_, PyLong_AsLongLongAndOverflow_,
    PyLong_CheckExact_, PyUnicode_AsUTF8AndSize_, PyUnicode_CheckExact_, Py_False_, Py_INCREF_, Py_None_, Py_TYPE_,
    Py_True_, Py_XDECREF_,
)
from dispatch._C.tags cimport TAG_inplace_view
from dispatch._C.geometry cimport TF_CONTIGUOUS
from dispatch._C.storage cimport Storage
from dispatch._C.symbolic cimport NK_NONE, is_symbolic, number_kind, symbolic_calls
from dispatch._C.tensor cimport (
    TF_GEOMETRY_KEPT, TF_INFERENCE, TF_SYMBOLIC, TF_WRAPPED_NUMBER, Tensor, needs_grad, set_known_geometry,
)
from dispatch.fake.fake_tensor cimport FakeTensor, new_blank_fake, new_fake_storage

cdef PyObject* FAKE_TYPE = <PyObject*>FakeTensor
cdef PyObject* DTYPE_TYPE = <PyObject*>dtypes.dtype
cdef PyObject* DEVICE_TYPE = <PyObject*>dtypes.device
cdef PyObject* LAYOUT_TYPE = <PyObject*>dtypes.layout
cdef PyObject* FORMAT_TYPE = <PyObject*>dtypes.memory_format

# Part of every key: what was cached before a registration may not hold after it. A package's own operators cannot tell what they
# call; emitted ones call emitted ones, until somebody replaces a kernel of theirs: from then on every registration counts for all.
cdef uint64_t emitted_epoch = 1
cdef uint64_t any_epoch = 1
cdef bint emitted_replaced = False


def _note_registration(bint everywhere):
    """A kernel was registered or taken away; `everywhere`: a fallback, or one of the package's own operators."""
    global any_epoch, emitted_epoch, emitted_replaced
    any_epoch += 1
    if everywhere:
        emitted_replaced = True
    if emitted_replaced:
        emitted_epoch += 1


_on_registration_change(_note_registration)

# What each Bypass is called in `cache_info().bypasses`: PyTorch's names where it has one.
BYPASS_NAMES = ("", "non-fake tensor", "not our fake", "constant attribute", "non-builtin", "dynamic output shape",
                "data dependent output", "inplace view", "unhashable argument", "too many arguments", "non-FakeTensor output",
                "metadata mutation", "function argument")


# ---- keys ------------------------------------------------------------------------------------------------------------

cdef enum KeyTag:
    KT_NONE = 1, KT_TENSOR, KT_INT, KT_FLOAT, KT_COMPLEX, KT_TRUE, KT_FALSE, KT_STR, KT_LIST, KT_DTYPE, KT_DEVICE, KT_LAYOUT,
    KT_FORMAT, KT_SHARED, KT_SYMBOLIC


cdef inline bint room(Key* k, int n) noexcept:
    return k.n + n <= MAX_KEY_WORDS


cdef inline void put(Key* k, uint64_t word) noexcept:
    k.words[k.n] = word
    k.n += 1


cdef int put_symbolic(Key* k, PyObject* o) noexcept:
    """By its expression, which tells its kind too."""
    cdef int64_t v
    try:
        v = symbolic_calls.from_object(o)
        if is_symbolic(v):
            k.env = symbolic_calls.env_of(v)
    except BaseException:
        return BY_ARGUMENT
    put(k, KT_SYMBOLIC)
    put(k, <uint64_t>v)
    return BY_NONE


cdef int put_tensor(Key* k, object mode, PyObject* o) noexcept:
    cdef FakeTensor t
    cdef uint64_t head
    cdef int n
    cdef bint plain
    if Py_TYPE_(o) != FAKE_TYPE:
        return BY_NOT_FAKE
    if (<FakeTensor>o).c_mode is not mode:
        return BY_OTHER_MODE
    if (<FakeTensor>o).c_constant is not None:
        return BY_CONSTANT
    n = (<FakeTensor>o).c_ndim
    if not room(k, 2 * n + 5):
        return BY_TOO_LARGE
    if (<FakeTensor>o).c_flags & TF_SYMBOLIC:
        k.env = <PyObject*>(<FakeTensor>o).c_symbols
    plain = ((<FakeTensor>o).c_flags & TF_CONTIGUOUS != 0 and (<FakeTensor>o).c_offset == 0 and (<FakeTensor>o).c_numel > 0 and
             (<FakeTensor>o).c_storage.c_nbytes == (<FakeTensor>o).c_numel * dtypes.itemsize_table()[(<FakeTensor>o).c_dtype])
    head = (KT_TENSOR | <uint64_t>plain << 6 | <uint64_t><uint8_t>(<FakeTensor>o).c_dtype << 8
            | <uint64_t><uint8_t>(<FakeTensor>o).c_layout << 16 | <uint64_t><uint8_t>(<FakeTensor>o).c_devtype << 24
            | <uint64_t><uint8_t>(<FakeTensor>o).c_devindex << 32 | <uint64_t>n << 40
            | <uint64_t>needs_grad(<Tensor>o) << 48
            | <uint64_t>((<FakeTensor>o).c_flags & TF_INFERENCE != 0) << 49
            | <uint64_t>((<FakeTensor>o).c_keys & KS_Conjugate != 0) << 50
            | <uint64_t>((<FakeTensor>o).c_keys & KS_Negative != 0) << 51
            | <uint64_t>((<FakeTensor>o).c_keys & KS_ZeroTensor != 0) << 52
            | <uint64_t>((<FakeTensor>o).c_flags & TF_WRAPPED_NUMBER != 0) << 54)
    put(k, head)
    memcpy(&k.words[k.n], (<FakeTensor>o).c_sizes, <size_t>n * 8)
    k.n += n
    # sizes of 1 leave a contiguous tensor's strides open, so strides count unless there is nothing to choose
    if not plain or strides_differ(<Tensor>o):
        if plain:
            k.words[k.n - n - 1] |= <uint64_t>1 << 53
        memcpy(&k.words[k.n], (<FakeTensor>o).c_strides, <size_t>n * 8)
        k.n += n
    if not plain:
        put(k, <uint64_t>(<FakeTensor>o).c_offset)
        put(k, <uint64_t>(<FakeTensor>o).c_storage.c_nbytes)
    return BY_NONE


cdef inline bint strides_differ(Tensor t) noexcept:
    """Whether a contiguous tensor's strides are not the ones that its sizes give."""
    cdef int64_t want = 1
    cdef int i
    for i in range(t.c_ndim - 1, -1, -1):
        if t.c_strides[i] != want:
            return True
        want *= t.c_sizes[i] if t.c_sizes[i] > 1 else 1
    return False


cdef int put_str(Key* k, PyObject* o) noexcept:
    cdef Py_ssize_t n
    cdef const char* s = PyUnicode_AsUTF8AndSize_(o, &n)
    if s == NULL:
        PyErr_Clear_()
        return BY_ARGUMENT
    if n > 256 or not room(k, <int>(n // 8) + 2):
        return BY_TOO_LARGE
    put(k, KT_STR | <uint64_t>n << 8)
    if n:
        k.words[k.n + (n - 1) // 8] = 0
        memcpy(&k.words[k.n], s, n)
        k.n += <int>((n + 7) // 8)
    return BY_NONE


cdef inline int put_int(Key* k, PyObject* o) noexcept:
    cdef int overflow = 0
    put(k, KT_INT)
    put(k, <uint64_t>PyLong_AsLongLongAndOverflow_(o, &overflow))
    return BY_ARGUMENT if overflow else BY_NONE


cdef int put_value(Key* k, object mode, PyObject* o) noexcept:
    cdef double d
    cdef PyObject* tp
    if not room(k, 3):
        return BY_TOO_LARGE
    if o == Py_None_:
        put(k, KT_NONE)
    elif PyLong_CheckExact_(o):
        return put_int(k, o)
    elif o == Py_True_ or o == Py_False_:
        put(k, KT_TRUE if o == Py_True_ else KT_FALSE)
    elif PyFloat_CheckExact_(o):
        put(k, KT_FLOAT)
        d = PyFloat_AS_DOUBLE_(o)
        memcpy(&k.words[k.n], &d, 8)
        k.n += 1
    elif PyList_CheckExact_(o):
        return put_list(k, mode, o)
    elif PyUnicode_CheckExact_(o):
        return put_str(k, o)
    else:
        tp = Py_TYPE_(o)
        if tp == FAKE_TYPE:
            return put_tensor(k, mode, o)
        if tp == DTYPE_TYPE:
            put(k, KT_DTYPE | <uint64_t>(<dtypes.dtype>o).code << 8)
        elif tp == DEVICE_TYPE:
            put(k, KT_DEVICE | <uint64_t><uint8_t>(<dtypes.device>o).devtype << 8
                | <uint64_t><uint8_t>(<dtypes.device>o).devindex << 16)
        elif tp == LAYOUT_TYPE:
            put(k, KT_LAYOUT | <uint64_t>(<dtypes.layout>o).code << 8)
        elif tp == FORMAT_TYPE:
            put(k, KT_FORMAT | <uint64_t>(<dtypes.memory_format>o).code << 8)
        elif PyComplex_CheckExact_(o):
            put(k, KT_COMPLEX)
            d = PyComplex_RealAsDouble_(o)
            memcpy(&k.words[k.n], &d, 8)
            d = PyComplex_ImagAsDouble_(o)
            memcpy(&k.words[k.n + 1], &d, 8)
            k.n += 2
        else:
            return BY_ARGUMENT if number_kind(o) == NK_NONE else put_symbolic(k, o)
    return BY_NONE


cdef int put_list(Key* k, object mode, PyObject* o) noexcept:
    cdef Py_ssize_t i, n = PyList_GET_SIZE_(o)
    cdef PyObject* item
    cdef int why
    if not room(k, 1):
        return BY_TOO_LARGE
    put(k, KT_LIST | <uint64_t>n << 8)
    for i in range(n):
        item = PyList_GET_ITEM_(o, i)
        why = put_int(k, item) if PyLong_CheckExact_(item) and room(k, 2) else put_value(k, mode, item)
        if why:
            return why
    return BY_NONE


cdef bint put_sharing(Key* k, OperatorEntry e, PyObject** args) noexcept:
    """Which tensors are one object or share a storage: an output that is (a view of) an argument is known by its place. False:
    no room."""
    cdef PyObject* seen[64]
    cdef int i, n = 0
    cdef Py_ssize_t j
    for i in range(e.sig.n_args):
        if e.sig.args[i].kind != AK_TENSOR:
            continue
        if PyList_CheckExact_(args[i]):
            for j in range(PyList_GET_SIZE_(args[i])):
                if not note_sharing(k, seen, &n, PyList_GET_ITEM_(args[i], j)):
                    return False
        elif not note_sharing(k, seen, &n, args[i]):
            return False
    return True


cdef bint note_sharing(Key* k, PyObject** seen, int* n, PyObject* o) noexcept:
    cdef int i
    if Py_TYPE_(o) != FAKE_TYPE:
        return True
    if n[0] == 64:
        return False
    for i in range(n[0]):
        if (<Tensor>seen[i]).c_storage is (<Tensor>o).c_storage:
            if not room(k, 1):
                return False
            put(k, KT_SHARED | <uint64_t>(seen[i] == o) << 8 | <uint64_t>i << 16 | <uint64_t>n[0] << 32)
            break
    seen[n[0]] = o
    n[0] += 1
    return True


cdef int build_key(Key* key, object mode, uint64_t settings, OperatorEntry e, PyObject** args) noexcept:
    cdef int i, why
    cdef uint64_t h = 0x9E3779B97F4A7C15
    key.n = 3
    key.env = NULL
    key.words[0] = e.id
    key.words[1] = settings
    key.words[2] = emitted_epoch if e.emitted != NULL else any_epoch
    for i in range(e.sig.n_args):
        if e.sig.args[i].kind == AK_TENSOR and Py_TYPE_(args[i]) == FAKE_TYPE:
            why = put_tensor(key, mode, args[i])
        elif e.sig.args[i].kind == AK_TENSOR and isinstance(<object>args[i], Tensor):
            why = BY_NOT_FAKE
        else:
            why = put_value(key, mode, args[i])
        if why:
            return why
    if e.flags & (OF_MUTABLE | OF_ALIASING) and not put_sharing(key, e, args):
        return BY_TOO_LARGE
    for i in range(key.n):               # a word that differs gives another hash: what is multiplied with is odd
        h = (h ^ key.words[i]) * <uint64_t>0xFF51AFD7ED558CCD
    h ^= h >> 32
    h *= <uint64_t>0xC4CEB9FE1A85EC53
    key.hash = h ^ h >> 29
    return BY_NONE


# ---- entries ---------------------------------------------------------------------------------------------------------

cdef int drop_entry(Entry* e) noexcept:
    cdef int i
    e.refs -= 1
    if e.refs == 0:
        for i in range(e.n_out):
            Py_XDECREF_(outs_of(e)[i].value)
        free(e)
    return 0


cdef bint find_argument(OperatorEntry e, PyObject** args, object t, bint by_storage, OutSpec* s) noexcept:
    """Where among the arguments the tensor `t`, or one that shares its storage, is."""
    cdef int i
    cdef Py_ssize_t j
    for i in range(e.sig.n_args):
        if e.sig.args[i].kind != AK_TENSOR:
            continue
        if PyList_CheckExact_(args[i]):
            for j in range(PyList_GET_SIZE_(args[i])):
                if is_it(PyList_GET_ITEM_(args[i], j), t, by_storage):
                    s.arg = i
                    s.element = <int16_t>j
                    return True
        elif is_it(args[i], t, by_storage):
            s.arg = i
            s.element = -1
            return True
    return False


cdef inline bint is_it(PyObject* candidate, object t, bint by_storage) noexcept:
    if candidate == <PyObject*>t:
        return True
    return by_storage and Py_TYPE_(candidate) == FAKE_TYPE and (<Tensor>candidate).c_storage is (<Tensor>t).c_storage


cdef int describe(OutSpec* s, OperatorEntry e, PyObject** args, object out, PyObject* env, int64_t* numbers,
                  int* n_numbers) except -1:
    """Fill `s`; 0: described, else a Bypass code."""
    cdef FakeTensor t
    s.value = NULL
    s.arg = -1
    s.element = -1
    s.ndim = 0
    if out is None:
        s.kind = OUT_NONE
        return BY_NONE
    if not isinstance(out, Tensor):
        if type(out) is int or type(out) is float or type(out) is bool:
            s.kind = OUT_VALUE
            s.value = <PyObject*>out
            return BY_NONE
        return BY_OUTPUT
    if type(out) is not FakeTensor:
        return BY_OUTPUT
    t = <FakeTensor>out
    if t.c_constant is not None:
        return BY_CONSTANT
    if t.c_flags & TF_SYMBOLIC and <PyObject*>t.c_symbols != env:
        return BY_DYNAMIC_SHAPE            # symbols that the arguments do not have
    if find_argument(e, args, t, False, s):
        s.kind = OUT_ARGUMENT
        if not e.tags & TAG_inplace_view:
            return BY_NONE
        s.kind = OUT_RESHAPED
    else:
        s.kind = OUT_VIEW if find_argument(e, args, t, True, s) else OUT_NEW
    s.dtype = t.c_dtype
    s.devtype = t.c_devtype
    s.devindex = t.c_devindex
    s.layout = t.c_layout
    s.inference = t.c_flags & TF_INFERENCE != 0
    s.ndim = t.c_ndim
    s.offset = t.c_offset
    s.nbytes = t.c_storage.c_nbytes
    s.numel = t.c_numel
    s.flags = t.c_flags & TF_GEOMETRY_KEPT
    s.keys = t.c_keys & (KS_Conjugate | KS_Negative | KS_ZeroTensor)
    s.geometry = n_numbers[0]
    memcpy(&numbers[n_numbers[0]], t.c_sizes, <size_t>t.c_ndim * 8)
    memcpy(&numbers[n_numbers[0] + t.c_ndim], t.c_strides, <size_t>t.c_ndim * 8)
    n_numbers[0] += 2 * t.c_ndim
    return BY_NONE


cdef enum:
    MAX_OUTS = 256


cdef bint shares_new_storage(list outs) except -1:
    """Whether two new outputs share a storage: a hit would make two."""
    cdef set seen = set()
    for t in outs:
        if isinstance(t, Tensor):
            if id((<Tensor>t).c_storage) in seen:
                return True
            seen.add(id((<Tensor>t).c_storage))
    return False


cdef Entry* blank_entry(Key* key, int n_out, int n_numbers) except NULL:
    cdef Entry* entry = <Entry*>malloc(sizeof(Entry) + key.n * 8 + n_out * sizeof(OutSpec) + n_numbers * 8)
    if entry == NULL:
        raise MemoryError()
    entry.hash = key.hash
    entry.next = NULL
    entry.refs = 1
    entry.recent = 1
    entry.shape = SHAPE_SINGLE
    entry.why = BY_NONE
    entry.n_key = key.n
    entry.n_out = n_out
    entry.n_numbers = n_numbers
    memcpy(key_of(entry), key.words, key.n * 8)
    return entry


cdef Entry* new_bypass(Key* key, int why) except NULL:
    cdef Entry* entry = blank_entry(key, 0, 0)
    entry.why = why
    return entry


cdef Entry* new_entry_of(Key* key, OperatorEntry e, PyObject** args, object result, int* why) except? NULL:
    cdef OutSpec* specs
    cdef int64_t* numbers
    cdef Entry* entry = NULL
    cdef int i, n, n_numbers = 0
    cdef int shape = SHAPE_SINGLE
    cdef list outs
    if type(result) is tuple or type(result) is list:
        outs = list(result)
        shape = SHAPE_TUPLE if type(result) is tuple else SHAPE_LIST
    else:
        outs = [result]
    n = len(outs)
    if n > MAX_OUTS:
        why[0] = BY_TOO_LARGE
        return NULL
    specs = <OutSpec*>calloc(n if n else 1, sizeof(OutSpec))
    numbers = <int64_t*>malloc((n if n else 1) * 128 * sizeof(int64_t))
    try:
        for i in range(n):
            why[0] = describe(&specs[i], e, args, outs[i], key.env, numbers, &n_numbers)
            if why[0]:
                return NULL
        if n > 1 and any([specs[i].kind == OUT_NEW for i in range(n)]) and shares_new_storage(outs):
            why[0] = BY_OUTPUT
            return NULL
        entry = blank_entry(key, n, n_numbers)
        entry.shape = shape
        memcpy(outs_of(entry), specs, n * sizeof(OutSpec))
        memcpy(numbers_of(entry), numbers, n_numbers * 8)
        for i in range(n):
            if specs[i].value != NULL:
                Py_INCREF_(specs[i].value)
    finally:
        free(specs)
        free(numbers)
    return entry


cdef inline object symbols_of(OutSpec* s, PyObject* env):
    """What keeps the expressions alive: the ShapeEnv of the arguments, where a fresh run found those of the output too."""
    return <object>env if s.flags & TF_SYMBOLIC else None


cdef inline object argument_at(PyObject** args, OutSpec* s):
    if s.element < 0:
        return <object>args[s.arg]
    return <object>PyList_GET_ITEM_(args[s.arg], s.element)


cdef inline object new_output(Entry* entry, OutSpec* s, object mode, PyObject** args, PyObject* env):
    cdef Storage storage
    cdef FakeTensor t
    cdef int64_t* g
    if s.kind == OUT_NEW:
        storage = new_fake_storage(s.nbytes)
    elif s.kind == OUT_ARGUMENT:
        return argument_at(args, s)
    elif s.kind == OUT_RESHAPED:
        t = <FakeTensor>argument_at(args, s)
        g = numbers_of(entry) + s.geometry
        set_known_geometry(t, s.ndim, g, g + s.ndim, s.offset, s.numel, s.flags, symbols_of(s, env))
        return t
    elif s.kind == OUT_VIEW:
        storage = (<Tensor>argument_at(args, s)).c_storage
    elif s.kind == OUT_NONE:
        return None
    else:
        return <object>s.value
    g = numbers_of(entry) + s.geometry
    t = new_blank_fake(mode, storage, s.devtype, s.devindex, s.dtype, s.keys, s.inference)
    set_known_geometry(t, s.ndim, g, g + s.ndim, s.offset, s.numel, s.flags, symbols_of(s, env))
    t.c_layout = s.layout
    return t


cdef object new_outputs(Entry* entry, object mode, OperatorEntry e, PyObject** args, PyObject* env):
    cdef int i
    cdef list outs
    if entry.shape == SHAPE_SINGLE:
        return new_output(entry, outs_of(entry), mode, args, env)
    outs = [new_output(entry, &outs_of(entry)[i], mode, args, env) for i in range(entry.n_out)]
    return outs if entry.shape == SHAPE_LIST else tuple(outs)


# ---- the table -------------------------------------------------------------------------------------------------------

cdef struct Counters:
    int64_t hits, misses
    int64_t bypasses[16]

cdef Counters retired                # of caches that are gone
cdef object live = weakref.WeakSet()


class DispatchCacheInfo:
    """Counters of a dispatch cache: hits, misses, bypasses by reason, entries held (bypassed calls have one too).

    Source of the semantics: torch._subclasses.fake_tensor.DispatchCacheInfo.
    """

    __slots__ = ("hits", "misses", "bypasses", "size")

    def __init__(self, hits, misses, bypasses, size):
        self.hits = hits
        self.misses = misses
        self.bypasses = bypasses
        self.size = size

    def _facts(self):
        return self.hits, self.misses, self.bypasses, self.size

    def __repr__(self):
        return f"DispatchCacheInfo(hits={self.hits}, misses={self.misses}, bypasses={self.bypasses}, size={self.size})"

    def __eq__(self, other):
        return isinstance(other, DispatchCacheInfo) and self._facts() == other._facts()

    __hash__ = None


def total_info():
    """Counters of all caches of the process together."""
    cdef DispatchCache c
    cdef Counters sums = retired
    cdef int i
    cdef int64_t size = 0
    for cache in live:
        c = <DispatchCache>cache
        sums.hits += c.hits
        sums.misses += c.misses
        size += c.n_entries
        for i in range(N_BYPASS):
            sums.bypasses[i] += c.bypasses[i]
    return DispatchCacheInfo(sums.hits, sums.misses, named(sums.bypasses), size)


def clear_all():
    """Empty every cache of the process, with its counters."""
    for cache in live:
        (<DispatchCache>cache).clear()
    memset(&retired, 0, sizeof(Counters))


cdef dict named(int64_t* bypasses):
    cdef int i
    return {BYPASS_NAMES[i]: bypasses[i] for i in range(1, N_BYPASS) if bypasses[i]}


cdef class DispatchCache:
    """A bounded table of cached calls; one for each mode, or shared by several (`FakeTensorMode(cache=...)`).

    Args:
        max_entries: when as many are held, the one not hit for longest (by a clock) makes room.
    """

    def __cinit__(self, int64_t max_entries=65536):
        if max_entries < 1:
            raise ValueError(f"max_entries must be at least 1, got {max_entries}")
        self.max_entries = max_entries
        self.n_buckets = 256
        self.buckets = <Entry**>calloc(self.n_buckets, sizeof(Entry*))
        if self.buckets == NULL:
            raise MemoryError()

        live.add(self)

    def __dealloc__(self):
        cdef int i
        if self.buckets != NULL:
            self.clear_entries()
            free(self.buckets)
        retired.hits += self.hits
        retired.misses += self.misses
        for i in range(N_BYPASS):
            retired.bypasses[i] += self.bypasses[i]

    def __len__(self):
        return self.n_entries

    def clear(self):
        """Forget all entries and counters."""
        self.clear_entries()
        self.hits = self.misses = self.evictions = 0
        for i in range(N_BYPASS):
            self.bypasses[i] = 0

    def info(self):
        """The counters, as a DispatchCacheInfo."""
        return DispatchCacheInfo(self.hits, self.misses, named(self.bypasses), self.n_entries)

    cdef Entry* find(self, Key* key) noexcept:
        cdef Entry* e = self.buckets[key.hash & (self.n_buckets - 1)]
        while e != NULL:
            if e.hash == key.hash and e.n_key == key.n and memcmp(key_of(e), key.words, key.n * 8) == 0:
                e.recent = 1
                return e
            e = e.next
        return NULL

    cdef int insert(self, Entry* e) except -1:
        cdef int64_t at
        if self.n_entries >= self.max_entries:
            self.evict()
        if self.n_entries >= self.n_buckets:
            self.grow()
        at = e.hash & (self.n_buckets - 1)
        e.next = self.buckets[at]
        self.buckets[at] = e
        self.n_entries += 1
        return 0

    cdef int grow(self) except -1:
        cdef int64_t n = self.n_buckets * 2, i, at
        cdef Entry** fresh = <Entry**>calloc(n, sizeof(Entry*))
        cdef Entry* e
        cdef Entry* after
        if fresh == NULL:
            raise MemoryError()
        for i in range(self.n_buckets):
            e = self.buckets[i]
            while e != NULL:
                after = e.next
                at = e.hash & (n - 1)
                e.next = fresh[at]
                fresh[at] = e
                e = after
        free(self.buckets)
        self.buckets = fresh
        self.n_buckets = n
        return 0

    cdef int evict(self) noexcept:
        """Second chance: drop the first entry at the clock hand that was not hit since the hand passed last."""
        cdef Entry** link
        cdef Entry* e
        while self.n_entries:
            link = &self.buckets[self.hand]
            while link[0] != NULL:
                e = link[0]
                if not e.recent:
                    link[0] = e.next
                    self.n_entries -= 1
                    self.evictions += 1
                    drop_entry(e)
                    return 0
                e.recent = 0
                link = &e.next
            self.hand = (self.hand + 1) & (self.n_buckets - 1)
        return 0

    cdef int clear_entries(self) except -1:
        cdef int64_t i
        cdef Entry* e
        cdef Entry* after
        for i in range(self.n_buckets):
            e = self.buckets[i]
            self.buckets[i] = NULL
            while e != NULL:
                after = e.next
                drop_entry(e)
                e = after
        self.n_entries = 0
        return 0
