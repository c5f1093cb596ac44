"""Operators that draw an element for each element of their arguments: Poisson, binomial, gamma, multinomial, rrelu.

Called by the dispatcher and by `samples` beside this file. The methods, and with them how many numbers an element takes, are those
of PyTorch: Hoermann's transformed rejection (PTRS 1993 for Poisson, BTRS for binomial), Marsaglia and Tsang's for gamma.
"""
from libc.math cimport INFINITY, NAN, ceil, exp, fabs, floor, isfinite, lgamma, log, log1p, log1pf, pow, sqrt, sqrtf
from libc.stdint cimport uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport (
    DEV_CPU, DTYPES_FLOAT8, DTYPES_FLOATING, DTYPES_FULL_FLOATING, ST_float32, ST_float64, is_in,
)
from dispatch._C.errors cimport refused
from dispatch._C.errors import unserved
from dispatch._C.generator cimport Generator, Mersenne, borrow, generator_of, give_back, mersenne_double, mersenne_normal
from dispatch._C.steady cimport new_steady
from dispatch._C.tensor cimport data_of, new_empty
from dispatch.kernels.cpu.casts cimport cast_loop, get_cast
from dispatch.kernels.cpu.random.drawing cimport Draw, fill, maker

from dispatch._ops import ops

cdef object aten = ops.aten

cdef double LEAST_FLOAT32 = 1.1754943508222875e-38
cdef double LEAST_FLOAT64 = 2.2250738585072014e-308

cdef extern from "vectorised.h":
    pass

ctypedef fused real:
    float
    double

cdef enum:
    SIDE_BY_SIDE = 4             # rows of shares that are summed together


cdef Tensor drawn(Tensor like, int code, maker make, uint64_t allowed, object generator, Tensor x, Tensor y):
    """A contiguous tensor with the sizes of `like`, drawn for elements of `x` and `y`; None when one of `x` was no parameter."""
    cdef Draw d
    cdef Tensor out = new_empty(code, DEV_CPU, -1, like.c_ndim, like.c_sizes, NULL)
    if not is_in(allowed, x.c_dtype):
        raise unserved(x.dtype)
    d.values = ST_float64
    d.make = make
    return None if fill(out, generator, &d, x, y) else out


# ---- Poisson -----------------------------------------------------------------------------------


cdef inline double poisson_large(Mersenne* m, double rate) noexcept nogil:
    cdef double root_rate = sqrt(rate), log_rate = log(rate)
    cdef double b = 0.931 + 2.53 * root_rate
    cdef double a = -0.059 + 0.02483 * b
    cdef double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    cdef double bound = 0.9277 - 3.6224 / (b - 2)
    cdef double u, v, rest
    cdef int64_t k
    while True:
        u = mersenne_double(m) - 0.5
        v = mersenne_double(m)
        rest = 0.5 - fabs(u)
        k = <int64_t>floor((2 * a / rest + b) * u + rate + 0.43)
        if rest >= 0.07 and v <= bound:
            return k
        if k < 0 or (rest < 0.013 and v > rest):
            continue
        if log(v) + log(inverse_alpha) - log(a / (rest * rest) + b) <= -rate + k * log_rate - lgamma(<double>k + 1):
            return k


cdef inline double poisson_small(Mersenne* m, double rate) noexcept nogil:
    """How many uniform numbers can be multiplied before the product is below exp(-rate)."""
    cdef double bound = exp(-rate), product = 1.0
    cdef int64_t k = 0
    while True:
        product *= mersenne_double(m)
        if not product > bound:
            return k
        k += 1


cdef bint make_poisson(Mersenne* m, const Draw* d, void* values, const double* x, const double* y, int64_t n) noexcept nogil:
    cdef double* v = <double*>values
    cdef int64_t i
    for i in range(n):
        if not x[i] >= 0:
            return True
        v[i] = 0.0 if x[i] == 0 else poisson_large(m, x[i]) if x[i] >= 10 else poisson_small(m, x[i])
    return False


cdef object poisson(Tensor self, object generator):
    """Poisson with the rates in self."""
    cdef Tensor out = drawn(self, self.c_dtype, make_poisson, DTYPES_FLOATING, generator, self, None)
    if out is None:
        raise refused("expected all rates to be 0 or more")
    return out


# ---- gamma -------------------------------------------------------------------------------------


cdef inline double gamma(Mersenne* m, real alpha) noexcept nogil:
    cdef double scale = 1.0, d, c, x, y, v, u, xx
    if alpha < 1:
        if alpha == 0:
            return 0.0
        scale *= pow(1 - mersenne_double(m), <double>(<real>1 / alpha))
        alpha += 1
    d = alpha - <real>(<float>1.0 / <float>3.0)
    c = 1.0 / sqrt(9.0 * d)
    while True:
        while True:
            x = mersenne_normal(m)
            y = 1.0 + c * x
            if not y <= 0:
                break
        v = y * y * y
        u = 1 - mersenne_double(m)
        xx = x * x
        if u < 1.0 - <double><float>0.0331 * xx * xx:
            return scale * d * v
        if log(u) < 0.5 * xx + d * (1.0 - v + log(v)):
            return scale * d * v


cdef inline double at_least(double value, double least) noexcept nogil:
    return value if least < value else least


cdef bint make_gamma_floats(Mersenne* m, const Draw* d, void* values, const double* x, const double* y, int64_t n) noexcept nogil:
    cdef double* v = <double*>values
    cdef int64_t i
    for i in range(n):
        v[i] = at_least(<float>gamma(m, <float>x[i]), LEAST_FLOAT32)
    return False


cdef bint make_gamma(Mersenne* m, const Draw* d, void* values, const double* x, const double* y, int64_t n) noexcept nogil:
    cdef double* v = <double*>values
    cdef int64_t i
    for i in range(n):
        v[i] = at_least(gamma(m, x[i]), LEAST_FLOAT64)
    return False


cdef object standard_gamma(Tensor self, object generator):
    """Gamma with the shapes in self and scale 1."""
    cdef maker make = make_gamma if self.c_dtype == ST_float64 else make_gamma_floats
    return drawn(self, self.c_dtype, make, DTYPES_FULL_FLOATING, generator, self, None)


cdef object dirichlet_gammas(Tensor self, object generator):
    return drawn(self, ST_float64, make_gamma, DTYPES_FULL_FLOATING, generator, self, None)


cdef enum:
    LANES = 4                    # doubles that PyTorch adds side by side, with AVX2
    CHAINS = 4                   # of such additions at a time
    LEVELS = 4                   # of sums of sums


cdef void add_blocks(const double* x, int64_t blocks, int width, double* sums) noexcept nogil:
    """Sums of blocks of `width` elements; each level takes up the one below when that has added `step` times."""
    cdef double levels[LEVELS][CHAINS * LANES]
    cdef int power = 4, bits = 0, level, k
    cdef int64_t i = 0, step
    while <int64_t>1 << bits < blocks:
        bits += 1
    power = bits // LEVELS if bits // LEVELS > 4 else 4
    step = <int64_t>1 << power
    memset(levels, 0, sizeof(levels))
    while i < blocks:
        for k in range(width):
            levels[0][k] += x[i * width + k]
        i += 1
        if i & (step - 1):
            continue
        for level in range(1, LEVELS):
            for k in range(width):
                levels[level][k] += levels[level - 1][k]
                levels[level - 1][k] = 0
            if i & ((step - 1) << (level * power)):
                break
    for k in range(width):
        sums[k] = levels[0][k]
        for level in range(1, LEVELS):
            sums[k] += levels[level][k]


cdef double sum_of(const double* x, int64_t n) noexcept nogil:
    """In the order in which PyTorch adds the elements of a row (cascade_sum)."""
    cdef double sums[CHAINS * LANES]
    cdef double sum = 0
    cdef int lanes = LANES if n >= LANES else 1, k, chain
    cdef int64_t vectors = n // lanes, i
    add_blocks(x, vectors // CHAINS, CHAINS * lanes, sums)
    for i in range(vectors // CHAINS * CHAINS, vectors):
        for k in range(lanes):
            sums[k] += x[i * lanes + k]
    for i in range(vectors * lanes, n):
        sum += x[i]
    for k in range(lanes):
        for chain in range(1, CHAINS):
            sums[k] += sums[chain * lanes + k]
        sum += sums[k]
    return sum


def sample_dirichlet(Tensor self not None, generator):
    """Gammas over their sums along the last dimension, between the dtype's least positive number and what is next to 1."""
    cdef Tensor gammas = <Tensor>dirichlet_gammas(self, generator)
    cdef double* x = <double*>data_of(gammas, sizeof(double))
    cdef int64_t n = self.c_sizes[self.c_ndim - 1] if self.c_ndim else 1
    cdef int64_t i, j
    cdef double sum
    for i in range(0 if n == 0 else gammas.c_numel // n):
        sum = sum_of(x + i * n, n)
        for j in range(n):
            x[i * n + j] /= sum
    is_double = self.c_dtype == ST_float64
    least, most = (LEAST_FLOAT64, 1 - 2.0**-53) if is_double else (LEAST_FLOAT32, 1 - 2.0**-24)
    return aten.clamp.default(aten.to.dtype(gammas, self.dtype), least, most)


# ---- binomial ----------------------------------------------------------------------------------


cdef double[10] STIRLING_TAILS = [
    0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
    0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287,
]


cdef inline double stirling_tail(double k) noexcept nogil:
    """What Stirling's formula lacks of log(k!)."""
    cdef double square = (k + 1) * (k + 1)
    if k < 10:
        return STIRLING_TAILS[<int>k]
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1)


cdef inline real root(real x) noexcept nogil:
    if real is float:
        return sqrtf(x)
    else:
        return sqrt(x)


cdef inline real log1p_of(real x) noexcept nogil:
    if real is float:
        return log1pf(x)
    else:
        return log1p(x)


cdef inline real binomial_large(Mersenne* m, real count, real prob) noexcept nogil:
    cdef double deviation = root(<real>(count * prob * (1 - prob)))
    cdef double b = 1.15 + 2.53 * deviation
    cdef double a = -0.0873 + 0.0248 * b + 0.01 * prob
    cdef double c = <double>(count * prob) + 0.5
    cdef double bound = 0.92 - 4.2 / b
    cdef double r = prob / <real>(1 - prob)
    cdef double alpha = (2.83 + 5.1 / b) * deviation
    cdef double mode = floor(<double>((count + 1) * prob))
    cdef double u, v, rest, upper
    cdef real k
    while True:
        u = mersenne_double(m) - 0.5
        v = mersenne_double(m)
        rest = 0.5 - fabs(u)
        k = <real>floor((2 * a / rest + b) * u + c)
        if k < 0 or k > count:
            continue
        if rest >= 0.07 and v <= bound:
            return k
        v = log(v * alpha / (a / (rest * rest) + b))
        upper = ((mode + 0.5) * log((mode + 1) / (r * (count - mode + 1)))
                 + (count + 1) * log((count - mode + 1) / (count - k + 1))
                 + (k + 0.5) * log(r * (count - k + 1) / (k + 1))
                 + stirling_tail(mode) + stirling_tail(count - mode) - stirling_tail(k) - stirling_tail(count - k))
        if v <= upper:
            return k


cdef inline real binomial_small(Mersenne* m, real count, real prob) noexcept nogil:
    """How many waiting times fit into `count`."""
    cdef double sum = 0
    cdef double log_failure = log1p_of(<real>-prob)
    cdef real k = 0
    while True:
        sum += ceil(log(mersenne_double(m)) / log_failure)
        if sum > count:
            return k
        k += 1


cdef inline real binomial_one(Mersenne* m, real count, real prob) noexcept nogil:
    cdef real failure
    if count <= 0 or prob <= 0:
        return 0
    if prob >= 1:
        return count
    if prob <= <real>0.5:
        return binomial_large(m, count, prob) if count * prob >= 10 else binomial_small(m, count, prob)
    if prob > <real>0.5:
        failure = <real>(1.0 - prob)
        return count - (binomial_large(m, count, failure) if count * failure >= 10 else binomial_small(m, count, failure))
    return <real>NAN


cdef bint make_binomial_f(Mersenne* m, const Draw* d, void* values, const double* x, const double* y, int64_t n) noexcept nogil:
    cdef double* v = <double*>values
    cdef int64_t i
    for i in range(n):
        v[i] = binomial_one(m, <float>x[i], <float>y[i])
    return False


cdef bint make_binomial(Mersenne* m, const Draw* d, void* values, const double* x, const double* y, int64_t n) noexcept nogil:
    cdef double* v = <double*>values
    cdef int64_t i
    for i in range(n):
        v[i] = binomial_one(m, x[i], y[i])
    return False


cdef object binomial(Tensor count, Tensor prob, object generator):
    """How many of `count` throws succeed, each with the probability `prob`."""
    cdef maker make = make_binomial if count.c_dtype == ST_float64 else make_binomial_f
    for name, t in (("count", count), ("prob", prob)):
        if not is_in(DTYPES_FLOATING | DTYPES_FLOAT8, (<Tensor>t).c_dtype):
            raise refused(f"expected floating-point {name}, got {t.dtype}", ValueError)
    if count.c_dtype != prob.c_dtype:
        raise refused(f"expected prob to be {count.dtype} as count is, got {prob.dtype}")
    count, prob = aten.broadcast_tensors.default([count, prob])
    return drawn(count, count.c_dtype, make, DTYPES_FULL_FLOATING, generator, count, prob)


# ---- multinomial -------------------------------------------------------------------------------


cdef inline void accumulate(real** rows, bint* good, int64_t n, int count) noexcept nogil:
    """Shares of the sum up to each element, of at most SIDE_BY_SIDE rows: no sum waits for the others. good: there is one."""
    cdef real sums[SIDE_BY_SIDE]
    cdef int64_t i
    cdef int q
    for q in range(count):
        sums[q], good[q] = 0, True
    for i in range(n):
        for q in range(count):
            good[q] &= (rows[q][i] >= 0) & (rows[q][i] < <real>INFINITY)
            sums[q] += rows[q][i]
            rows[q][i] = sums[q]
    for q in range(count):
        good[q] &= sums[q] > 0
        for i in range(n):
            rows[q][i] /= sums[q]
        rows[q][n - 1] = 1


cdef bint choose(Mersenne* m, Tensor t, const char* data, real* room, int64_t samples, int64_t* out) noexcept nogil:
    """Places in the rows of `t`, by binary search for uniform numbers. `room`: for SIDE_BY_SIDE rows."""
    cdef int64_t itemsize = dtypes.itemsize_table()[t.c_dtype]
    cdef int64_t rows = t.c_sizes[0] if t.c_ndim == 2 else 1, n = t.c_sizes[t.c_ndim - 1]
    cdef int64_t step = t.c_strides[t.c_ndim - 1] * itemsize, across = t.c_strides[0] * itemsize if t.c_ndim == 2 else 0
    cdef cast_loop cast = get_cast(t.c_dtype, ST_float32 if sizeof(real) == 4 else ST_float64)
    cdef real* shares[SIDE_BY_SIDE]
    cdef bint good[SIDE_BY_SIDE]
    cdef int64_t first = 0, count, j, q
    for q in range(SIDE_BY_SIDE):
        shares[q] = room + q * n
    while first < rows:
        count = SIDE_BY_SIDE if rows - first >= SIDE_BY_SIDE else 1
        for q in range(count):
            cast(data + (first + q) * across, step, <char*>shares[q], sizeof(real), n)
        if count == 1:
            accumulate(shares, good, n, 1)
        else:
            accumulate(shares, good, n, SIDE_BY_SIDE)
        for q in range(count):
            if not good[q]:
                return False
            for j in range(samples):
                out[(first + q) * samples + j] = place_of(shares[q], n, mersenne_double(m))
        first += count
    return True


cdef inline int64_t place_of(const real* row, int64_t n, double drawn) noexcept nogil:
    """The first share that is not below `drawn`: chosen, not branched to, for nobody can guess the half."""
    cdef int64_t low = 0, left = n, half
    while left > 0:
        half = (left + 1) // 2
        low += half & -<int64_t>(row[low + half - 1] < drawn)
        left -= half
    return low


cdef inline bint is_weights(const real* row, int64_t n) noexcept nogil:
    cdef real sum = 0
    cdef int64_t i
    for i in range(n):
        if not (row[i] >= 0 and isfinite(row[i])):
            return False
        sum += row[i]
    return sum > 0


def has_weights(Tensor self not None):
    """Whether all elements are finite and 0 or more, and in no row all are 0. Rows are not empty."""
    cdef int64_t itemsize = dtypes.itemsize_table()[self.c_dtype]
    cdef const char* data = data_of(self, itemsize)
    cdef int64_t rows = self.c_sizes[0] if self.c_ndim == 2 else 1, n = self.c_sizes[self.c_ndim - 1], i
    cdef cast_loop cast = get_cast(self.c_dtype, ST_float64)
    cdef double* row = <double*>malloc(n * sizeof(double))
    cdef bint valid = True
    if row == NULL:
        raise MemoryError
    for i in range(rows):
        cast(data + (i * self.c_strides[0] * itemsize if self.c_ndim == 2 else 0), self.c_strides[self.c_ndim - 1] * itemsize,
             <char*>row, sizeof(double), n)
        if not is_weights(row, n):
            valid = False
            break
    free(row)
    return valid


def multinomial_with_replacement(Tensor out not None, Tensor self not None, generator):
    """`out` (int64, contiguous) filled with places in the rows of `self`."""
    cdef Generator g = generator_of(generator)
    cdef Mersenne* m
    cdef bint done
    cdef const char* data
    cdef int64_t* places
    cdef int64_t samples, rows
    cdef void* row
    self, out = new_steady(self), new_steady(out)        # to borrow may mean to wait for another thread
    data = data_of(self, dtypes.itemsize_table()[self.c_dtype])
    places = <int64_t*>data_of(out, sizeof(int64_t))
    samples, rows = out.c_sizes[out.c_ndim - 1], self.c_sizes[0] if self.c_ndim == 2 else 1
    if out.c_numel != rows * samples:
        raise refused(f"self was given other sizes meanwhile: {list(self.shape)}")
    row = malloc(min(rows, <int64_t>SIDE_BY_SIDE) * self.c_sizes[self.c_ndim - 1] * sizeof(double) + 1)
    if row == NULL:
        raise MemoryError
    m = borrow(g)
    if self.c_dtype == ST_float64:
        done = choose(m, self, data, <double*>row, samples, places)
    else:
        done = choose(m, self, data, <float*>row, samples, places)
    give_back(g)
    free(row)
    if not done:
        raise refused("expected probabilities whose sum is positive")


# ---- rrelu -------------------------------------------------------------------------------------


cdef inline void leak(Mersenne* m, const real* x, real* out, real* noise, int64_t n, real low, real high) noexcept nogil:
    cdef int64_t i
    for i in range(n):
        noise[i] = <real>(mersenne_double(m) * (<double>high - low) + low) if x[i] <= 0 else 1
        out[i] = x[i] * noise[i]


def rrelu_train(Tensor out not None, Tensor self not None, Tensor noise not None, double low, double high, generator):
    """`out` and `noise` filled for self: what is not positive times a uniform number; all contiguous and of one dtype."""
    cdef Generator g = generator_of(generator)
    cdef int itemsize = dtypes.itemsize_table()[self.c_dtype]
    cdef const char* x
    cdef char* y
    cdef char* z
    self, out, noise = new_steady(self), new_steady(out), new_steady(noise)
    x, y, z = data_of(self, itemsize), data_of(out, itemsize), data_of(noise, itemsize)
    if (out.c_numel != self.c_numel or noise.c_numel != self.c_numel or out.c_dtype != self.c_dtype
            or noise.c_dtype != self.c_dtype):
        raise refused(f"the arguments were given other sizes or dtypes meanwhile: {list(self.shape)}")
    if self.c_dtype == ST_float32:
        leak(borrow(g), <const float*>x, <float*>y, <float*>z, self.c_numel, <float>low, <float>high)
    elif self.c_dtype == ST_float64:
        leak(borrow(g), <const double*>x, <double*>y, <double*>z, self.c_numel, low, high)
    else:
        raise unserved(self.dtype)
    give_back(g)
