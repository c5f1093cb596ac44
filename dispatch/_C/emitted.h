/* The records that the code generator emits and the core reads: operators, arguments, defaults, kernels, rows.
   Plain static data: nothing is done with it at import, an operator is built from its records when it is first asked for. */
#ifndef DISPATCH_EMITTED_H
#define DISPATCH_EMITTED_H
#include <stdint.h>

/* What one element of an argument is. SymInt counts as INT, and so on. */
enum ArgKind {
    AK_OTHER = 0,        /* anything: passed as it is (a custom class, a future type) */
    AK_TENSOR, AK_INT, AK_FLOAT, AK_BOOL, AK_COMPLEX, AK_SCALAR, AK_STR, AK_DTYPE, AK_LAYOUT, AK_DEVICE, AK_MEMORY_FORMAT,
    AK_GENERATOR, AK_STORAGE, AK_STREAM, AK_DICT, AK_DIMNAME, AK_QSCHEME
};

enum ArgFlag {
    AF_OPTIONAL = 1,     /* T? at the outermost level: None is taken */
    AF_LIST = 2,         /* T[] */
    AF_ELEM_OPTIONAL = 4,/* T?[] */
    AF_LIST2 = 8,        /* T[][] */
    AF_KWARG_ONLY = 16,
    AF_OUT = 32,         /* a keyword-only argument that is written and returned */
    AF_WRITE = 64,       /* (a!) */
    AF_HAS_DEFAULT = 128,
    AF_SYM = 256         /* SymInt, SymInt[] ... */
};

typedef struct {
    uint16_t name;       /* index into ARG_NAMES */
    uint16_t flags;      /* ArgFlag */
    uint8_t kind;        /* ArgKind */
    uint8_t alias;       /* 0 none, 1 'a', 2 'b', ...; 255 the wildcard '*' */
    int16_t size;        /* N of T[N]; 0 none: a lone T is taken for T[N] */
    uint16_t dflt;       /* index into DEFAULTS; meaningful with AF_HAS_DEFAULT */
} emitted_arg;

typedef struct {
    uint16_t flags;      /* AF_LIST, AF_OPTIONAL, AF_WRITE ... */
    uint8_t kind;
    uint8_t alias;
} emitted_ret;

enum DefaultKind {
    DF_NONE, DF_BOOL, DF_INT, DF_FLOAT, DF_STR, DF_INTS, DF_BOOLS, DF_FLOATS, DF_DTYPE, DF_LAYOUT, DF_DEVICE, DF_MEMORY_FORMAT
};

typedef struct {
    uint8_t kind;        /* DefaultKind */
    int64_t i;           /* INT, BOOL; DTYPE, LAYOUT, MEMORY_FORMAT codes; number of elements of INTS, BOOLS */
    double f;            /* FLOAT */
    const char* s;       /* STR; DEVICE ("cpu"); FLOATS, as text */
    const int64_t* v;    /* INTS, BOOLS */
} emitted_default;

enum KernelKind {
    KK_CYTHON = 1,       /* C function (or shape function and body) in a generated registration shard: shard, slot */
    KK_PYTHON,           /* ref "package.module:function", imported when first called */
    KK_STRUCTURED,       /* ref "shape_module:function" and ref2 "body_module:function" (NULL: metadata only), both Python */
    KK_AD_INPLACE_OR_VIEW,   /* the one boxed kernel of operators that mutate or alias */
    KK_AUTOGEN_OUT,      /* calls the functional operator `target`, resizes and copies into the out arguments */
    KK_AUTOGEN_FUNCTIONAL,   /* clones self, calls the in-place operator `target` */
    KK_ALIAS,            /* calls `target` with the same arguments */
    KK_NUMBER,           /* calls `target` with the number at place `slot` as a wrapped tensor */
    KK_FALLTHROUGH,
    KK_DEFAULT,          /* for every backend: on the CPU the body, if there is one; elsewhere `target` or `elsewhere`;
                            shard and slot, or ref and ref2, as KK_CYTHON and KK_STRUCTURED have them */
    KK_BACKEND_SELECT    /* the device argument says which backend serves a call without tensors */
};

enum StructuredVariant { SV_FUNCTIONAL = 0, SV_INPLACE = 1, SV_OUT = 2 };

typedef struct {
    uint8_t key;         /* enum value of the dispatch key (alias keys too) */
    uint8_t kind;        /* KernelKind */
    uint8_t variant;     /* StructuredVariant */
    uint8_t n_out;       /* outputs of a structured kernel */
    uint16_t shard;      /* KK_CYTHON */
    uint16_t slot;       /* KK_CYTHON; KK_NUMBER: place of an argument */
    int32_t target;      /* operator index, for kernels made from another operator; else -1 */
    const char* ref;
    const char* ref2;
    const char* elsewhere;   /* KK_DEFAULT without a target: "module:function", what serves other devices than the CPU */
} emitted_kernel;

/* One entry of a registration shard's TABLE: what a KK_CYTHON kernel calls. */
typedef struct {
    void* adapter;       /* boxed_fn of the signature */
    void* fn;            /* unboxed kernel, or the shape function of a structured one */
    void* body;          /* structured: fills the outputs; NULL: metadata only. A PyObject* for an adapter of Python bodies */
} emitted_slot;

enum OpFlag {
    OF_FUNCTION = 1,     /* variants: function */
    OF_METHOD = 2,       /* variants: method */
    OF_MUTABLE = 4,      /* some argument is written */
    OF_ALIASING = 8,     /* some output aliases an input without writing it: a view */
    OF_INPLACE = 16,     /* name ends in one underscore, or __i...__ */
    OF_OUT = 32          /* has out arguments */
};

typedef struct {
    const char* name;    /* "aten::add" */
    const char* overload;/* "Tensor", "" for the default overload */
    const char* schema;  /* the whole text as it prints: "aten::add.Tensor(Tensor self, ...) -> Tensor" */
    uint32_t first_arg;  /* into ARGS */
    uint32_t first_ret;  /* into RETS */
    uint32_t first_kernel;   /* into KERNELS */
    uint32_t tags;       /* bit i: tag i of tags.yaml */
    uint16_t row;        /* into ROWS */
    uint8_t n_args;
    uint8_t n_pos;       /* arguments before '*' */
    uint8_t n_rets;
    uint8_t n_kernels;
    uint16_t flags;      /* OpFlag */
} emitted_op;

/* Row entries: below ROW_SPECIAL the number of one of the operator's own kernels. */
enum { ROW_SPECIAL = 0xF0, ROW_AMBIGUOUS = 0xFD, ROW_FALLBACK = 0xFF };

/* The whole of a schema set, as one object: the core reads this package's, an out-of-tree package hands over its own. */
typedef struct {
    const emitted_op* ops;           /* sorted by name (strcmp), overloads of one name in the order of the YAML file */
    const emitted_arg* args;
    const emitted_ret* rets;
    const emitted_default* defaults;
    const emitted_kernel* kernels;
    const char* const* arg_names;
    const uint8_t* rows;             /* n_rows x n_runtime */
    const uint64_t* row_hard;        /* by row: functionality bits (bit 16 and up) with an own kernel for some backend */
    const char* const* shards;       /* module names of the registration shards, "dispatch._C.generated.kernels_views" */
    uint32_t n_ops, n_args, n_kernels, n_rows, n_runtime, n_shards, n_arg_names;
} emitted_set;
#endif
