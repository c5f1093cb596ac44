"""All of `emitted.h`: the records that the generator emits, and the words in them. The header explains each field.

Who reads them: `dispatcher` (operators, kernels, rows) and, their words, whoever looks at a signature. The words of an argument are
its kind (AK_*) and its flags (AF_*).
"""
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef extern from "emitted.h" nogil:
    enum:                    # ArgKind
        AK_OTHER, AK_TENSOR, AK_INT, AK_FLOAT, AK_BOOL, AK_COMPLEX, AK_SCALAR, AK_STR, AK_DTYPE, AK_LAYOUT, AK_DEVICE
        AK_MEMORY_FORMAT, AK_GENERATOR, AK_STORAGE, AK_STREAM, AK_DICT, AK_DIMNAME, AK_QSCHEME
    enum:                    # ArgFlag
        AF_OPTIONAL, AF_LIST, AF_ELEM_OPTIONAL, AF_LIST2, AF_KWARG_ONLY, AF_OUT, AF_WRITE, AF_HAS_DEFAULT, AF_SYM
    enum:                    # DefaultKind
        DF_NONE, DF_BOOL, DF_INT, DF_FLOAT, DF_STR, DF_INTS, DF_BOOLS, DF_FLOATS, DF_DTYPE, DF_LAYOUT, DF_DEVICE, DF_MEMORY_FORMAT
    enum:                    # KernelKind
        KK_CYTHON, KK_PYTHON, KK_STRUCTURED, KK_AD_INPLACE_OR_VIEW, KK_AUTOGEN_OUT, KK_AUTOGEN_FUNCTIONAL, KK_ALIAS, KK_NUMBER
        KK_FALLTHROUGH, KK_DEFAULT, KK_BACKEND_SELECT
        KK_COUNT "(KK_BACKEND_SELECT + 1)"
    enum:                    # StructuredVariant
        SV_FUNCTIONAL, SV_INPLACE, SV_OUT
    enum:                    # OpFlag
        OF_FUNCTION, OF_METHOD, OF_MUTABLE, OF_ALIASING, OF_INPLACE, OF_OUT
    enum:                    # entries of a row
        ROW_SPECIAL, ROW_AMBIGUOUS, ROW_FALLBACK
    ctypedef struct emitted_arg:
        uint16_t name, flags
        uint8_t kind, alias
        int16_t size
        uint16_t dflt
    ctypedef struct emitted_ret:
        uint16_t flags
        uint8_t kind, alias
    ctypedef struct emitted_default:
        uint8_t kind
        int64_t i
        double f
        const char* s
        const int64_t* v
    ctypedef struct emitted_kernel:
        uint8_t key, kind, variant, n_out
        uint16_t shard, slot
        int32_t target
        const char* ref
        const char* ref2
        const char* elsewhere
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
