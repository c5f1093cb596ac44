"""Operators that fill a tensor from a distribution: the numbers that PyTorch draws on the CPU for the same seed.

Called by the dispatcher, and by the factories of `composite/random`. A kernel checks its arguments in PyTorch's order, then `fill`
draws; which step is rounded to what is part of the numbers: distributions of doubles are rounded once, to the output's dtype,
uniform ones are drawn as float or double, and products and sums of what PyTorch compiles for wide registers are fused.
"""
import warnings

from libc.math cimport M_PI, ceil, exp, isfinite, log, log1p, sqrt, tan
from libc.stdint cimport INT64_MAX, INT64_MIN, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcmp, memcpy

from dispatch._C.dtypes cimport (
    DTYPES_ALL_COMPLEX, DTYPES_FLOAT8, DTYPES_FLOATING, DTYPES_INTEGRAL_AND_BOOL, DTYPES_INTEGRAL_AND_FLOATING,
    DTYPES_WIDE_UNSIGNED, ST_bfloat16, ST_bool, ST_float16, ST_float32, ST_float64, ST_int16, ST_int32, ST_int64, ST_uint8,
    ST_uint16, ST_uint32, ST_uint64, is_in,
)
from dispatch._C.errors cimport refused
from dispatch._C.errors import unserved
from dispatch._C.generator cimport (
    Generator, Mersenne, borrow, generator_of, give_back, try_borrow,
    mersenne_double, mersenne_doubles, mersenne_draw, mersenne_draw64,
    mersenne_draw_all, mersenne_float, mersenne_floats, mersenne_normal, mersenne_scale_doubles, mersenne_scale_floats,
)
from dispatch._C.geometry cimport TF_CONTIGUOUS
from dispatch._C.steady cimport new_steady
from dispatch._C.storage cimport shared_owner
from dispatch._C.tensor cimport data_of
from dispatch.kernels.cpu.casts cimport get_cast
from dispatch.kernels.cpu.random.drawing cimport Draw, check_target, fill, maker, to_scalar

from dispatch._C.structured import check_written
from dispatch._ops import ops

cdef extern from "normal.h" nogil:
    void normal_blocks_double(double* data, int64_t blocks, double mean, double std)
    void normal_blocks_float(float* data, int64_t blocks, float mean, float std)

cdef enum:
    BLOCK = 16                   # of normal numbers that are made together
    PIECE = 1024                 # numbers of a pass that stays in the cache
    WITHOUT_LOCK = 32768         # elements from which the interpreter's lock is given back
    NARROW_RANGE = 1 << 28       # of integers: below, 32 bits are drawn for each

cdef object aten = ops.aten

cdef double LARGEST_FLOAT16 = 65504.0
cdef double LARGEST_BFLOAT16 = 3.3895313892515355e38
cdef double LARGEST_FLOAT32 = 3.4028234663852886e38
cdef double LARGEST_FLOAT64 = 1.7976931348623157e308


cdef int refuse_dtype(Tensor self) except -1:
    raise unserved(self.dtype)


cdef inline double largest(int code) noexcept:
    if code == ST_float64:
        return LARGEST_FLOAT64
    if code == ST_float32:
        return LARGEST_FLOAT32
    return LARGEST_FLOAT16 if code == ST_float16 else LARGEST_BFLOAT16


cdef inline int digits(int code) noexcept:
    """Bits of the significand: up to 2 to that, floats hold every integer."""
    if code == ST_float64:
        return 53
    if code == ST_float32:
        return 24
    return 11 if code == ST_float16 else 8


# ---- uniform -----------------------------------------------------------------------------------


cdef bint make_uniform(Mersenne* m, const Draw* d, void* values, const double* x, const double* y, int64_t n) noexcept nogil:
    """Doubles; what rounding makes of the end of the range becomes its beginning."""
    cdef double* v = <double*>values
    cdef int64_t i
    mersenne_doubles(m, v, n)
    mersenne_scale_doubles(v, n, d.a, d.b - d.a)
    for i in range(n):
        if v[i] == d.b:
            v[i] = d.a
    return False


cdef bint make_fractions(Mersenne* m, const Draw* d, void* values, const double* x, const double* y, int64_t n) noexcept nogil:
    """Floats in [0, 1), which no rounding reaches the end of."""
    mersenne_floats(m, <float*>values, n)
    return False


cdef bint make_uniform_floats(Mersenne* m, const Draw* d, void* values, const double* x, const double* y, int64_t n) noexcept nogil:
    cdef float* v = <float*>values
    cdef float low = <float>d.a, high = <float>d.b, end = <float>to_scalar(d.code, d.b), begin = <float>to_scalar(d.code, d.a)
    cdef uint16_t narrow[PIECE]
    cdef int64_t i
    mersenne_floats(m, v, n)
    mersenne_scale_floats(v, n, low, high - low)
    if d.code != ST_float32:
        get_cast(ST_float32, d.code)(<char*>v, 4, <char*>narrow, 2, n)
        get_cast(d.code, ST_float32)(<char*>narrow, 2, <char*>v, 4, n)
    for i in range(n):
        if v[i] == end:
            v[i] = begin
    return False


cdef int check_bounds(Tensor self, double low, double high) except -1:
    """RuntimeError unless [low, high) and its length are within the dtype."""
    cdef double most = largest(self.c_dtype)
    if not -most <= low <= most:
        raise refused(f"from={low} is out of bounds for {self.dtype}")
    if not -most <= high <= most:
        raise refused(f"to={high} is out of bounds for {self.dtype}")
    if low > high:
        raise refused(f"uniform_ expects to return a range from low to high, but found from={low} > to={high}")
    if high - low > most:
        raise refused(f"uniform_ expects to-from to fit {self.dtype}, but found to={high} and from={low}")
    return 0


cdef object uniform_(Tensor self, double from_, double to, object generator):
    """Uniform in [from_, to); both parts of complex numbers are."""
    cdef Draw d
    if is_in(DTYPES_ALL_COMPLEX, self.c_dtype):
        if self.c_numel:
            uniform_(<Tensor?>aten.view_as_real.default(self), from_, to, generator)
        return self
    if not is_in(DTYPES_FLOATING, self.c_dtype):
        refuse_dtype(self)
    check_bounds(self, from_, to)
    if not self.c_numel:
        return self
    check_target(self)
    d.a = from_
    d.b = to
    d.values = ST_float64 if self.c_dtype == ST_float64 else ST_float32
    d.make = make_uniform if d.values == ST_float64 else make_uniform_floats
    if self.c_dtype == ST_float32 and from_ == 0 and to == 1:
        d.make = make_fractions
    fill(self, generator, &d)
    return self


# ---- normal ------------------------------------------------------------------------------------


cdef bint make_normal(Mersenne* m, const Draw* d, void* values, const double* x, const double* y, int64_t n) noexcept nogil:
    cdef double* v = <double*>values
    cdef int64_t i
    for i in range(n):
        v[i] = mersenne_normal(m)
    mersenne_scale_doubles(v, n, d.a, d.b)
    return False


cdef bint make_log_normal(Mersenne* m, const Draw* d, void* values, const double* x, const double* y, int64_t n) noexcept nogil:
    cdef double* v = <double*>values
    cdef int64_t i
    make_normal(m, d, values, x, y, n)
    for i in range(n):
        v[i] = exp(v[i])
    return False


ctypedef fused real:
    float
    double


cdef inline void make_blocks(Mersenne* m, real* data, int64_t n, double mean, double std) noexcept nogil:
    """`n` numbers, of which the last n % 16 are left uniform."""
    if real is float:
        mersenne_floats(m, data, n)
        normal_blocks_float(data, n // BLOCK, <float>mean, <float>std)
    else:
        mersenne_doubles(m, data, n)
        normal_blocks_double(data, n // BLOCK, mean, std)


cdef void fill_blocks(Mersenne* m, real* data, int64_t n, double mean, double std) noexcept nogil:
    """The last 16 are made anew when they are no whole block."""
    cdef int64_t i = 0
    while i < n:
        make_blocks(m, data + i, PIECE if n - i > PIECE else n - i, mean, std)
        i += PIECE
    if n % BLOCK:
        make_blocks(m, data + n - BLOCK, BLOCK, mean, std)


cdef void fill_half_blocks(Mersenne* m, int code, uint16_t* data, int64_t n, double mean, double std) noexcept nogil:
    cdef float block[BLOCK]
    cdef int64_t i = 0, start
    while i < n:
        start = i if n - i >= BLOCK else n - BLOCK
        make_blocks(m, <float*>block, BLOCK, mean, std)
        get_cast(ST_float32, code)(<char*>block, 4, <char*>(data + start), 2, BLOCK)
        i += BLOCK


cdef void fill_contiguous(Mersenne* m, int code, char* data, int64_t n, double mean, double std) noexcept nogil:
    if code == ST_float32:
        fill_blocks(m, <float*>data, n, mean, std)
    elif code == ST_float64:
        fill_blocks(m, <double*>data, n, mean, std)
    else:
        fill_half_blocks(m, code, <uint16_t*>data, n, mean, std)


cdef int fill_normal(Tensor self, double mean, double std, object generator) except -1:
    cdef Generator g = generator_of(generator)
    cdef char* data = data_of(self, 8 if self.c_dtype == ST_float64 else 4 if self.c_dtype == ST_float32 else 2)
    cdef Mersenne* m
    cdef int64_t n = self.c_numel              # another thread may give it other sizes
    cdef int code = self.c_dtype
    if n < WITHOUT_LOCK and try_borrow(g):
        fill_contiguous(&g.engine, code, data, n, mean, std)
        give_back(g)
        return 0
    kept = shared_owner(self.c_storage)
    m = borrow(g)
    with nogil:
        fill_contiguous(m, code, data, n, mean, std)
        give_back(g)
    return 0


cdef object normal_(Tensor self, double mean, double std, object generator):
    """Normal; of complex numbers each part has half the variance."""
    cdef Draw d
    if not std >= 0:
        raise refused(f"normal expects std >= 0.0, but found std {std}")
    if not self.c_numel:
        return self
    if is_in(DTYPES_ALL_COMPLEX, self.c_dtype):
        normal_(<Tensor?>aten.view_as_real.default(self), mean, std / sqrt(2.0), generator)
        return self
    if not is_in(DTYPES_FLOATING, self.c_dtype):
        refuse_dtype(self)
    if self.c_numel >= BLOCK and self.c_flags & TF_CONTIGUOUS:
        fill_normal(self, mean, std, generator)
        return self
    check_target(self)
    d.values = ST_float64
    d.make = make_normal
    d.a = mean
    d.b = std
    fill(self, generator, &d)
    return self


cdef object log_normal_(Tensor self, double mean, double std, object generator):
    """exp of a normal distribution."""
    if not std > 0:
        raise refused(f"expected std to be positive, got {std}")
    return fill_doubles(self, make_log_normal, mean, std, DTYPES_FLOATING, generator)


# ---- distributions of doubles ------------------------------------------------------------------

cdef object fill_doubles(Tensor self, maker make, double a, double b, uint64_t allowed, object generator):
    cdef Draw d
    if not self.c_numel:
        return self
    check_target(self)
    if not is_in(allowed, self.c_dtype):
        refuse_dtype(self)
    d.values = ST_float64
    d.make = make
    d.a = a
    d.b = b
    fill(self, generator, &d)
    return self


cdef bint make_cauchy(Mersenne* m, const Draw* d, void* values, const double* x, const double* y, int64_t n) noexcept nogil:
    cdef double* v = <double*>values
    cdef int64_t i
    mersenne_doubles(m, v, n)
    for i in range(n):
        v[i] = tan(M_PI * (v[i] - 0.5))
    mersenne_scale_doubles(v, n, d.a, d.b)
    return False


cdef bint make_exponential(Mersenne* m, const Draw* d, void* values, const double* x, const double* y, int64_t n) noexcept nogil:
    cdef double* v = <double*>values
    cdef double factor = -1.0 / d.a
    cdef int64_t i
    mersenne_doubles(m, v, n)
    for i in range(n):
        v[i] = factor * log1p(-v[i])
    return False


cdef bint make_geometric(Mersenne* m, const Draw* d, void* values, const double* x, const double* y, int64_t n) noexcept nogil:
    cdef double* v = <double*>values
    cdef double log_failure = log1p(-d.a)
    cdef int64_t i
    mersenne_doubles(m, v, n)
    for i in range(n):
        v[i] = ceil(log(v[i]) / log_failure)
    return False


cdef bint make_coins(Mersenne* m, const Draw* d, void* values, const double* x, const double* y, int64_t n) noexcept nogil:
    cdef int64_t* v = <int64_t*>values
    cdef int64_t i
    for i in range(n):
        v[i] = mersenne_double(m) < d.a
    return False


cdef object cauchy_(Tensor self, double median, double sigma, object generator):
    """Cauchy's distribution."""
    if not sigma > 0:
        raise refused(f"expected sigma to be positive, got {sigma}")
    if not is_in(DTYPES_FLOATING | DTYPES_FLOAT8, self.c_dtype):
        raise refused(f"expected a floating-point self, got {self.dtype}")
    return fill_doubles(self, make_cauchy, median, sigma, DTYPES_FLOATING, generator)


cdef object exponential_(Tensor self, double lambd, object generator):
    """Exponential with the rate `lambd`."""
    if not lambd > 0:
        raise refused(f"expected lambd to be positive, got {lambd}")
    if self.c_numel and not is_in(DTYPES_FLOATING | DTYPES_FLOAT8, self.c_dtype):
        check_target(self)
        raise refused(f"expected a floating-point self, got {self.dtype}")
    return fill_doubles(self, make_exponential, lambd, 0, DTYPES_FLOATING, generator)


cdef object geometric_(Tensor self, double p, object generator):
    """How many throws of probability `p` until the first that succeeds."""
    if not 0 < p < 1:
        raise refused(f"expected p between 0 and 1, both left out, got {p}")
    return fill_doubles(self, make_geometric, p, 0, DTYPES_INTEGRAL_AND_FLOATING, generator)


# ---- coins -------------------------------------------------------------------------------------


cdef object bernoulli_(Tensor self, double p, object generator):
    """Ones with probability `p`, else zeros."""
    cdef Draw d
    if not 0 <= p <= 1:
        raise refused(f"expected p between 0 and 1, got {p}")
    if not self.c_numel:
        return self
    check_target(self)
    if not is_in(DTYPES_INTEGRAL_AND_BOOL | DTYPES_FLOATING, self.c_dtype):
        refuse_dtype(self)
    d.values = ST_int64
    d.make = make_coins
    d.a = p
    fill(self, generator, &d)
    return self


cdef bint toss(Mersenne* m, const Draw* d, void* values, const double* x, const double* y, int64_t n) noexcept nogil:
    """Ones with the probabilities `x`; what is none stops."""
    cdef int64_t* v = <int64_t*>values
    cdef int64_t i
    for i in range(n):
        if not 0 <= x[i] <= 1:
            return True
        v[i] = (mersenne_double(m) if d.range else <double>mersenne_float(m)) < x[i]
    return False


cdef bint is_same_size(Tensor a, Tensor b) noexcept:
    return a.c_ndim == b.c_ndim and not memcmp(a.c_sizes, b.c_sizes, a.c_ndim * sizeof(int64_t))


def bernoulli(Tensor out not None, Tensor self not None, generator):
    """Ones in `out` with the probabilities in self: the body of a structured group."""
    bernoulli_tensor_(out, self, generator)


cdef object bernoulli_tensor_(Tensor self, Tensor p, object generator):
    """Ones with the probabilities in `p`, which broadcasts to self; 24 bits are drawn for each, 53 where `p` is double."""
    cdef Draw d
    cdef Tensor given = self
    if not self.c_numel:
        return self
    check_target(self)
    if not is_in(DTYPES_INTEGRAL_AND_BOOL | DTYPES_FLOATING, self.c_dtype):
        refuse_dtype(self)
    if not is_same_size(p, self):
        self = new_steady(self)
        p = <Tensor?>aten.expand.default(p, list(self.shape))
    if not is_in(DTYPES_FLOATING, p.c_dtype):
        refuse_dtype(p)
    d.values = ST_int64
    d.make = toss
    d.range = p.c_dtype == ST_float64
    if fill(self, generator, &d, p):
        raise refused("expected all probabilities to be between 0 and 1")
    return given


# ---- integers ----------------------------------------------------------------------------------


cdef bint make_narrow(Mersenne* m, const Draw* d, void* values, const double* x, const double* y, int64_t n) noexcept nogil:
    cdef int64_t* v = <int64_t*>values
    cdef uint32_t size = <uint32_t>d.range
    cdef int64_t i
    for i in range(n):
        v[i] = d.base + <int64_t>(mersenne_draw(m) % size)
    return False


cdef bint make_wide(Mersenne* m, const Draw* d, void* values, const double* x, const double* y, int64_t n) noexcept nogil:
    cdef int64_t* v = <int64_t*>values
    cdef uint64_t drawn
    cdef int64_t i
    for i in range(n):
        drawn = mersenne_draw64(m)
        if d.range:
            drawn %= d.range
        v[i] = <int64_t>(drawn + <uint64_t>d.base)
    return False


cdef bint make_modulo(Mersenne* m, const Draw* d, void* values, const double* x, const double* y, int64_t n) noexcept nogil:
    """32 bits for each, whatever the range, which fits in 32 bits."""
    cdef uint32_t words[PIECE]
    cdef int64_t* v = <int64_t*>values
    cdef uint32_t size = <uint32_t>d.range
    cdef bint is_power = not size & (size - 1)
    cdef int64_t i
    mersenne_draw_all(m, words, n)
    for i in range(n):
        v[i] = words[i] & (size - 1) if is_power else words[i] % size
    return False


cdef int range_of(int code, int64_t* first, int64_t* last) noexcept:
    """The values of an integral dtype, as far as int64 goes."""
    cdef int bits = 8
    first[0] = 0
    if code == ST_bool:
        last[0] = 1
        return 0
    if code in (ST_int16, ST_uint16):
        bits = 16
    elif code in (ST_int32, ST_uint32):
        bits = 32
    elif code in (ST_int64, ST_uint64):
        bits = 64
    if code in (ST_uint8, ST_uint16, ST_uint32):
        last[0] = (<int64_t>1 << bits) - 1
        return 0
    last[0] = INT64_MAX >> (64 - bits)
    if code != ST_uint64:
        first[0] = -last[0] - 1
    return 0


cdef int advise_unexact(Tensor self, str name, int64_t bound) except -1:
    """Beyond its digits a float leaves integers out."""
    cdef int n = digits(self.c_dtype)
    if not -(<int64_t>1 << n) <= bound <= <int64_t>1 << n:
        warnings.warn(f"{name} is out of bounds [-(2^{n}), 2^{n}], within which {self.dtype} has every integer: {bound}",
                      UserWarning, stacklevel=2)
    return 0


cdef int check_integers(Tensor self, int64_t first, int64_t last) except -1:
    """RuntimeError when the dtype does not hold them."""
    cdef int64_t low, high
    cdef double most
    if is_in(DTYPES_FLOATING, self.c_dtype):
        most = largest(self.c_dtype)
        if not -most <= first <= most:
            raise refused(f"from is out of bounds for {self.dtype}: {first}")
        if not -most <= last <= most:
            raise refused(f"to - 1 is out of bounds for {self.dtype}: {last}")
        advise_unexact(self, "from", first)
        advise_unexact(self, "to - 1", last)
        return 0
    if not is_in(DTYPES_INTEGRAL_AND_BOOL | DTYPES_WIDE_UNSIGNED, self.c_dtype):
        raise refused(f"expected integers or floats, got {self.dtype}")
    range_of(self.c_dtype, &low, &high)
    if not low <= first <= high:
        raise refused(f"from is out of bounds for {self.dtype}: {first}")
    if not low <= last <= high:
        raise refused(f"to - 1 is out of bounds for {self.dtype}: {last}")
    return 0


cdef int64_t moved(int code, int64_t value, int step) noexcept:
    """`value` when the dtype can hold its neighbour, else the nearest number that it holds (PyTorch's update_from, update_to)."""
    cdef double rounded = <double>(value + step) if code == ST_float64 else to_scalar(code, <float>(value + step))
    cdef int64_t neighbour
    cdef uint64_t magnitude
    cdef int bits = -1
    if not isfinite(rounded):
        return value
    neighbour = <int64_t>rounded
    if (neighbour >= value) if step > 0 else (neighbour < value):
        return value
    magnitude = <uint64_t>(value + step) if value + step >= 0 else -<uint64_t>(value + step)
    while magnitude:
        magnitude >>= 1
        bits += 1
    return neighbour + step * (<int64_t>1 << (bits - digits(code) + 1))


cdef object draw_integers(Tensor self, int64_t first, uint64_t size, object generator):
    cdef Draw d
    if not self.c_numel:
        return self
    d.values = ST_int64
    d.range = size
    d.base = first
    d.make = make_narrow if 0 < size < NARROW_RANGE else make_wide
    fill(self, generator, &d)
    return self


cdef object random_(Tensor self, object generator):
    """Integers from 0 to the dtype's largest, of floats as far as they hold every integer."""
    cdef Draw d
    cdef int64_t first, last
    if not self.c_numel:
        return self
    check_target(self)
    d.values = ST_int64
    d.base = 0
    if is_in(DTYPES_FLOATING, self.c_dtype):
        d.range = (<uint64_t>1 << digits(self.c_dtype)) + 1
    elif is_in(DTYPES_INTEGRAL_AND_BOOL, self.c_dtype):
        range_of(self.c_dtype, &first, &last)
        d.range = <uint64_t>last + 1
    else:
        refuse_dtype(self)
    d.make = make_wide if self.c_dtype == ST_float64 or self.c_dtype == ST_int64 else make_modulo
    fill(self, generator, &d)
    return self


cdef object random_to_(Tensor self, int64_t to, object generator):
    """Integers from 0 to `to`, which is left out."""
    return random_between(self, 0, to, generator)


cdef object random_from_(Tensor self, int64_t from_, object to, object generator):
    """Integers from `from_` to `to`, which is left out; None: to the dtype's largest."""
    if to is not None:
        return random_between(self, from_, to, generator)
    check_target(self)
    if from_ == INT64_MIN:
        return random_all(self, generator)
    return random_above(self, from_, generator)


cdef object random_between(Tensor self, int64_t first, int64_t to, object generator):
    check_target(self)
    if first >= to:
        raise refused(f"random_ expects 'from' to be less than 'to', but got from={first} >= to={to}")
    if is_in(DTYPES_FLOAT8, self.c_dtype):
        refuse_dtype(self)
    if is_in(DTYPES_FLOATING, self.c_dtype):
        first = moved(self.c_dtype, first, 1)
        to = moved(self.c_dtype, to, -1)
        if first >= to:
            raise refused(f"random_ expects 'from' to be less than 'to' in {self.dtype}, but got from={first} >= to={to}")
    check_integers(self, first, to - 1)
    return draw_integers(self, first, <uint64_t>to - <uint64_t>first, generator)


cdef object random_above(Tensor self, int64_t first, object generator):
    cdef int64_t low, last
    if is_in(DTYPES_FLOAT8, self.c_dtype):
        refuse_dtype(self)
    if is_in(DTYPES_FLOATING, self.c_dtype):
        last = <int64_t>1 << digits(self.c_dtype)
        first = moved(self.c_dtype, first, 1)
        if first >= last:
            raise refused(f"expected from to be less than {last}, got {first}")
    elif is_in(DTYPES_INTEGRAL_AND_BOOL | DTYPES_WIDE_UNSIGNED, self.c_dtype):
        range_of(self.c_dtype, &low, &last)
        if self.c_dtype == ST_uint64:
            raise refused(f"expected a bound for {self.dtype}, got to=None")
    else:
        raise refused(f"expected integers or floats, got {self.dtype}")
    check_integers(self, first, last)
    return draw_integers(self, first, <uint64_t>last - <uint64_t>first + 1, generator)


cdef object random_all(Tensor self, object generator):
    """All 64 bits."""
    if not self.c_numel:
        return self
    if self.c_dtype == ST_float16 or not is_in(DTYPES_INTEGRAL_AND_FLOATING, self.c_dtype):
        refuse_dtype(self)
    if self.c_dtype != ST_int64 and not is_in(DTYPES_FLOATING, self.c_dtype):
        raise refused(f"from is out of bounds for {self.dtype}: {INT64_MIN}")
    return draw_integers(self, 0, 0, generator)


# ---- permutations ------------------------------------------------------------------------------


cdef int check_permuted(int64_t n, Tensor out) except -1:
    """RuntimeError when the dtype cannot tell so many numbers apart (PyTorch asks for no more of bfloat16)."""
    cdef int64_t first, last
    if is_in(DTYPES_FLOATING, out.c_dtype):
        last = <int64_t>1 << digits(out.c_dtype)
        if out.c_dtype == ST_bfloat16:
            return 0
        if n > last + 1:
            raise refused(f"n={n} is too large for {out.dtype}")
    elif is_in(DTYPES_INTEGRAL_AND_BOOL, out.c_dtype) and out.c_dtype != ST_bool:
        range_of(out.c_dtype, &first, &last)
        if n - 1 > last:
            raise refused(f"n={n} is too large for {out.dtype}")
    return 0


cdef void shuffle(Mersenne* m, int64_t* v, int64_t n) noexcept nogil:
    cdef int64_t i, j
    cdef bint wide = n >= <int64_t>(0xFFFFFFFF // 20)
    for i in range(n):
        v[i] = i
    for i in range(n - 1):
        if wide:
            j = i + <int64_t>(mersenne_draw64(m) % <uint64_t>(n - i))
        else:
            j = i + <int64_t>(mersenne_draw(m) % <uint32_t>(n - i))
        v[i], v[j] = v[j], v[i]


cdef int permute(Generator g, int64_t* v, int64_t n) except -1:
    cdef Mersenne* m
    if n < WITHOUT_LOCK:
        shuffle(borrow(g), v, n)
        give_back(g)
        return 0
    m = borrow(g)
    with nogil:
        shuffle(m, v, n)
        give_back(g)
    return 0


cdef bint make_shuffled(Mersenne* m, const Draw* d, void* values, const double* x, const double* y, int64_t n) noexcept nogil:
    """The numbers that stand at `base`, which moves on."""
    cdef int64_t** shuffled = <int64_t**>d.base
    memcpy(values, shuffled[0], n * sizeof(int64_t))
    shuffled[0] += n
    return False


cdef object randperm_generator_out(int64_t n, object generator, Tensor out):
    """The integers below `n` in random order, in `out`."""
    cdef Draw d
    cdef Generator g = generator_of(generator)
    cdef int64_t* shuffled
    cdef int64_t* at
    cdef Tensor given = out
    if n < 0:
        raise refused(f"expected n to be 0 or more, got {n}")
    check_permuted(n, out)
    if out.c_ndim == 1 and out.c_sizes[0] == n:
        check_written(out)
    if out.c_ndim != 1 or out.c_sizes[0] != n:
        aten.resize_.default(out, [n])
    out = new_steady(out)
    if out.c_numel != n:
        raise refused(f"out was resized to {n} elements, and then by somebody else to {out.c_numel}")
    if not is_in(DTYPES_INTEGRAL_AND_FLOATING, out.c_dtype):
        refuse_dtype(out)
    if out.c_dtype == ST_int64 and out.c_flags & TF_CONTIGUOUS:
        permute(g, <int64_t*>data_of(out, sizeof(int64_t)), n)
        return given
    shuffled = <int64_t*>malloc(n * sizeof(int64_t) + 1)
    if shuffled == NULL:
        raise MemoryError
    permute(g, shuffled, n)
    at = shuffled
    d.values = ST_int64
    d.make = make_shuffled
    d.base = <int64_t>&at
    try:
        fill(out, generator, &d)
    finally:
        free(shuffled)
    return given
