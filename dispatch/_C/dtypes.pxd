"""dtype, layout, memory_format, device: interned value objects, and the C tables by code.

Codes are c10's: ScalarType for dtypes, DeviceType for devices, Layout, MemoryFormat. They and the
sets of dtypes come from `schemas/types.yaml` and can be cimported from here.
"""
from libc.stdint cimport int8_t, uint8_t, uint64_t

from dispatch._C.generated.types cimport *   # ST_, DEV_, LAYOUT_, MF_ numbers; DTYPES_ sets

cdef class Singleton:
    cdef readonly str name
    cdef int code

cdef class dtype(Singleton):
    cdef readonly int itemsize

cdef class layout(Singleton):
    pass

cdef class memory_format(Singleton):
    pass

cdef class device:
    cdef int8_t devtype       # DEV_
    cdef int8_t devindex      # -1: no index

cdef uint8_t* itemsize_table() noexcept nogil          # bytes by ScalarType code
cdef int8_t* promote_table() noexcept nogil            # [a * ST_COUNT + b] -> promoted code, -1: no promotion defined
cdef dtype get_dtype(int code)                         # interned
cdef layout get_layout(int code)                       # interned
cdef memory_format get_memory_format(int code)         # interned
cdef device new_device(int devtype, int devindex)      # interned where it can be (equal devices compare equal either way)
cdef int default_dtype_code() noexcept nogil           # set_default_dtype
cdef int dtype_code(object o) except -2                # of a dtype, or Python's float, int, bool, complex; TypeError
cdef device device_of(object o)                        # device, str or int (an index of cuda); RuntimeError as torch.device raises
cdef object numpy_descr(int code)                      # numpy's dtype (imports numpy, ml_dtypes); TypeError when there is none
cdef int code_of_numpy(object descr) except -2         # the reverse; TypeError
cdef int default_dtype_code() noexcept nogil           # get_default_dtype() as a code
cdef bint is_castable(int source, int target) noexcept nogil   # no complex to real, float to integer, number to bool
cdef str device_type_name(int devtype)                 # "cpu", "cuda", ...; PrivateUse1 by the name it was given

cdef inline bint is_in(uint64_t dtypes, int c) noexcept nogil:
    """Whether a set DTYPES_ has the dtype `c`; ST_NONE is in none."""
    return dtypes >> (c & 63) & 1

cdef inline bint is_floating_code(int c) noexcept nogil:
    return is_in(DTYPES_FLOATING | DTYPES_FLOAT8, c)

cdef inline bint is_complex_code(int c) noexcept nogil:
    return is_in(DTYPES_ALL_COMPLEX, c)

cdef inline bint is_integral_code(int c, bint include_bool) noexcept nogil:
    return is_in(DTYPES_INTEGRAL | DTYPES_WIDE_UNSIGNED, c) or (include_bool and c == ST_bool)

cdef inline int category_of_code(int c) noexcept nogil:
    """0 bool, 1 integer, 2 floating, 3 complex."""
    if c == ST_bool:
        return 0
    if is_integral_code(c, False):
        return 1
    return 3 if is_complex_code(c) else 2
