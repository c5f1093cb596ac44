"""The registry of operators and fallbacks; call and redispatch in C.

`call` is the whole of a dispatched call on boxed arguments; nothing in it makes a Python object.
"""
from cpython.object cimport PyObject
from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t

from dispatch._C.operator cimport Kernel, KernelObject, OperatorEntry

cdef extern from "emitted.h" nogil:
    ctypedef struct emitted_arg:
        uint16_t name, flags
        uint8_t kind, alias
        short size
        uint16_t dflt
    ctypedef struct emitted_ret:
        uint16_t flags
        uint8_t kind, alias
    ctypedef struct emitted_default:
        uint8_t kind
        long long i
        double f
        const char* s
        const long* v
    ctypedef struct emitted_kernel:
        uint8_t key, kind, variant, n_out
        uint16_t shard, slot
        int32_t target
        const char* ref
        const char* ref2
    ctypedef struct emitted_slot:
        void* adapter
        void* fn
        void* body
    ctypedef struct emitted_op:
        const char* name
        const char* overload
        const char* schema
        uint32_t first_arg, first_ret, first_kernel, tags
        uint16_t row
        uint8_t n_args, n_pos, n_rets, n_kernels
        uint16_t flags
    ctypedef struct emitted_set:
        const emitted_op* ops
        const emitted_arg* args
        const emitted_ret* rets
        const emitted_default* defaults
        const emitted_kernel* kernels
        const char** arg_names
        const uint8_t* rows
        const uint64_t* row_hard
        const char** shards
        uint32_t n_ops, n_args, n_kernels, n_rows, n_runtime, n_shards, n_arg_names
    enum:
        KK_CYTHON, KK_PYTHON, KK_STRUCTURED, KK_AD_INPLACE_OR_VIEW, KK_AUTOGEN_OUT, KK_AUTOGEN_FUNCTIONAL, KK_ALIAS, KK_NUMBER,
        KK_FALLTHROUGH
        KK_COUNT "(KK_FALLTHROUGH + 1)"

# Fills in a pending kernel (`call`, `fn`, `functor` ...) when it is first called.
ctypedef int (*kernel_loader)(OperatorEntry e, KernelObject k) except -1

cdef PyObject* call(OperatorEntry e, uint64_t ks, uint32_t flags, PyObject** args) noexcept      # ks, flags: gathered from the tensors
cdef PyObject* call_boxed(OperatorEntry e, PyObject** args) noexcept                             # gathers them itself
cdef PyObject* redispatch(OperatorEntry e, uint64_t ks, PyObject** args) noexcept                # ks as it is: thread-local sets play no part
cdef Kernel* lookup(OperatorEntry e, uint64_t* ks) noexcept                                      # the kernel that `ks` reaches; NULL: an exception is set
cdef OperatorEntry find_entry(str name, str overload_name)                                       # None: no such operator
cdef OperatorEntry need_entry(str name, str overload_name)                                       # KeyError-free: RuntimeError when missing
cdef OperatorEntry entry_for_registration(str name, str overload_name)                           # made when missing
cdef int define_entry(OperatorEntry e, object schema, str where) except -1
cdef int undefine_entry(OperatorEntry e) except -1
cdef int forget_if_empty(OperatorEntry e) except -1
cdef list overload_names(str name)                                                               # defined overloads, in order of definition
cdef int set_fallback(int index, KernelObject k) except -1                                       # pushes; None pops
cdef int remove_fallback(int index, KernelObject k) except -1
cdef KernelObject get_fallback(int index)
cdef int set_loader(int kind, kernel_loader loader) except -1
cdef int register_set(const emitted_set* s, str package) except -1
cdef OperatorEntry entry_by_index(int set_index, int op_index)
cdef list all_entries()                                                                          # every entry, emitted ones made now
cdef list made_entries()                                                                         # those that exist already
cdef object import_reference(str ref)                                                            # the object that "package.module:name" means
cdef int set_error_callback(OperatorEntry e, object callback) except -1                          # called with the key before a missing kernel is an error
cdef PyObject* call_for_key(OperatorEntry e, int value, PyObject** args) noexcept                # what is registered at exactly this key, or its fallback
cdef bint has_device(OperatorEntry e) noexcept                                                   # some argument is a device
cdef int name_operator(OperatorEntry e) noexcept                                                 # names the operator in what a kernel refused
