"""Key sets: one 64-bit value with PyTorch's layout, and the inline operations of the call path.

Bits 0..15 are backends (CPU is bit 0, Meta bit 15), bits 16..61 functionalities (bit 15 + the functionality's enum value).
A runtime key is a functionality, or a pair of a per-backend functionality and a backend; `ks_index` turns the highest one of
a set into the row index that every dispatch table uses. The tables come from `schemas/dispatch_keys.yaml` (generated/keys.h).
"""
from libc.stdint cimport int16_t, uint8_t, uint16_t, uint64_t

cdef extern from "generated/keys.h" nogil:
    enum:
        DK_NUM_BACKENDS          # 16
        DK_NUM_FUNCTIONALITIES   # functionality enum values run from 0 (Undefined) to this - 1
        DK_NUM_RUNTIME           # entries of a dispatch table, Undefined (0) included
        DK_NUM_VALUES            # enum values (runtime functionalities, per-backend keys, alias keys) run from 0 to this - 1
    # by functionality value: first row index of the functionality; 0xFFFF when it has one entry per backend, else 0
    const uint16_t DK_FUNC_OFFSET[]
    const uint16_t DK_FUNC_MASK[]
    # raw sets
    const uint64_t KS_FULL_BACKENDS          # bits 0..15
    const uint64_t KS_AUTOGRAD               # every functionality bit that the alias key Autograd stands for (no backend bits)
    const uint64_t KS_DEFAULT_INCLUDE        # thread-local include set of a new thread
    const uint64_t KS_DEFAULT_EXCLUDE
    const uint64_t KS_Python
    const uint64_t KS_PythonTLSSnapshot
    const uint64_t KS_PythonDispatcher
    const uint64_t KS_PreDispatch
    const uint64_t KS_ADInplaceOrView
    const uint64_t KS_BackendSelect
    const uint64_t KS_Conjugate
    const uint64_t KS_Negative
    const uint64_t KS_ZeroTensor
    const uint64_t KS_Functionalize
    const uint64_t KS_Dense
    const uint64_t KS_CPU
    const uint64_t KS_Meta
    const uint64_t KS_AutogradFunctionality
    const uint64_t KS_AutogradOther
    const uint64_t KS_BY_VALUE[]             # raw set of DispatchKeySet(key) by enum value; 0 for alias keys
    const char* DK_NAME_BY_VALUE[]           # canonical name by enum value ("CPU", "AutogradCPU", "Autograd"); NULL: no such value
    const uint8_t DK_VALUE_BY_INDEX[]        # enum value by runtime row index (inverse of ks_index for one-key sets)
    # 1 when a fresh dispatcher has a fallback for the key (`fallbacks` has its function), 2 when that is a fallthrough
    const uint8_t DK_FALLBACK_BY_INDEX[]
    # row index by enum value; -1: not a runtime key (alias keys, Start/End markers share their number)
    const int16_t DK_INDEX_BY_VALUE[]
    # by c10 device type code: DispatchKeySet(backend key) | ADInplaceOrView | AutogradX | AutocastX, PyTorch's key set of a
    # strided tensor
    const uint64_t KS_BY_DEVICE_TYPE[]
    # what the Python face of the keys needs
    enum:
        DK_NUM_MEMBERS           # entries of DispatchKey.__members__
    const char* DK_MEMBER_NAME[]             # DispatchKey.__members__ in order: names (markers and EndOf second names included)
    const int16_t DK_MEMBER_VALUE[]          # and their enum values
    const uint16_t DK_FUNC_FIRST_KEY[]       # by functionality value: enum value of its key for backend 0 (CPU); 0: not per backend
    const uint64_t KS_ALIAS_BY_VALUE[]       # by enum value of an alias key: the runtime keys it covers; else 0
    const uint64_t KS_FROM_AUTOGRAD_BY_VALUE[]   # by enum value of an autograd key: the backend keys below it; else 0
    const uint64_t KS_AUTOGRADOTHER_BACKENDS
    const uint64_t KS_ADDITIONAL_KEYS_TO_PROP_FOR_WRAPPER_TENSORS
    const int16_t DK_BY_DEVICE_TYPE[]        # by device type code: enum value of the tensor's backend key; -1: no tensors of it

cdef extern from * nogil:
    int __builtin_clzll(unsigned long long)
    int __builtin_ctzll(unsigned long long)
    int __builtin_popcountll(unsigned long long)

cdef inline int ks_highest_functionality(uint64_t ks) noexcept nogil:
    """Enum value of the highest functionality in `ks`; 0 (Undefined) when there is none."""
    cdef uint64_t f = ks >> 16
    return 64 - __builtin_clzll(f) if f else 0

cdef inline int ks_highest_backend(uint64_t ks) noexcept nogil:
    """Index (CPU is 0) of the highest backend bit in `ks`; 0 when there is none."""
    cdef uint64_t b = ks & 0xFFFF
    return 63 - __builtin_clzll(b) if b else 0

cdef inline int ks_index(uint64_t ks) noexcept nogil:
    """Row index of the highest-priority runtime key of `ks` (0: Undefined)."""
    cdef int f = ks_highest_functionality(ks)
    return DK_FUNC_OFFSET[f] + (DK_FUNC_MASK[f] & ks_highest_backend(ks))

cdef inline uint64_t ks_remove(uint64_t a, uint64_t b) noexcept nogil:
    """`a - b` as PyTorch subtracts: functionality bits of `b` leave, backend bits stay."""
    return a & ~(b & ~<uint64_t>0xFFFF)

cdef class DispatchKey:
    """One dispatch key: `name`, `value`; a singleton for each name in `DispatchKey.__members__`."""
    cdef readonly str name
    cdef readonly int value

cdef class DispatchKeySet:
    """A set of dispatch keys, immutable; `ks` is the raw value."""
    cdef uint64_t ks

cdef DispatchKeySet new_key_set(uint64_t ks)          # new reference
# borrowed singleton (a new reference as Cython returns it); ValueError for an unknown value
cdef DispatchKey get_key(int value)
cdef int key_value(object key) except -1              # DispatchKey, or a name -> enum value; RuntimeError for an unknown name
# the runtime keys that an alias key stands for, as a raw set (0 when not an alias)
cdef uint64_t alias_runtime_set(int value) noexcept nogil
cdef bint is_alias_value(int value) noexcept nogil
cdef bint in_alias(int key, int alias) noexcept nogil       # whether `alias` covers the runtime key `key` (equality counts)
cdef uint64_t as_key_set(object keys) except? 0       # raw value of a DispatchKeySet; TypeError for anything else
cdef str get_privateuse1_name()                       # what device type "privateuseone" is called now
cdef uint64_t key_bits(object key) except? 0          # raw DispatchKeySet(key), of a key or its name
