/* What emitted loops and the driver share: how elements are loaded and stored, numbers, the table of one formula's loops.

   A loop has numpy's signature: pointers to the operands and outputs, a count, steps in bytes, and the operator's numbers. It is
   compiled twice, for any processor (`base`) and for those with AVX2 and FMA (`avx2`); one that computes much with real numbers a
   third time, for AVX-512 (`avx512`). A module picks one when it is imported.
   Narrow dtypes (16 and 8 bits, complex32) have no loops of their own: the driver converts blocks of them. But where a formula
   computes little, there are loops that convert 16-bit floats as they load and store them: an operand of such a loop that stands
   still (a step of 0) is a float32. */
#ifndef DISPATCH_LOOPS_H
#define DISPATCH_LOOPS_H
#include <complex.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <tgmath.h>
#undef I

#include "types.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define HAS_AVX2_LEVEL 1
#define cpu_has_avx2() (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c"))
#define cpu_has_avx512() (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") \
                          && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
#else
#define HAS_AVX2_LEVEL 0
#define cpu_has_avx2() 0
#endif

#define UNUSED __attribute__((unused))
#define INLINE static inline __attribute__((always_inline, unused))
#define SELDOM static __attribute__((noinline, unused))     /* of a few elements: never of a whole vector of them */

/* A Scalar argument in the dtype of computation, an int or a bool as int64_t. */
typedef union {
    float f32;
    double f64;
    int64_t i64;
    float _Complex c64;
    double _Complex c128;
    char bytes[16];
} number;

typedef void (*inner_loop)(char **args, const intptr_t *count, const intptr_t *steps, void *data);

enum { MAX_OPERANDS = 8 };
enum { OF_COMPUTE = -1, OF_REAL = -2 };   /* the dtype of computation; its real one */

/* One formula: a loop for each dtype of computation. */
typedef struct {
    inner_loop loops[ST_COUNT];      /* by dtype of computation; NULL: no kernel, unless `narrow` has the dtype */
    void *data[ST_COUNT];            /* what a loop of numpy's wants; NULL: the numbers */
    inner_loop halves[2];            /* of float16 and bfloat16, converted as they are loaded; NULL: blocks are, by the driver */
    uint64_t narrow;                 /* dtypes that are converted, in blocks, to a wider one that has a loop */
    uint64_t needs;                  /* dtypes whose loops read the numbers */
    int8_t n_in, n_out;
    int8_t exact;                    /* an operand that is not rounded to a narrow dtype if it has one element; -1: none */
    int8_t dtypes[MAX_OPERANDS];     /* operands, then outputs: OF_COMPUTE, OF_REAL or a dtype of its own */
} formula;

/* A check has no outputs: its loop sets this where an element is refused. */
#define FAULT ((number *)loop_data)->i64

#define PASTE_3(a, b, c) a##_##b##_##c
#define PASTE(a, b, c) PASTE_3(a, b, c)
#define FN(name) PASTE(name, TYPE, LEVEL)            /* a function of formulas.h in the dtype of computation */
#define OF_PART(name) PASTE(name, PART_TYPE, LEVEL)  /* ... in that of a complex number's parts */

/* By the short name of a dtype: the type that elements are stored in, and that of computation. */
#define STORED_b8 uint8_t
#define STORED_u8 uint8_t
#define STORED_i8 int8_t
#define STORED_i16 int16_t
#define STORED_i32 int32_t
#define STORED_i64 int64_t
#define STORED_u16 uint16_t
#define STORED_u32 uint32_t
#define STORED_u64 uint64_t
#define STORED_f32 float
#define STORED_f64 double
#define STORED_c64 float _Complex
#define STORED_c128 double _Complex
#define COMPUTED_b8 bool
#define COMPUTED_u8 uint8_t
#define COMPUTED_i8 int8_t
#define COMPUTED_i16 int16_t
#define COMPUTED_i32 int32_t
#define COMPUTED_i64 int64_t
#define COMPUTED_u16 uint16_t
#define COMPUTED_u32 uint32_t
#define COMPUTED_u64 uint64_t
#define COMPUTED_f32 float
#define COMPUTED_f64 double
#define COMPUTED_c64 float _Complex
#define COMPUTED_c128 double _Complex
#define SIZE_OF(type) ((intptr_t)sizeof(STORED_##type))
#define LOAD(type, at) ((COMPUTED_##type)(*(const STORED_##type *)(at)))
#define STORE(type, at, value) (*(STORED_##type *)(at) = (STORED_##type)(value))
#define NUMBER(type, i) (*(const type *)loop_numbers[i].bytes)
#endif
