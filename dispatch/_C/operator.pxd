"""OperatorEntry: the registrations of one operator, and the row that calls read.

Registration writes an entry, calls only read it. A row is swapped whole, never edited in place.
"""
from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from dispatch._C.values cimport Signature

cdef enum:
    OF_DETACH = 1 << 15      # aten::detach: shares the version of its argument and is no view of it

cdef enum KernelFlag:
    KF_FALLTHROUGH = 1
    KF_PYTHON = 2            # a Python functor: gets its arguments with the defaults left out
    KF_WITH_KEYSET = 4       # its first argument is the DispatchKeySet
    KF_BELOW_AUTOGRAD = 8    # runs with the autograd and ADInplaceOrView keys excluded, as PyTorch's kernels below these keys do
    KF_PENDING = 16          # not yet resolved: `call` resolves it first
    KF_WITH_OP = 256         # its first argument (after the key set) is the OpOverload: a Python fallback
    KF_IDLE = 64             # does nothing but pass on: the call path skips it
    KF_IDLE_NO_GRAD = 128    # likewise, unless some input requires grad and grad mode is on
    KF_BYTES = 1024          # of a backend whose tensors have bytes: never runs with symbolic sizes
    KF_ELEMENTS_BELOW = 512  # with KF_BELOW_AUTOGRAD: ADInplaceOrView stays, for the elements of the lists that it writes

# A kernel's boxed face: borrowed arguments in, a new reference out, or NULL with an exception set (the pointer type says
# `noexcept` so that the call path passes NULL on without looking; implementations are `except NULL` and cast).
ctypedef PyObject* (*boxed_fn)(Kernel* k, PyObject* op, uint64_t ks, PyObject** args) noexcept

cdef struct Kernel:
    boxed_fn call
    void* fn                 # unboxed kernel, or the shape function of a structured one
    void* body               # structured: the function that fills the outputs; NULL: metadata only
    PyObject* functor        # borrowed from owner: the Python callable, or NULL
    PyObject* owner          # the KernelObject: a caller holds it while the kernel runs
    uint32_t flags           # KernelFlag
    uint8_t variant          # StructuredVariant
    uint8_t n_out

cdef class KernelObject:
    """Owns a Kernel: one registration of a kernel with an operator, or a fallback."""
    cdef Kernel k
    cdef object functor
    cdef readonly str where          # "file:line" of the registration
    cdef readonly int key            # enum value; 0 when registered as catch-all
    cdef object ref, ref2            # pending: what to import
    cdef int shard, slot, target, kind, set_index
    cdef boxed_fn inner              # KK_DEFAULT: the structured kernel below it
    cdef KernelObject elsewhere      # KK_DEFAULT: the kernel for other devices than the CPU, or None

cdef class OperatorEntry:
    cdef Signature sig
    cdef const uint8_t* row          # by runtime index: number of an own kernel, or ROW_*
    cdef uint64_t hard               # functionality bits with an own kernel that is no fallthrough
    cdef uint64_t soft               # functionality bits with some ROW_FALLBACK entry
    cdef Kernel** kernels            # by number in the row
    cdef uint32_t id                 # unique for each entry that ever lived
    cdef uint16_t flags              # OpFlag
    cdef uint64_t tags
    cdef readonly str name           # "aten::add"
    cdef readonly str overload_name  # "Tensor", "" for the default
    cdef object schema_text          # "aten::add.Tensor(...) -> ..." ; None while only implementations are known
    cdef object schema_object        # parsed, made when asked for
    cdef object schema_where         # where it was defined
    cdef object alias_analysis       # FROM_SCHEMA, CONSERVATIVE, or None
    cdef object overload             # the OpOverload object, made when asked for; None
    cdef object kwnames              # tuple of the keyword-only names, for calling our own Python kernels; None
    cdef dict registrations          # enum value -> list of KernelObject, the newest first
    cdef list kernel_objects         # what the kernels of the row belong to
    cdef uint8_t* own_row            # malloc'ed row and kernels of an operator with run-time registrations; NULL
    cdef Kernel** own_kernels
    cdef const void* emitted         # emitted_op*, or NULL
    cdef bint defined                # has a schema

cdef inline str qualified_name(OperatorEntry e):
    return e.name + "." + e.overload_name if e.overload_name else e.name

# Qualified name -> (module, context): what a definition says of the module that has the operator's Python kernels.
cdef dict python_modules

cdef OperatorEntry new_entry(str name, str overload_name)
cdef int set_schema(OperatorEntry e, object schema, str where) except -1     # parsed FunctionSchema
cdef int retire(OperatorEntry e) except -1                        # its definition is taken away
cdef KernelObject new_kernel(object functor, int key, str where, uint32_t flags)
cdef int add_kernel(OperatorEntry e, KernelObject kernel) except -1
cdef int remove_kernel(OperatorEntry e, KernelObject kernel) except -1
cdef int update_row(OperatorEntry e) except -1
cdef int allocate_signature(OperatorEntry e, int n_args, int n_rets) except -1
# A FunctionSchema; RuntimeError for a text that is none. A name without a namespace gets the prefix, if there is one.
cdef object parse_schema(str text, bint allow_typevars, str prefix=*)
# (KernelObject or None, reason, ROW_* code) of a runtime key, by the rules
cdef tuple resolve_key_debug(OperatorEntry e, int value)
