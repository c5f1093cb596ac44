/* Special functions of real numbers, for the formulas of this family: included once for each dtype of computation T.

   They are what PyTorch's `special` operators compute for one element, in the type of the element, by the methods that it uses
   (Cephes, Boost, Johnson's erfcx), so that results agree to a few units in the last place, at the edges of domains exactly. */
#include "doubles.h"

#if IS_REAL
#include "../logs.h"
#include "tables.h"

#define FUNCTION static __attribute__((noinline, unused)) T
#define EITHER_OF(of_float, of_double) (sizeof(T) == 4 ? (T)(of_float) : (T)(of_double))
#define LEAST EITHER_OF(1.1920929e-07f, 2.220446049250313e-16)         /* the distance from 1 to the next number */
#define ROUNDING EITHER_OF(5.9604645e-08f, 1.1102230246251565e-16)
#define MOST_LOG EITHER_OF(88.72284f, 709.782712893384)                /* the largest x with a finite exp(x) */
#define MUCH EITHER_OF(16777216.0f, 4503599627370496.0)
#define SKIP_A (sizeof(T) == 4 ? 12 : 0)                                /* coefficients of I1 that float does not need */
#define SKIP_B (sizeof(T) == 4 ? 18 : 0)
#define MOST_HERMITE (sizeof(T) == 4 ? 128 : 512)

#define COUNT(array) (int)(sizeof(array) / sizeof(*array))
#define SERIES(x, c, skip) FN(series)(x, c + skip, COUNT(c) - skip)
#define POLYNOMIAL(x, c) FN(polynomial)(x, c, COUNT(c))

/* A Chebyshev series, by Clenshaw's recurrence; x is twice the polynomials' argument. Written out where it stands, as polynomials
   are: the coefficients are constants, and what has no branch beside it vectorises. */
INLINE T FN(series)(T x, const T* c, int n) {
    T a = c[0], b = 0, before = 0;
#pragma GCC unroll 32
    for (int i = 1; i < n; i++) {
        before = b;
        b = a;
        a = x * b + (c[i] - before);         /* the difference does not wait for the product */
    }
    return (T)0.5 * (a - before);
}

INLINE T FN(polynomial)(T x, const T* c, int n) {
    T y = 0;
#pragma GCC unroll 16
    for (int i = 0; i < n; i++)
        y = y * x + c[i];
    return y;
}

/* ---- elementary ---------------------------------------------------------------------------------------------------------- */

static inline T FN(entr)(T x) {
    T y = -x * FN(quick_log)(x);
    y = x == 0 ? 0 : y;
    return x < 0 ? -(T)INFINITY : y;
}

/* 0 at x == 0, whatever y, unless that is NaN. */
FUNCTION FN(xlog1py)(T x, T y) {
    if (y != y)
        return (T)NAN;
    return x == 0 ? 0 : x * log1p(y);
}

/* ---- error functions, the normal distribution ---------------------------------------------------------------------------- */

/* exp(x^2) erfc(x) for x >= 0, of y = 400 / (4 + x) in [0, 100]. */
FUNCTION FN(erfcx_piece)(T y) {
    int i = (int)y;
    const double* c;
    T t;
    if (i < 0 || i > 99)
        return 1;
    c = ERFCX[i];
    t = 2 * y - (2 * i + 1);
    return (T)(c[0] + (c[1] + (c[2] + (c[3] + (c[4] + (c[5] + c[6] * t) * t) * t) * t) * t) * t);
}

FUNCTION FN(erfcx)(T x) {
    const T inverse_root = (T)0.5641895835477563;      /* 1 / sqrt(pi) */
    if (x != x)
        return x;
    if (x > 50) {
        if (x > (T)5e7)
            return inverse_root / x;
        return (T)(inverse_root * (x * x * (x * x + 4.5) + 2) / (x * (x * x * (x * x + 5) + 3.75)));
    }
    if (x >= 0)
        return FN(erfcx_piece)(400 / (4 + x));
    if (x < (T)-26.7)
        return (T)INFINITY;
    if (x < (T)-6.1)
        return (T)(2 * exp((double)(x * x)));
    return (T)(2 * exp((double)(x * x)) - FN(erfcx_piece)(400 / (4 - x)));
}

FUNCTION FN(log_ndtr)(T x) {
    T t = x * (T)M_SQRT1_2;
    if (x < -1)
        return log(FN(erfcx)(-t) / 2) - t * t;
    return log1p(-erfc(t) / 2);
}

FUNCTION FN(ndtri)(T p) {
    const T edge = (T)0.1353352832366127;              /* exp(-2) */
    T y = p, x, z, rest;
    int below = 1;
    if (p == 0)
        return -(T)INFINITY;
    if (p == 1)
        return (T)INFINITY;
    if (p < 0 || p > 1)
        return (T)NAN;
    if (y > 1 - edge) {
        y = 1 - y;
        below = 0;
    }
    if (y > edge) {
        y -= (T)0.5;
        z = y * y;
        return (y + y * (z * POLYNOMIAL(z, FN(NDTRI_P0)) / POLYNOMIAL(z, FN(NDTRI_Q0)))) * (T)2.5066282746310007;
    }
    x = sqrt(-2 * log(y));
    z = 1 / x;
    if (x < 8)
        rest = z * POLYNOMIAL(z, FN(NDTRI_P1)) / POLYNOMIAL(z, FN(NDTRI_Q1));
    else
        rest = z * POLYNOMIAL(z, FN(NDTRI_P2)) / POLYNOMIAL(z, FN(NDTRI_Q2));
    x = x - log(x) / x - rest;
    return below ? -x : x;
}

/* ---- gamma and its kin --------------------------------------------------------------------------------------------------- */

/* Hurwitz' zeta function, in double: Euler and Maclaurin's formula. */
FUNCTION FN(zeta)(T x_, T q_) {
    static const double A[12] = {12.0, -720.0, 30240.0, -1209600.0, 47900160.0, -1892437580.3183792, 74724249600.0,
                                 -2950130727918.164, 116467828143500.67, -4597978722407472.0, 1.8152105401943546e17,
                                 -7.166165256175667e18};
    double x = x_, q = q_, a, b = 0, k, s, t, w;
    int i;
    if (x == 1)
        return (T)INFINITY;
    if (x < 1)
        return (T)NAN;
    if (q <= 0) {
        if (q == floor(q))
            return (T)INFINITY;
        if (x != floor(x))
            return (T)NAN;
    }
    s = pow(q_, -x_);
    a = q;
    for (i = 0; i < 9 || a <= 9; i++) {
        a += 1;
        b = pow(a, -x);
        s += b;
        if (-1.1102230246251565e-16 * s < b && b < 1.1102230246251565e-16 * s)
            return (T)s;
    }
    w = a;
    s += b * w / (x - 1);
    s -= 0.5 * b;
    a = 1;
    k = 0;
    for (i = 0; i < 12; i++) {
        a *= x + k;
        b /= w;
        t = a * b / A[i];
        s += t;
        if (fabs(t / s) < 1.1102230246251565e-16)
            return (T)s;
        k += 1;
        a *= x + k;
        b /= w;
        k += 1;
    }
    return (T)s;
}

FUNCTION FN(trigamma)(T x) {
    T sign = 1, sum = 0, sine, square;
    if (x < (T)0.5) {
        sign = -1;
        sine = sin((T)M_PI * x);
        sum -= (T)M_PI * (T)M_PI / (sine * sine);
        x = 1 - x;
    }
    for (int i = 0; i < 6; i++) {
        sum += 1 / (x * x);
        x += 1;
    }
    square = 1 / (x * x);
    sum += (1 + 1 / (2 * x) + square * ((T)1 / 6 - square * ((T)1 / 30 - square * ((T)1 / 42)))) / x;
    return sign * sum;
}

/* Of order n >= 2: n! zeta(n + 1, x), its sign alternating. */
FUNCTION FN(polygamma)(int64_t n, T x) {
    if (n == 0)
        return (T)FN(digamma_f64)((double)x);
    if (n == 1)
        return FN(trigamma)(x);
    return (n % 2 ? 1 : -1) * exp(lgamma((T)n + 1)) * FN(zeta)((T)(n + 1), x);
}

/* gamma(a) exp(-a) a^(1/2 - a) up to constants (Lanczos), as a quotient of polynomials in a or 1 / a. */
FUNCTION FN(lanczos)(T a) {
    T above = 0, below = 0, y = fabs(a) > 1 ? 1 / a : a;
    for (int i = 0; i < 13; i++) {
        int at = fabs(a) > 1 ? 12 - i : i;
        above = above * y + (T)LANCZOS[at];
        below = below * y + (T)LANCZOS_BELOW[at];
    }
    return above / below;
}

/* x^a exp(-x) / gamma(a) */
FUNCTION FN(igam_factor)(T a, T x) {
    const T g = (T)6.02468004077673;
    T log_factor, factor, result, rest;
    if (fabs(a - x) > (T)0.4 * fabs(a)) {
        log_factor = a * log(x) - x - lgamma(a);
        return log_factor < -MOST_LOG ? 0 : exp(log_factor);
    }
    factor = a + g - (T)0.5;
    result = sqrt(factor / (T)M_E) / FN(lanczos)(a);
    if (a < 200 && x < 200)
        return result * (exp(a - x) * pow(x / factor, a));
    rest = (x - a - g + (T)0.5) / factor;
    return result * exp(a * (log1p(rest) - rest) + x * ((T)0.5 - g) / factor);
}

/* The lower one by its power series, DLMF 8.11.4. */
FUNCTION FN(igam_series)(T a, T x) {
    T factor = FN(igam_factor)(a, x), r = a, term = 1, sum = 1;
    if (factor == 0)
        return 0;
    for (int i = 0; i < 2000; i++) {
        r += 1;
        term *= x / r;
        sum += term;
        if (term <= ROUNDING * sum)
            break;
    }
    return sum * factor / a;
}

/* The upper one by a series without cancellation, DLMF 8.7.3. */
FUNCTION FN(igamc_series)(T a, T x) {
    T power = 1, sum = 0, term, log_x = log(x);
    for (int i = 1; i < 2000; i++) {
        power *= -x / i;
        term = power / (a + i);
        sum += term;
        if (fabs(term) <= ROUNDING * fabs(sum))
            break;
    }
    return -expm1(a * log_x - lgamma(1 + a)) - exp(a * log_x - lgamma(a)) * sum;
}

/* Both where a is large and x near it, Temme's expansion, DLMF 8.12.3 and 8.12.4; sign -1 gives the lower one. */
FUNCTION FN(igam_asymptotic)(T a, T x, int sign) {
    T lambda = x / a, sigma = (x - a) / a, powers[25] = {1};
    T eta, sum = 0, inverse_power = 1, last = (T)INFINITY, c, term;
    int known = 0;
    eta = lambda == 1 ? 0 : sqrt(-2 * (log1p(sigma) - sigma));
    if (lambda < 1)
        eta = -eta;
    for (int k = 0; k < 25; k++) {
        c = (T)TEMME[k][0];
        for (int n = 1; n < 25; n++) {
            if (n > known) {
                powers[n] = eta * powers[n - 1];
                known++;
            }
            term = (T)TEMME[k][n] * powers[n];
            c += term;
            if (fabs(term) < ROUNDING * fabs(c))
                break;
        }
        term = c * inverse_power;
        if (fabs(term) > last)
            break;
        sum += term;
        last = fabs(term);
        if (last < ROUNDING * fabs(sum))
            break;
        inverse_power /= a;
    }
    return (T)0.5 * erfc(sign * eta * sqrt(a / 2))
           + sign * exp((T)-0.5 * a * eta * eta) * sum / sqrt(2 * (T)3.1415927410125732 * a);
}

/* The upper one by a continued fraction, DLMF 8.9.2. */
FUNCTION FN(igamc_fraction)(T a, T x) {
    T factor = FN(igam_factor)(a, x), c = 0, y = 1 - a, z = x + y + 1;
    T above2 = 1, below2 = x, above1 = x + 1, below1 = z * x, result = above1 / below1;
    if (factor == 0)
        return 0;
    for (int i = 0; i < 2000; i++) {
        T above, below, next, change = 1;
        c += 1;
        y += 1;
        z += 2;
        above = above1 * z - above2 * (y * c);
        below = below1 * z - below2 * (y * c);
        if (below != 0) {
            next = above / below;
            change = fabs((result - next) / next);
            result = next;
        }
        above2 = above1;
        above1 = above;
        below2 = below1;
        below1 = below;
        if (fabs(above) > MUCH) {
            above2 /= MUCH;
            above1 /= MUCH;
            below2 /= MUCH;
            below1 /= MUCH;
        }
        if (change <= ROUNDING)
            break;
    }
    return result * factor;
}

/* Whether Temme's expansion serves. */
static __attribute__((unused)) int FN(igam_is_near)(T a, T x) {
    T distance = fabs(x - a) / a;
    return (a > 20 && a < 200 && distance < (T)0.3) || (a > 200 && distance < (T)4.5 / sqrt(a));
}

/* The regularised upper incomplete gamma function. */
FUNCTION FN(igammac)(T a, T x) {
    if (x < 0 || a < 0)
        return (T)NAN;
    if (a == 0)
        return x > 0 ? 0 : (T)NAN;
    if (x == 0)
        return 1;
    if (isinf(a))
        return isinf(x) ? (T)NAN : 1;
    if (isinf(x))
        return 0;
    if (FN(igam_is_near)(a, x))
        return FN(igam_asymptotic)(a, x, 1);
    if (x > (T)1.1)
        return x < a ? 1 - FN(igam_series)(a, x) : FN(igamc_fraction)(a, x);
    if (x <= (T)0.5 ? (T)-0.4 / log(x) < a : x * (T)1.1 < a)
        return 1 - FN(igam_series)(a, x);
    return FN(igamc_series)(a, x);
}

/* The lower one. */
FUNCTION FN(igamma)(T a, T x) {
    if (x < 0 || a < 0)
        return (T)NAN;
    if (a == 0)
        return x > 0 ? 1 : (T)NAN;
    if (x == 0)
        return 0;
    if (isinf(a))
        return isinf(x) ? (T)NAN : 0;
    if (isinf(x))
        return 1;
    if (FN(igam_is_near)(a, x))
        return FN(igam_asymptotic)(a, x, -1);
    return x > 1 && x > a ? 1 - FN(igammac)(a, x) : FN(igam_series)(a, x);
}

/* ---- modified Bessel functions ------------------------------------------------------------------------------------------- */

/* exp(x) for x >= 0, up to where it overflows. */
INLINE T FN(exp_above)(T x) {
    double y = (double)x, shift = y > 700 ? 1 : 0;
    return (T)(FN(exp_f64)(y - shift) * (y > 700 ? 2.718281828459045 : 1));
}

/* A series up to 8 and another one beyond: both, and a choice. SCALE is a factor of both. */
INLINE T FN(scaled_i0)(T y, T scale) {
    T near = scale * SERIES(y / 2 - 2, FN(I0A), 0), far = scale * SERIES(32 / y - 2, FN(I0B), 0) / sqrt(y);
    return y > 8 ? far : near;
}

INLINE T FN(scaled_i1)(T x, T scale, int skip_a, int skip_b) {
    T y = fabs(x), near = scale * y * SERIES(y / 2 - 2, FN(I1A), skip_a);
    T far = scale * SERIES(32 / y - 2, FN(I1B), skip_b) / sqrt(y), z = y > 8 ? far : near;
    return x < 0 ? -z : z;
}

INLINE T FN(i0e)(T x) {
    return FN(scaled_i0)(fabs(x), 1);
}

INLINE T FN(i0)(T x) {
    return FN(scaled_i0)(fabs(x), FN(exp_above)(fabs(x)));
}

INLINE T FN(i1e)(T x) {
    return FN(scaled_i1)(x, 1, SKIP_A, SKIP_B);
}

INLINE T FN(i1)(T x) {
    return FN(scaled_i1)(x, FN(exp_above)(fabs(x)), SKIP_A, SKIP_B);
}

INLINE T FN(modified_bessel_i0)(T x) {
    return FN(i0)(x);
}

INLINE T FN(modified_bessel_i1)(T x) {
    return FN(scaled_i1)(x, FN(exp_above)(fabs(x)), 0, 0);
}

/* K0 and K1 up to 2, and beyond times sqrt(x) exp(x). */
FUNCTION FN(near_k0)(T x) {
    return SERIES(x * x - 2, FN(K0A), 0) - log((T)0.5 * x) * FN(modified_bessel_i0)(x);
}

FUNCTION FN(near_k1)(T x) {
    return log((T)0.5 * x) * FN(modified_bessel_i1)(x) + SERIES(x * x - 2, FN(K1A), 0) / x;
}

FUNCTION FN(modified_bessel_k0)(T x) {
    if (x <= 0)
        return x == 0 ? (T)INFINITY : (T)NAN;
    return x <= 2 ? FN(near_k0)(x) : exp(-x) * SERIES(8 / x - 2, FN(K0B), 0) / sqrt(x);
}

FUNCTION FN(modified_bessel_k1)(T x) {
    if (x <= 0)
        return x == 0 ? (T)INFINITY : (T)NAN;
    return x <= 2 ? FN(near_k1)(x) : exp(-x) * SERIES(8 / x - 2, FN(K1B), 0) / sqrt(x);
}

FUNCTION FN(scaled_modified_bessel_k0)(T x) {
    if (x <= 0)
        return x == 0 ? (T)INFINITY : (T)NAN;
    return x <= 2 ? FN(near_k0)(x) * exp(x) : SERIES(8 / x - 2, FN(K0B), 0) / sqrt(x);
}

FUNCTION FN(scaled_modified_bessel_k1)(T x) {
    if (x <= 0)
        return x == 0 ? (T)INFINITY : (T)NAN;
    return x <= 2 ? FN(near_k1)(x) * exp(x) : SERIES(8 / x - 2, FN(K1B), 0) / sqrt(x);
}

/* ---- Bessel and Airy functions ------------------------------------------------------------------------------------------- */

/* Beyond 5: amplitude and phase. `shift` is pi / 4 or 3 pi / 4; `second` asks for Y. */
FUNCTION FN(waves)(T x, T z, T shift, const T* pp, const T* pq, const T* qp, const T* qq, int second) {
    T p = FN(polynomial)(z, pp, 7) / FN(polynomial)(z, pq, 7);
    T q = FN(polynomial)(z, qp, 8) / FN(polynomial)(z, qq, 7);
    T c = cos(x - shift), s = sin(x - shift);
    T wave = second ? p * s + 5 / x * q * c : p * c - 5 / x * q * s;
    return wave * (T)0.7978845608028654 / sqrt(x);
}

FUNCTION FN(waves0)(T x, int second) {
    return FN(waves)(x, 25 / (x * x), (T)0.7853981633974483, FN(J0PP), FN(J0PQ), FN(J0QP), FN(J0QQ), second);
}

FUNCTION FN(waves1)(T x, int second) {
    return FN(waves)(x, 5 / x * (5 / x), (T)2.356194490192345, FN(J1PP), FN(J1PQ), FN(J1QP), FN(J1QQ), second);
}

FUNCTION FN(bessel_j0)(T x) {
    T z;
    x = x < 0 ? -x : x;
    if (!(x <= 5))
        return FN(waves0)(x, 0);
    z = x * x;
    if (x < (T)0.00001)
        return 1 - z / 4;
    return (z - (T)5.783185962946785) * (z - (T)30.471262343662087) * POLYNOMIAL(z, FN(J0RP)) / POLYNOMIAL(z, FN(J0RQ));
}

FUNCTION FN(bessel_j1)(T x) {
    T y = fabs(x), z = x * x, result;
    if (y <= 5)
        result = POLYNOMIAL(z, FN(J1RP)) / POLYNOMIAL(z, FN(J1RQ)) * y * (z - (T)14.681970642123893) * (z - (T)49.2184563216946);
    else
        result = FN(waves1)(y, 0);
    return x < 0 ? -result : result;
}

FUNCTION FN(bessel_y0)(T x) {
    T z = x * x;
    if (!(x <= 5))
        return FN(waves0)(x, 1);
    if (x <= 0)
        return x == 0 ? -(T)INFINITY : (T)NAN;
    return POLYNOMIAL(z, FN(Y0YP)) / POLYNOMIAL(z, FN(Y0YQ)) + (T)M_2_PI * log(x) * FN(bessel_j0)(x);
}

FUNCTION FN(bessel_y1)(T x) {
    T z = x * x;
    if (!(x <= 5))
        return FN(waves1)(x, 1);
    if (x <= 0)
        return x == 0 ? -(T)INFINITY : (T)NAN;
    return x * (POLYNOMIAL(z, FN(Y1YP)) / POLYNOMIAL(z, FN(Y1YQ))) + (T)M_2_PI * (FN(bessel_j1)(x) * log(x) - 1 / x);
}

FUNCTION FN(spherical_bessel_j0)(T x) {
    static const T C[7] = {1.0 / 6227020800.0, -1.0 / 39916800.0, 1.0 / 362880.0, -1.0 / 5040.0, 1.0 / 120.0, -1.0 / 6.0, 1.0};
    if (isinf(x))
        return 0;
    return fabs(x) < (T)0.5 ? POLYNOMIAL(x * x, C) : sin(x) / x;
}

FUNCTION FN(airy_ai)(T x) {
    const T inverse_root = (T)0.5641895835477563;      /* 1 / sqrt(pi) */
    T f = 1, g = x, m = 1, n = x, k = 1, z, t;
    if (isinf(x))
        return (T)NAN;
    if (x > (T)103.892)
        return 0;
    if (x < (T)-2.09) {
        t = -2 * x * sqrt(-x) / 3;
        z = 1 / t;
        f = 1 + z * z * POLYNOMIAL(z * z, FN(AI_AFN)) / POLYNOMIAL(z * z, FN(AI_AFD));
        g = z * POLYNOMIAL(z * z, FN(AI_AGN)) / POLYNOMIAL(z * z, FN(AI_AGD));
        t += (T)0.25 * (T)M_PI;
        return inverse_root / sqrt(sqrt(-x)) * (sin(t) * f - cos(t) * g);
    }
    if (x >= (T)2.09) {
        z = 2 * x * sqrt(x) / 3;
        f = POLYNOMIAL(1 / z, FN(AI_AN)) / POLYNOMIAL(1 / z, FN(AI_AD));
        return inverse_root * f / (2 * sqrt(sqrt(x)) * exp(z));
    }
    z = x * x * x;                                           /* Maclaurin's series of both solutions */
    do {
        m *= z;
        m /= k += 1;
        n *= z;
        n /= k += 1;
        m /= k;
        f += m;
        n /= k += 1;
        g += n;
        t = fabs(m / f);
    } while (t > LEAST);
    return (T)0.3550280538878172 * f - (T)0.2588194037928068 * g;
}

/* ---- orthogonal polynomials: by three-term recurrence, where n is large and |x| < 1 by angles ---------------------------- */

/* Degrees come as numbers of any kind; what is no integer is cut off, what does not fit has no polynomial. */
static __attribute__((unused)) int64_t FN(degree)(T n) {
    return n >= -0x1p63 && n < 0x1p63 ? (int64_t)n : INT64_MIN;
}

/* p0 = 1, p1 = q, p(k) = 2 x p(k - 1) - p(k - 2) */
FUNCTION FN(chebyshev)(T x, T q, int64_t n) {
    T p = 1, r;
    if (n == 0)
        return 1;
    for (int64_t k = 2; k <= n && q == q; k++) {
        r = (x + x) * q - p;
        p = q;
        q = r;
    }
    return q;
}

FUNCTION FN(chebyshev_t)(T x, int64_t n) {
    if (n < 0)
        return 0;
    if (fabs(x) == 1)
        return x > 0 || n % 2 == 0 ? 1 : -1;
    if (n > 6 && fabs(x) < 1)
        return cos(n * acos(x));
    return FN(chebyshev)(x, x, n);
}

FUNCTION FN(chebyshev_u)(T x, int64_t n, int angles) {
    if (n < 0)
        return 0;
    if (fabs(x) == 1)
        return (T)(x > 0 || n % 2 == 0 ? n + 1 : -(n + 1));
    if (n > angles && fabs(x) < 1) {
        T angle = acos(x), sine = sin(angle);
        return sine != 0 ? sin((n + 1) * angle) / sine : (n + 1) * cos((n + 1) * angle) / x;
    }
    return FN(chebyshev)(x, x + x, n);
}

FUNCTION FN(chebyshev_v)(T x, int64_t n, int angles) {
    if (n < 0)
        return 0;
    if (fabs(x) == 1)
        return (T)(x > 0 ? 1 : n % 2 == 0 ? n + n + 1 : -(n + n + 1));
    if (n > angles && fabs(x) < 1) {
        T angle = acos(x);
        if (sin(angle / 2) != 1)
            return cos((n + (T)0.5) * angle) / cos(angle / 2);
        return (T)(n % 2 == 0 ? n + n + 1 : -(n + n + 1));
    }
    return FN(chebyshev)(x, x + x - 1, n);
}

FUNCTION FN(chebyshev_w)(T x, int64_t n, int angles) {
    if (n < 0)
        return 0;
    if (fabs(x) == 1)
        return (T)(x > 0 ? n + n + 1 : n % 2 == 0 ? 1 : -1);
    if (n > angles && fabs(x) < 1) {
        T angle = acos(x);
        if (cos(angle / 2) != 1)
            return sin((n + (T)0.5) * angle) / sin(angle / 2);
        return (T)(x > 0 ? n + n + 1 : n % 2 == 0 ? 1 : -1);
    }
    return FN(chebyshev)(x, x + x + 1, n);
}

FUNCTION FN(chebyshev_polynomial_t)(T x, T n) {
    return FN(chebyshev_t)(x, FN(degree)(n));
}

FUNCTION FN(chebyshev_polynomial_u)(T x, T n) {
    return FN(chebyshev_u)(x, FN(degree)(n), 8);
}

FUNCTION FN(chebyshev_polynomial_v)(T x, T n) {
    return FN(chebyshev_v)(x, FN(degree)(n), 8);
}

FUNCTION FN(chebyshev_polynomial_w)(T x, T n) {
    return FN(chebyshev_w)(x, FN(degree)(n), 8);
}

FUNCTION FN(shifted_chebyshev_polynomial_t)(T x, T n) {
    return FN(chebyshev_t)(x + x - 1, FN(degree)(n));
}

FUNCTION FN(shifted_chebyshev_polynomial_u)(T x, T n) {
    return FN(chebyshev_u)(x + x - 1, FN(degree)(n), 6);
}

FUNCTION FN(shifted_chebyshev_polynomial_v)(T x, T n) {
    return FN(chebyshev_v)(x + x - 1, FN(degree)(n), 6);
}

FUNCTION FN(shifted_chebyshev_polynomial_w)(T x, T n) {
    return FN(chebyshev_w)(x + x - 1, FN(degree)(n), 4);
}

FUNCTION FN(hermite_polynomial_h)(T x, T degree) {
    T p = 1, q = x + x, r;
    int64_t n = FN(degree)(degree);
    if (n <= 0)
        return n == 0;
    if (n > MOST_HERMITE)
        return (T)NAN;
    for (int64_t k = 2; k < n + n; k += 2) {
        r = (x + x) * q - k * p;
        p = q;
        q = r;
    }
    return q;
}

FUNCTION FN(hermite_polynomial_he)(T x, T degree) {
    T p = 1, q = x, r;
    int64_t n = FN(degree)(degree);
    if (n <= 0)
        return n == 0;
    if (n > MOST_HERMITE)
        return (T)NAN;
    for (int64_t k = 1; k < n; k++) {
        r = x * q - k * p;
        p = q;
        q = r;
    }
    return q;
}

FUNCTION FN(laguerre_polynomial_l)(T x, T degree) {
    T p = 1, q = 1 - x, r;
    int64_t n = FN(degree)(degree);
    if (n < 0)
        return 0;
    if (x == 0 || n == 0)
        return 1;
    for (int64_t k = 1; k < n && q == q; k++) {
        r = ((k + k + (1 - x)) * q - k * p) / (k + 1);
        p = q;
        q = r;
    }
    return q;
}

FUNCTION FN(legendre_polynomial_p)(T x, T degree) {
    T p = 1, q = x, r;
    int64_t n = FN(degree)(degree);
    if (n < 0)
        return 0;
    if (fabs(x) == 1)
        return x > 0 || n % 2 == 0 ? 1 : -1;
    if (n == 0)
        return 1;
    for (int64_t k = 1; k < n && q == q; k++) {
        r = ((k + k + 1) * x * q - k * p) / (k + 1);
        p = q;
        q = r;
    }
    return q;
}

#undef FUNCTION
#undef COUNT
#undef SERIES
#undef POLYNOMIAL
#endif
