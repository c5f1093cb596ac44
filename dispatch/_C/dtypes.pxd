"""dtype, layout, memory_format, device: interned value objects, and the C tables by code.

Codes are c10's: ScalarType for dtypes, DeviceType for devices, Layout, MemoryFormat.
"""
from libc.stdint cimport int8_t, int16_t, uint8_t

cdef enum ScalarType:
    ST_uint8 = 0
    ST_int8 = 1
    ST_int16 = 2
    ST_int32 = 3
    ST_int64 = 4
    ST_float16 = 5
    ST_float32 = 6
    ST_float64 = 7
    ST_complex32 = 8
    ST_complex64 = 9
    ST_complex128 = 10
    ST_bool = 11
    ST_bfloat16 = 15
    ST_float8_e5m2 = 23
    ST_float8_e4m3fn = 24
    ST_float8_e5m2fnuz = 25
    ST_float8_e4m3fnuz = 26
    ST_uint16 = 27
    ST_uint32 = 28
    ST_uint64 = 29
    ST_float8_e8m0fnu = 44
    ST_COUNT = 48            # size of tables by code
    ST_NONE = -1             # no dtype given (ScalarType? None)

cdef enum DeviceType:
    DEV_CPU = 0
    DEV_CUDA = 1
    DEV_META = 14
    DEV_PRIVATEUSE1 = 20
    DEV_COUNT = 21

cdef enum Layout:
    LAYOUT_strided = 0
    LAYOUT_sparse_coo = 1
    LAYOUT_sparse_csr = 2
    LAYOUT_mkldnn = 3
    LAYOUT_sparse_csc = 4
    LAYOUT_sparse_bsr = 5
    LAYOUT_sparse_bsc = 6
    LAYOUT_jagged = 7

cdef enum MemoryFormat:
    MF_contiguous = 0
    MF_preserve = 1
    MF_channels_last = 2
    MF_channels_last_3d = 3
    MF_NONE = -1

cdef class dtype:
    cdef readonly str name
    cdef readonly int itemsize
    cdef int code

cdef class layout:
    cdef readonly str name
    cdef int code

cdef class memory_format:
    cdef readonly str name
    cdef int code

cdef class device:
    cdef int8_t devtype       # DeviceType
    cdef int8_t devindex      # -1: no index

cdef uint8_t* itemsize_table() noexcept nogil          # bytes by ScalarType code
cdef int8_t* promote_table() noexcept nogil            # [a * ST_COUNT + b] -> promoted code, -1: no promotion defined
cdef dtype get_dtype(int code)                         # interned
cdef layout get_layout(int code)                       # interned
cdef memory_format get_memory_format(int code)         # interned
cdef device new_device(int devtype, int devindex)      # interned where it can be (equal devices compare equal either way)
cdef int default_dtype_code() noexcept nogil           # set_default_dtype
cdef int dtype_code(object o) except -2                # dtype object (also Python float/int/bool/complex types) -> code; TypeError
cdef device device_of(object o)                        # device, str or int (index of the default accelerator: cuda) -> device; RuntimeError as torch.device raises
cdef object numpy_descr(int code)                      # numpy dtype object for a code (bfloat16, float8: ml_dtypes, imported on first use); TypeError for complex32
cdef int code_of_numpy(object descr) except -2         # the reverse; TypeError
cdef int default_dtype_code() noexcept nogil           # get_default_dtype() as a code
cdef bint is_castable(int source, int target) noexcept nogil   # torch.can_cast: no complex to real, float to integer, number to bool
cdef str device_type_name(int devtype)                 # "cpu", "cuda", ...; PrivateUse1 by the name it was given

cdef inline bint is_floating_code(int c) noexcept nogil:
    return 5 <= c <= 7 or c == 15 or 23 <= c <= 26 or c == 44

cdef inline bint is_complex_code(int c) noexcept nogil:
    return 8 <= c <= 10

cdef inline bint is_integral_code(int c, bint include_bool) noexcept nogil:
    return 0 <= c <= 4 or 27 <= c <= 29 or (include_bool and c == 11)

cdef inline int category_of_code(int c) noexcept nogil:
    """0 bool, 1 integer, 2 floating, 3 complex."""
    if c == 11:
        return 0
    if is_integral_code(c, False):
        return 1
    return 3 if is_complex_code(c) else 2
