"""C types of schemas, for the compiled build; the module runs without them too."""
cimport cython


# What these refer to never refers back: no collector has to look.
@cython.no_gc
cdef class AliasInfo:
    cdef readonly tuple before
    cdef readonly tuple after
    cdef readonly bint is_write
    cdef readonly AliasInfo contained


@cython.no_gc
cdef class Argument:
    cdef readonly str name
    cdef readonly object real_type
    cdef readonly AliasInfo alias_info
    cdef readonly bint kwarg_only
    cdef readonly bint _has_default
    cdef readonly object default_value
    cdef readonly object N
    cdef public object _numbers


@cython.no_gc
cdef class FunctionSchema:
    cdef readonly str name
    cdef readonly str overload_name
    cdef readonly tuple _arguments
    cdef readonly tuple _returns
    cdef readonly bint is_vararg
    cdef readonly bint is_varret
    cdef str _text
