"""Gradients of draws with respect to the shapes of their distributions (reparameterised: Gamma and Dirichlet).

Called by the dispatcher. Each function is an approximation chosen by region, PyTorch's (standard_gamma_grad_one,
dirichlet_grad_one): the coefficients are its fits. What is computed in float there is computed in float here.
"""
from libc.math cimport (
    INFINITY, exp, floor, isnan, log, logf, pow, powf, sqrt,
)
from libc.stdint cimport int64_t

from dispatch._C.dtypes cimport DEV_CPU, DTYPES_FULL_FLOATING, ST_float64, is_in
from dispatch._C.errors cimport refused
from dispatch._C.errors import unserved
from dispatch._C.tensor cimport Tensor, data_of, new_empty

from dispatch._ops import ops

__all__ = ["dirichlet_grad", "standard_gamma_grad"]

cdef object aten = ops.aten

cdef extern from "../kernels/cpu/random/gradients.h" nogil:
    double gradients_digamma(double x)

ctypedef fused real:
    float
    double


cdef inline real log_of(real x) noexcept nogil:
    if real is float:
        return logf(x)
    else:
        return log(x)


cdef inline real power(real x, real y) noexcept nogil:
    if real is float:
        return powf(x, y)
    else:
        return pow(x, y)


cdef real digamma(real x) noexcept nogil:
    """Infinity at 0 and below it at the integers, as PyTorch's is here."""
    return INFINITY if x <= 0 and x == floor(x) else <real>gradients_digamma(x)


# ---- Gamma -------------------------------------------------------------------------------------


cdef double gamma_small(double alpha, double x) noexcept nogil:
    """Taylor's series in x."""
    cdef double numerator = 1, denominator = alpha
    cdef double series = numerator / denominator, squares = numerator / (denominator * denominator)
    cdef double power_x, density, cumulative, result
    cdef int i
    for i in range(1, 6):
        numerator *= -x / i
        denominator += 1
        series += numerator / denominator
        squares += numerator / (denominator * denominator)
    power_x = pow(x, alpha)
    density = pow(x, alpha - 1) * exp(-x)
    cumulative = power_x * series
    result = -((log(x) - digamma(alpha)) * cumulative - power_x * squares) / density
    return 0.0 if isnan(result) else result


cdef double gamma_large(double alpha, double x) noexcept nogil:
    """Rice's saddle point expansion."""
    cdef double first, second, denominator, ratio, term, stirling
    if <double><float>0.9 * alpha <= x and x <= <double><float>1.1 * alpha:
        first = 1 + 24 * alpha * (1 + 12 * alpha)
        second = (1440 * (alpha * alpha) + 6 * x * (53 - 120 * x) - 65 * x * x / alpha
                  + alpha * (107 + 3600 * x))
        return first * second / (1244160 * (alpha * alpha) * (alpha * alpha))
    denominator = sqrt(8 * alpha)
    ratio = denominator / (alpha - x)
    term = pow(x - alpha - alpha * log(x / alpha), -1.5)
    term = ratio - term if x < alpha else ratio + term
    term = log(x / alpha) * term - sqrt(2 / alpha) * (alpha + x) / ((alpha - x) * (alpha - x))
    stirling = 1 + 1 / (12 * alpha) * (1 + 1 / (24 * alpha))
    return -stirling * (x * term) / denominator


cdef double[3][8] GAMMA_FIT = [
    [0.16009398, -0.094634809, 0.025146376, -0.0030648343, 1, 0.32668115, 0.10406089, 0.0014179084],
    [0.53487893, 0.1298071, 0.065735949, -0.0015649758, 0.16639465, 0.020070113, -0.0035938915, -0.00058392623],
    [0.040121004, -0.0065914022, -0.0026286047, -0.0013441777, 0.017050642, -0.0021309326, 0.00085092367, -1.5247877e-07],
]


cdef double gamma_middle(double alpha, double x) noexcept nogil:
    """A rational fit in log(x / alpha) and log(alpha)."""
    cdef double u = log(x / alpha), v = log(alpha)
    cdef double c[8]
    cdef int i
    for i in range(8):
        c[i] = GAMMA_FIT[0][i] + u * (GAMMA_FIT[1][i] + u * GAMMA_FIT[2][i])
    return exp((c[0] + v * (c[1] + v * (c[2] + v * c[3]))) / (c[4] + v * (c[5] + v * (c[6] + v * c[7]))))


cdef double gamma_one(double alpha, double x) noexcept nogil:
    if x < <double><float>0.8:
        return gamma_small(alpha, x)
    return gamma_large(alpha, x) if alpha > 8 else gamma_middle(alpha, x)


# ---- Dirichlet: Betas of (alpha, total - alpha) ------------------------------------------------


cdef real alpha_small(real x, real alpha, real beta) noexcept nogil:
    """Taylor's series in x, with respect to alpha."""
    cdef real factor = digamma(alpha) - digamma(<real>(alpha + beta)) - log_of(x)
    cdef real numerator = 1, series = numerator / alpha * (factor + <real>1 / alpha), at, denominator, result
    cdef int i
    for i in range(1, 11):
        at = <real>i
        numerator *= (at - beta) * x / at
        denominator = alpha + at
        series += numerator / denominator * (factor + <real>1 / denominator)
    result = x * power(<real>(1 - x), -beta) * series
    return 0 if isnan(result) else result


cdef real beta_small(real x, real alpha, real beta) noexcept nogil:
    """The same with respect to beta."""
    cdef real factor = digamma(<real>(alpha + beta)) - digamma(beta)
    cdef real numerator = 1, betas = 1, changes = 0, series = factor / alpha, at, result
    cdef int i
    for i in range(1, 9):
        at = <real>i
        numerator *= -x / at
        changes = changes * (beta - at) + betas
        betas = betas * (beta - at)
        series += numerator / (alpha + at) * (changes + factor * betas)
    result = -power(<real>(1 - x), <real>(1 - beta)) * series
    return 0 if isnan(result) else result


cdef double alpha_middle(double x, double alpha, double beta) noexcept nogil:
    """Rice's saddle point expansion, where both are large."""
    cdef double total = alpha + beta
    cdef double mean = alpha / total, std = sqrt(alpha * beta / (total + 1)) / total
    cdef double poly, numerator, denominator, stirling, first, second, third, fourth, axbx
    if mean - 0.1 * std <= x and x <= mean + 0.1 * std:
        poly = (47 * x * (beta * beta) * (beta * beta)
                + alpha * ((43 + 20 * (16 + 27 * beta) * x) * (beta * beta) * beta
                           + alpha * (3 * (59 + 180 * beta - 90 * x) * (beta * beta)
                                      + alpha * ((453 + 1620 * beta * (1 - x) - 455 * x) * beta
                                                 + alpha * (8 * (1 - x) * (135 * beta - 11))))))
        numerator = (1 + 12 * alpha) * (1 + 12 * beta) / (total * total)
        denominator = 12960 * alpha * alpha * alpha * beta * beta * (1 + 12 * total)
        return numerator / (1 - x) * poly / denominator
    stirling = ((1 + 1 / (12 * alpha) + 1 / (288 * alpha * alpha)) * (1 + 1 / (12 * beta) + 1 / (288 * beta * beta))
                / (1 + 1 / (12 * total) + 1 / (288 * total * total)))
    axbx = alpha * (x - 1) + beta * x
    first = ((2 * (alpha * alpha) * (x - 1) + alpha * beta * (x - 1) - x * (beta * beta))
             / (sqrt(2 * alpha / beta) * pow(total, 1.5) * axbx * axbx))
    second = 0.5 * log(alpha / (total * x))
    third = sqrt(8 * alpha * beta / total) / (beta * x + alpha * (x - 1))
    fourth = pow(beta * log(beta / (total * (1 - x))) + alpha * log(alpha / (total * x)), -1.5)
    return stirling * (-x / sqrt(2 * alpha * beta / total)) * (first + second * (third + (fourth if x < mean else -fourth)))


cdef double[2][3][3][4] DIRICHLET_FIT = [
    [[[1.003668233, -0.01061107488, -0.0657888334, 0.01201642863],
      [0.6336835991, -0.3557432599, 0.05486251648, -0.001465281033],
      [-0.03276231906, 0.004474107445, 0.002429354597, -0.0001557569013]],
     [[0.221950385, -0.3187676331, 0.01799915743, 0.01074823814],
      [-0.2951249643, 0.06219954479, 0.01535556598, 0.001550077057],
      [0.02155310298, 0.004170831599, 0.001292462449, 6.976601077e-05]],
     [[-0.05980841433, 0.008441916499, 0.01085618172, 0.002319392565],
      [0.02911413504, 0.01400243777, -0.002721828457, 0.000751041181],
      [0.005900514878, -0.001936558688, -9.495446725e-06, 5.385558597e-05]]],
    [[[1, -0.02924021934, -0.04438342661, 0.007285809825],
      [0.6357567472, -0.3473456711, 0.05454656494, -0.002407477521],
      [-0.03301322327, 0.004845219414, 0.00231480583, -0.0002307248149]],
     [[0.5925320577, -0.1757678135, 0.01505928619, 0.000564515273],
      [0.1014815858, -0.06589186703, 0.01272886114, -0.0007316646956],
      [-0.007258481865, 0.001096195486, 0.0003934994223, -4.12701925e-05]],
     [[0.06469649321, -0.0236701437, 0.002902096474, -5.896963079e-05],
      [0.001925008108, -0.002869809258, 0.0008000589141, -6.063713228e-05],
      [-0.0003477407336, 6.959756487e-05, 1.097287507e-05, -1.650964693e-06]]],
]


cdef double alpha_fit(double x, double alpha, double total, double digammas) noexcept nogil:
    """A rational correction to an analytic approximation."""
    cdef double u = log(x)
    cdef double a = log(alpha) - u
    cdef double b = log(total) - a
    cdef double[3] powers_u = [1, u, u * u]
    cdef double[3] powers_a = [1, a, a * a]
    cdef double sums[2]
    cdef const double* c
    cdef int i, j, k
    for k in range(2):
        sums[k] = 0
        for i in range(3):
            for j in range(3):
                c = DIRICHLET_FIT[k][i][j]
                sums[k] += powers_u[i] * powers_a[j] * (c[0] + b * (c[1] + b * (c[2] + b * c[3])))
    return sums[0] / sums[1] * (x * digammas / (total - alpha))


cdef real dirichlet_one(real x, real alpha, real total) noexcept nogil:
    cdef real beta = total - alpha
    cdef real boundary = total * x * <real>(1 - x)
    if x <= <real>0.5 and boundary < <real>2.5:
        return alpha_small(x, alpha, beta)
    if x >= <real>0.5 and boundary < <real>0.75:
        return -beta_small(<real>(1 - x), beta, alpha)
    if alpha > 6 and beta > 6:
        return <real>alpha_middle(x, alpha, <double>total - <double>alpha)
    return <real>alpha_fit(x, alpha, total, <double>(digamma(total) - digamma(alpha)))


# ---- operators ---------------------------------------------------------------------------------


cdef list operands(dict given):
    """The arguments, broadcast and contiguous. RuntimeError unless they have the first one's dtype."""
    cdef list tensors = list(given.values())
    cdef Tensor first = <Tensor?>tensors[0]
    for name, t in given.items():
        if t.dtype is not first.dtype:
            raise refused(f"expected {name} to be {first.dtype} as the first argument is, got {t.dtype}")
    if not is_in(DTYPES_FULL_FLOATING, first.c_dtype):
        raise unserved(first.dtype)
    return [aten.contiguous.default(t) for t in aten.broadcast_tensors.default(tensors)]


cdef void gamma_all(real* out, const real* alpha, const real* x, int64_t n) noexcept nogil:
    cdef int64_t i
    for i in range(n):
        out[i] = <real>gamma_one(alpha[i], x[i])


cdef void dirichlet_all(real* out, const real* x, const real* alpha, const real* total, int64_t n) noexcept nogil:
    cdef int64_t i
    for i in range(n):
        out[i] = dirichlet_one(x[i], alpha[i], total[i])


def standard_gamma_grad(self, output):
    """How draws `output` from Gamma(self) change with self."""
    cdef Tensor alpha, x, out
    alpha, x = operands({"self": self, "output": output})
    out = new_empty(alpha.c_dtype, DEV_CPU, -1, alpha.c_ndim, alpha.c_sizes, NULL)
    if out.c_dtype == ST_float64:
        gamma_all(<double*>data_of(out, 8), <const double*>data_of(alpha, 8), <const double*>data_of(x, 8), out.c_numel)
    else:
        gamma_all(<float*>data_of(out, 4), <const float*>data_of(alpha, 4), <const float*>data_of(x, 4), out.c_numel)
    return out


def dirichlet_grad(x, alpha, total):
    """How draws `x` of a Dirichlet distribution change with its `alpha`, of which `total` is the sum; over 1 - x."""
    cdef Tensor a, b, c, out
    a, b, c = operands({"x": x, "alpha": alpha, "total": total})
    out = new_empty(a.c_dtype, DEV_CPU, -1, a.c_ndim, a.c_sizes, NULL)
    if out.c_dtype == ST_float64:
        dirichlet_all(<double*>data_of(out, 8), <double*>data_of(a, 8), <double*>data_of(b, 8), <double*>data_of(c, 8), out.c_numel)
    else:
        dirichlet_all(<float*>data_of(out, 4), <float*>data_of(a, 4), <float*>data_of(b, 4), <float*>data_of(c, 4), out.c_numel)
    return out
