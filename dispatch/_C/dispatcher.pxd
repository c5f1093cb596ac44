"""The registry of operators and fallbacks; call and redispatch in C.

`call` is the whole of a dispatched call on boxed arguments; nothing in it makes a Python object.
"""
from cpython.object cimport PyObject
from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t

from dispatch._C.emitted cimport emitted_set
from dispatch._C.operator cimport Kernel, KernelObject, OperatorEntry

# Fills in a pending kernel (`call`, `fn`, `functor` ...) when it is first called.
ctypedef int (*kernel_loader)(OperatorEntry e, KernelObject k) except -1

# ks, flags: gathered from the tensors
cdef PyObject* call(OperatorEntry e, uint64_t ks, uint32_t flags, PyObject** args) noexcept
cdef PyObject* call_boxed(OperatorEntry e, PyObject** args) noexcept                             # gathers them itself
# ks as it is: thread-local sets play no part
cdef PyObject* redispatch(OperatorEntry e, uint64_t ks, PyObject** args) noexcept
# the kernel that `ks` reaches; NULL: an exception is set
cdef Kernel* lookup(OperatorEntry e, uint64_t* ks) noexcept
cdef OperatorEntry find_entry(str name, str overload_name)                                       # None: no such operator
# KeyError-free: RuntimeError when missing
cdef OperatorEntry need_entry(str name, str overload_name)
cdef OperatorEntry entry_for_registration(str name, str overload_name)                           # made when missing
cdef int define_entry(OperatorEntry e, object schema, str where) except -1
cdef int undefine_entry(OperatorEntry e) except -1
cdef int forget_if_empty(OperatorEntry e) except -1
# defined overloads, in order of definition
cdef list overload_names(str name)
cdef int set_fallback(int index, KernelObject k) except -1                                       # pushes; None pops
cdef int remove_fallback(int index, KernelObject k) except -1
cdef KernelObject get_fallback(int index)
cdef int set_loader(int kind, kernel_loader loader) except -1
cdef int load_cython(OperatorEntry e, KernelObject k) except -1
# A pending kernel, by its kind's loader.
cdef int load_kernel(OperatorEntry e, KernelObject k) except -1
cdef int register_set(const emitted_set* s, str package) except -1
cdef OperatorEntry entry_by_index(int set_index, int op_index)
# every entry, emitted ones made now
cdef list all_entries()
cdef list made_entries()                                                                         # those that exist already
# the object that "package.module:name" means
cdef object import_reference(str ref)
# called with the key before a missing kernel is an error
cdef int set_error_callback(OperatorEntry e, object callback) except -1
# what is registered at exactly this key, or its fallback
cdef PyObject* call_for_key(OperatorEntry e, int value, PyObject** args) noexcept
cdef bint has_device(OperatorEntry e) noexcept                                                   # some argument is a device
# names the operator in what a kernel refused
cdef int name_operator(OperatorEntry e) noexcept
