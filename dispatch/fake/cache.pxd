"""The dispatch cache of fake tensors: from the metadata of a call to the metadata of its outputs, without a Python object.

A key is the operator and everything that its shape function can see, as 64-bit words (expressions by their handles, which no other
expression has or will have); an entry says how each output is made: new,
a view of an argument's storage, an argument itself (an in-place view operator gives it another geometry), None, or a plain
number; or why such calls are not cached.
"""
from cpython.object cimport PyObject
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from dispatch._C.operator cimport OperatorEntry

cdef enum:
    MAX_KEY_WORDS = 512

cdef enum:                       # why a call is not cached; 0: it is
    BY_NONE = 0
    BY_NOT_FAKE
    BY_OTHER_MODE
    BY_CONSTANT
    BY_NOT_BUILTIN
    BY_DYNAMIC_SHAPE
    BY_DATA_DEPENDENT
    BY_INPLACE_VIEW
    BY_ARGUMENT
    BY_TOO_LARGE
    BY_OUTPUT
    BY_METADATA_CHANGED
    BY_FUNCTION
    N_BYPASS

cdef struct Key:
    int n
    PyObject* env                # borrowed: the ShapeEnv of the arguments' sizes (the last one), NULL without symbols
    uint64_t hash
    uint64_t words[512]

cdef enum OutKind:
    OUT_NEW, OUT_VIEW, OUT_ARGUMENT, OUT_NONE, OUT_VALUE, OUT_RESHAPED

cdef enum OutShape:
    SHAPE_SINGLE, SHAPE_TUPLE, SHAPE_LIST

cdef struct OutSpec:
    uint8_t kind
    int8_t dtype, devtype, devindex
    int16_t arg, element         # OUT_ARGUMENT, OUT_RESHAPED, OUT_VIEW: which argument, which of its list (-1: not a list)
    int16_t ndim
    int16_t layout
    uint8_t inference            # an inference tensor
    uint64_t keys                # bits beyond the device's own
    int64_t offset
    int64_t nbytes               # OUT_NEW: of the storage
    int64_t numel
    uint32_t flags               # of geometry: TF_GEOMETRY_KEPT
    int32_t geometry             # index of sizes, then strides, in the entry's `numbers`
    PyObject* value              # OUT_VALUE, owned

cdef struct Entry:
    uint64_t hash
    Entry* next                  # in its bucket
    int32_t refs                 # the table's and running hits'
    uint8_t recent               # hit since the clock hand passed
    uint8_t shape                # OutShape
    uint8_t why                  # a Bypass code: such calls run afresh each time; BY_NONE: the outputs below are theirs
    uint16_t n_key
    int32_t n_out
    int32_t n_numbers
    # then: n_key key words, n_out OutSpec, n_numbers int64

cdef inline uint64_t* key_of(Entry* e) noexcept:
    return <uint64_t*>(<char*>e + sizeof(Entry))

cdef inline OutSpec* outs_of(Entry* e) noexcept:
    return <OutSpec*>(<char*>e + sizeof(Entry) + e.n_key * sizeof(uint64_t))

cdef inline int64_t* numbers_of(Entry* e) noexcept:
    return <int64_t*>(<char*>e + sizeof(Entry) + e.n_key * sizeof(uint64_t) + e.n_out * sizeof(OutSpec))

cdef class DispatchCache:
    cdef Entry** buckets
    cdef int64_t n_buckets, n_entries, hand
    cdef readonly int64_t max_entries
    cdef readonly int64_t hits, misses, evictions
    cdef int64_t bypasses[16]
    cdef object __weakref__
    cdef Entry* find(self, Key* key) noexcept
    cdef int insert(self, Entry* e) except -1
    cdef int grow(self) except -1
    cdef int evict(self) noexcept
    cdef int clear_entries(self) except -1

# Builds the key of a call into `key`; a Bypass code when it cannot be cached.
cdef int build_key(Key* key, object mode, uint64_t settings, OperatorEntry e, PyObject** args) noexcept
# An entry from the outputs of a fresh run; NULL with `why` set when they cannot be described.
cdef Entry* new_entry_of(Key* key, OperatorEntry e, PyObject** args, object result, int* why) except? NULL
# An entry that says why calls of this key are not cached.
cdef Entry* new_bypass(Key* key, int why) except NULL
# The outputs of a hit. The caller holds the entry; `env` is the key's.
cdef object new_outputs(Entry* entry, object mode, OperatorEntry e, PyObject** args, PyObject* env)
cdef int drop_entry(Entry* e) noexcept
