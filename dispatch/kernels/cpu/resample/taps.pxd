"""Input elements and weights of each output element along one dimension: what interpolation is made of."""
from libc.stdint cimport int64_t, uint16_t

from dispatch._C.dtypes cimport ST_bfloat16, ST_float16

cdef enum Mode:
    NEAREST
    EXACT                        # nearest, of the elements' centres
    LINEAR
    CUBIC
    SMOOTH_LINEAR                # filters as wide as the step between output elements (antialias)
    SMOOTH_CUBIC
    SMOOTH_LANCZOS

ctypedef fused real:
    float
    double

cdef struct Taps:
    int64_t n                    # output elements
    int most                     # taps of each; those beyond its range have weight 0
    int64_t* index               # n * most; this table's own, freed by `free_taps`
    void* weight                 # n * most of `real`; NULL for NEAREST and EXACT

# MemoryError. `scale` <= 0: the ratio of the sizes.
cdef int make_taps(Taps* t, int64_t size, int64_t n, int mode, bint align_corners, double scale,
                   bint in_double) except -1
# `exact_ratio`: n of size or 2 * size has its elements once or twice, whatever the scale.
cdef int make_nearest(Taps* t, int64_t size, int64_t n, int mode, bint exact_ratio, double scale, bint in_double) except -1
cdef void free_taps(Taps* t) noexcept
# Weights (float) rounded to a 16-bit dtype.
cdef void round_weights(Taps* t, int code) noexcept
# Weights (double) as int32, in place, those of one and the same element added up at its first tap; their bits behind the point.
cdef int in_fixed_point(Taps* t) noexcept

cdef extern from "halves.h" nogil:
    float f32_of_f16(uint16_t h)
    float f32_of_bf16(uint16_t h)
    uint16_t f16_of_f32(float x)
    uint16_t bf16_of_f32(float x)

cdef inline float rounded(float x, int code) noexcept nogil:
    """x as the 16-bit dtype `code` holds it; any other code leaves it."""
    if code == ST_float16:
        return f32_of_f16(f16_of_f32(x))
    return f32_of_bf16(bf16_of_f32(x)) if code == ST_bfloat16 else x

cdef inline real cubic_near(real x) noexcept nogil:
    """The cubic convolution, free coefficient -0.75, up to a distance of 1."""
    return (<real>1.25 * x - <real>2.25) * x * x + 1

cdef inline real cubic_far(real x) noexcept nogil:
    """The same from 1 to 2."""
    return ((<real>-0.75 * x - <real>-3.75) * x + <real>-6) * x - <real>-3
