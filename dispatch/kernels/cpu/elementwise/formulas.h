/* Functions of the elementwise formulas: included once for each dtype of computation, written once for all of them.

   T is that dtype, PART that of a complex number's parts (T itself for others), FN(name) a function for T, OF_PART(name) one
   for PART. What large loops call has no branches that a compiler cannot turn into choices, so that the loop is vectorized. */

#include "../blocks.h"

/* ---- numbers of any kind ---- */

#if IS_COMPLEX
/* As vector code multiplies: no second look at infinities. */
INLINE T FN(product)(T a, T b)
{
    PART x = creal(a), y = cimag(a), u = creal(b), v = cimag(b);
    T result;
    ((PART *)&result)[0] = x * u - y * v;
    ((PART *)&result)[1] = x * v + y * u;
    return result;
}
INLINE T FN(of_parts)(PART x, PART y)
{
    T result;
    ((PART *)&result)[0] = x;
    ((PART *)&result)[1] = y;
    return result;
}
/* Smith's way, scaled by the larger part of the divisor; choices, no branches. */
INLINE T FN(quotient)(T a, T b)
{
    PART x = creal(a), y = cimag(a), u = creal(b), v = cimag(b);
    const int is_real = fabs(u) >= fabs(v), is_zero = u == 0 && v == 0;
    PART large = is_real ? u : v, small = is_real ? v : u, ratio = small / large, scale = 1 / (large + small * ratio);
    PART re = ((is_real ? x : y) + (is_real ? y : x) * ratio) * scale;
    PART im = ((is_real ? y : y * ratio) - (is_real ? x * ratio : x)) * scale;
    return FN(of_parts)(is_zero ? x * (PART)INFINITY : re, is_zero ? y * (PART)INFINITY : im);
}
INLINE T FN(reciprocal)(T x) { return x == 0 ? FN(of_parts)(INFINITY, NAN) : FN(quotient)(1, x); }
INLINE T FN(sigmoid)(T x) { return FN(quotient)(1, 1 + exp(-x)); }
INLINE T FN(silu)(T x) { return FN(quotient)(x, 1 + exp(-x)); }
INLINE T FN(sinc)(T x)
{
    T angle = FN(product)((PART)3.14159265358979323846, x);
    return x == 0 ? 1 : FN(quotient)(sin(angle), angle);
}
INLINE T FN(log1p_of)(T x)
{
    PART u = creal(x), v = cimag(x);
    PART near = log1p(u * (2 + u) + v * v) / 2, size = hypot(u + 1, v);
    return FN(of_parts)(hypot(u, v) < (PART)0.5 ? near : log(size), atan2(v, u + 1));
}
INLINE T FN(sgn)(T x)
{
    PART size = OF_PART(quick_hypot)(creal(x), cimag(x)), by = size == 0 ? 1 : size;
    return FN(of_parts)(creal(x) / by, cimag(x) / by);
}
INLINE PART FN(angle)(T x)
{
    return sizeof(PART) == 4 ? (PART)OF_PART(atan2_f32)((float)cimag(x), (float)creal(x)) : carg(x);
}
INLINE T FN(silu_gradient)(T grad, T x)
{
    T s = FN(sigmoid)(x);
    return FN(product)(grad, FN(product)(s, 1 + FN(product)(x, 1 - s)));
}
INLINE T FN(lerp)(T x, T end, T weight)
{
    PART u = creal(weight), v = cimag(weight);
    return u * u + v * v < (PART)0.25 ? x + FN(product)(weight, end - x) : end - FN(product)(end - x, 1 - weight);
}
INLINE T FN(largest)(void) { return OF_PART(largest)(); }
INLINE T FN(finite)(T x, T nan, T above, T below)
{
    return FN(of_parts)(OF_PART(finite)(creal(x), creal(nan), creal(above), creal(below)),
                        OF_PART(finite)(cimag(x), creal(nan), creal(above), creal(below)));
}
INLINE T FN(logaddexp)(T x, T y)
{
    T larger = creal(x) > creal(y) ? x : y, smaller = creal(x) > creal(y) ? y : x;
    if (x != x || y != y)
        return FN(of_parts)(NAN, NAN);
    if (creal(x) == creal(y) && creal(x) - creal(x) != 0)
        return creal(x) < 0 ? x : log(exp(x) + exp(y));
    return larger + log(1 + exp(smaller - larger));
}
#endif

/* ---- integers ---- */

#if IS_INTEGER
/* A divisor of 0 has been refused; -1 is apart because the smallest number has no negative. Quotients of small numbers are exact
   in float or double before they are rounded to whole ones, which vectorises. */
INLINE T FN(truncated_quotient)(T a, T b)
{
    if (sizeof(T) < 4 || (sizeof(T) == 4 && IS_SIGNED))
        return sizeof(T) < 4 ? (T)(int32_t)((float)(int32_t)a / (float)(int32_t)b) : (T)(int32_t)((double)a / (double)b);
    return IS_SIGNED && b == (T)-1 ? (T)-a : (T)(a / b);
}
INLINE T FN(floored_quotient)(T a, T b)
{
#ifdef __AVX2__
    if (sizeof(T) < 4 || (sizeof(T) == 4 && IS_SIGNED))
        return sizeof(T) < 4 ? (T)(int32_t)floorf((float)(int32_t)a / (float)(int32_t)b) : (T)(int32_t)floor((double)a / (double)b);
#endif
    if (IS_SIGNED && b == (T)-1)
        return (T)-a;
    return (T)(a / b - (a % b != 0 && (a < 0) != (b < 0)));
}
INLINE T FN(fmod_of)(T a, T b) { return (T)(a - FN(truncated_quotient)(a, b) * b); }
/* By a division of doubles, which is right where both numbers have up to 52 bits. */
INLINE double FN(double_of)(int64_t x)
{
    const uint64_t bits = (uint64_t)x + 0x4338000000000000u;
    double y;
    memcpy(&y, &bits, 8);
    return y - 6755399441055744.0;
}
INLINE T FN(floored_quotient_near)(T a, T b, FLAG *far)
{
    const uint64_t half = (uint64_t)1 << 51;
    double quotient = floor(FN(double_of)((int64_t)a) / FN(double_of)((int64_t)b)) + 6755399441055744.0;
    uint64_t bits;
    memcpy(&bits, &quotient, 8);
    *far |= (((uint64_t)a + half) | ((uint64_t)b + half)) >> 52 != 0;
    return (T)(bits - 0x4338000000000000u);
}
INLINE T FN(remainder_of)(T a, T b)
{
    T rest = FN(fmod_of)(a, b);
    return rest != 0 && (b < 0) != (rest < 0) ? (T)(rest + b) : rest;
}
INLINE T FN(remainder_near)(T a, T b, FLAG *far) { return (T)(a - FN(floored_quotient_near)(a, b, far) * b); }
INLINE T FN(fmod_near)(T a, T b, FLAG *far)
{
    T rest = FN(remainder_near)(a, b, far);
    return rest != 0 && (a < 0) != (b < 0) ? (T)(rest - b) : rest;
}
INLINE T FN(truncated_quotient_near)(T a, T b, FLAG *far)
{
    T quotient = FN(floored_quotient_near)(a, b, far);
    return (T)(quotient + (quotient * b != a && (a < 0) != (b < 0)));
}
IN_BLOCKS(floor_loop, floored_quotient_near, floored_quotient)
IN_BLOCKS(trunc_loop, truncated_quotient_near, truncated_quotient)
IN_BLOCKS(fmod_loop, fmod_near, fmod_of)
IN_BLOCKS(remainder_loop, remainder_near, remainder_of)
INLINE T FN(power)(T x, T exponent)
{
    T result = 1;
    if (IS_SIGNED && exponent < 0)
        return x == 1 ? 1 : x == (T)-1 ? (exponent % 2 ? -1 : 1) : 0;
    for (; exponent; exponent /= 2, x = (T)(x * x))
        if (exponent % 2)
            result = (T)(result * x);
    return result;
}
INLINE T FN(gcd)(T a, T b)
{
    a = IS_SIGNED && a < 0 ? (T)-a : a;
    b = IS_SIGNED && b < 0 ? (T)-b : b;
    while (a != 0) {
        T rest = (T)(b % a);
        b = a;
        a = rest;
    }
    return b;
}
INLINE T FN(lcm)(T a, T b)
{
    T common = FN(gcd)(a, b), result = common == 0 ? 0 : (T)(a / common * b);
    return IS_SIGNED && result < 0 ? (T)-result : result;
}
/* Shifts by no more bits than there are; further ones are what remains in the end. There is no vector of bytes to shift by: they
   go by 4, 2 and 1. */
INLINE T FN(shift_left)(T x, T by)
{
    if (sizeof(T) == 1) {
        T four = (T)(x << 4), y = by & 4 ? four : x, two = (T)(y << 2), one;
        y = by & 2 ? two : y;
        one = (T)(y << 1);
        y = by & 1 ? one : y;
        return (uint8_t)by > 7 ? 0 : y;
    }
    T shifted = sizeof(T) < 8 ? (T)((uint32_t)x << (by & 31)) : (T)((uint64_t)x << (by & 63));
    return (by < 0) | (by >= (T)(sizeof(T) * 8)) ? 0 : shifted;
}
INLINE T FN(shift_right)(T x, T by)
{
    int most = (int)sizeof(T) * 8 - IS_SIGNED;
    if (sizeof(T) == 1) {
        T four = (T)(x >> 4), y = by & 4 ? four : x, two = (T)(y >> 2), one;
        y = by & 2 ? two : y;
        one = (T)(y >> 1);
        y = by & 1 ? one : y;
        return (uint8_t)by > 7 ? (T)(IS_SIGNED && x < 0 ? -1 : 0) : y;
    }
    if (by < 0 || (uint64_t)by >= (uint64_t)most)
        return IS_SIGNED ? (T)(x >> most) : 0;
    return (T)(x >> by);
}
/* The next 16-bit float by its bits; NaN has more than `infinity`. */
INLINE T FN(next_half)(T x, T y, T infinity)
{
    const int most = (int)infinity, goal = (int)y, a = (int)x & 0x7fff, b = goal & 0x7fff;
    const int from = (int)x & 0x8000 ? -a : a, to = goal & 0x8000 ? -b : b;
    int next = (from > 0) == (to > from) ? (int)x + 1 : (int)x - 1, least = (goal & 0x8000) | 1;
    next = a == 0 ? least : next;
    next = from == to ? goal : next;
    return (T)((a > most) | (b > most) ? 0x7fff : next);
}
#endif

/* ---- real numbers ---- */

#if IS_REAL
#include "../logs.h"
#ifndef IS_FLOAT
#define IS_FLOAT (sizeof(T) == 4)
#define EITHER(of_float, of_double) (IS_FLOAT ? (T)of_float : (T)of_double)
#endif

/* a * b + c, rounded once where the processor does so. */
INLINE T FN(muladd)(T a, T b, T c) { return FN(muladd_of)(a, b, c); }

#include "exponentials.h"

/* Doubles below 0 take their time where the result is near 0. */
INLINE T FN(lgamma_near)(T x, FLAG *far)
{
    double y = FN(log_gamma_f64)((double)x);
    *far |= !IS_FLOAT && (x <= 0) & (fabs(y) < 0.25);
    return (T)y;
}
INLINE T FN(digamma)(T x) { return (T)FN(digamma_f64)((double)x); }
/* The root of the squares' sum; infinity if one of them is. */
INLINE T FN(quick_hypot)(T x, T y)
{
    T a = fabs(x), b = fabs(y), most = a > b ? a : b, least = a > b ? b : a, ratio = least / most, result;
    result = most * sqrt(FN(muladd)(ratio, ratio, 1));
    result = most == 0 ? a + b : result;
    result = a == INFINITY ? a : result;
    return b == INFINITY ? b : result;
}
INLINE T FN(next_after)(T x, T y)
{
    T result;
    if (IS_FLOAT) {
        float one = (float)x, other = (float)y, moved, least = copysignf(0x1p-149f, other);
        uint32_t bits;
        memcpy(&bits, &one, 4);
        bits += (one < other) == (one > 0) ? 1u : (uint32_t)-1;
        memcpy(&moved, &bits, 4);
        result = (T)(one == 0 ? least : moved);
    } else {
        double one = (double)x, other = (double)y, moved, least = copysign(0x1p-1074, other);
        uint64_t bits;
        memcpy(&bits, &one, 8);
        bits += (one < other) == (one > 0) ? 1u : (uint64_t)-1;
        memcpy(&moved, &bits, 8);
        result = (T)(one == 0 ? least : moved);
    }
    result = x == y ? y : result;
    result = x != x ? x : result;
    return y != y ? y : result;
}
/* A number where the other is NaN. */
INLINE T FN(larger_number)(T a, T b)
{
    T most = a > b ? a : b;
    return b != b ? a : most;
}
INLINE T FN(smaller_number)(T a, T b)
{
    T least = a < b ? a : b;
    return b != b ? a : least;
}

INLINE T FN(scaled_sum)(T x, T factor, T y) { return IS_FLOAT ? fma(factor, y, x) : x + factor * y; }
INLINE T FN(quotient)(T a, T b) { return a / b; }
/* What fmod is, exactly: for quotients that are not too large by a division, which can be one off. */
INLINE T FN(fmod_of)(T a, T b)
{
    double x = fabs((double)a), y = fabs((double)b), quotient = trunc(x / y), rest;
#ifdef __FMA__
    rest = __builtin_fma(-quotient, y, x);
#else
    if (!IS_FLOAT)
        return fmod(a, b);
    rest = x - quotient * y;
#endif
    if (!(quotient < (IS_FLOAT ? 0x1p28 : 0x1p52) && y < INFINITY))
        return fmod(a, b);
    rest = rest < 0 ? rest + y : rest >= y ? rest - y : rest;
    return copysign((T)rest, a);
}
/* The same without a branch, which is right unless it says that the quotient is too large. */
INLINE T FN(fmod_near)(T a, T b, FLAG *far)
{
#ifdef __FMA__
    double x = fabs((double)a), y = fabs((double)b), quotient = trunc(x / y), rest = __builtin_fma(-quotient, y, x);
    *far |= !(quotient < (IS_FLOAT ? 0x1p28 : 0x1p52)) | !(y < INFINITY);
    rest = rest < 0 ? rest + y : rest;
    rest = rest >= y ? rest - y : rest;
    return copysign((T)rest, a);
#else
    *far = 1;
    return a + b;
#endif
}
INLINE T FN(remainder_near)(T a, T b, FLAG *far)
{
    T rest = FN(fmod_near)(a, b, far), other = rest + b;
    other = (b < 0) != (rest < 0) ? other : rest;
    return rest == 0 ? rest : other;
}
INLINE T FN(reciprocal)(T x) { return 1 / x; }
INLINE bool FN(has_sign)(T x) { return FN(is_below)(x); }
/* Values as a narrow dtype holds them, for what PyTorch rounds after each step. */
INLINE T FN(as_exact)(T x) { return x; }
INLINE T FN(as_bf16)(T x)
{
    float y = (float)x;
    uint32_t bits;
    memcpy(&bits, &y, 4);
    bits = (bits + 0x7fffu + (bits >> 16 & 1)) & 0xffff0000u;
    memcpy(&y, &bits, 4);
    return x != x ? x : (T)y;
}
INLINE T FN(as_f16)(T x)      /* 11 bits, or as many as are above 2**-24 */
{
    float given = (float)fabs(x), power;
    uint32_t bits;
    memcpy(&bits, &given, 4);
    bits &= 0x7f800000u;
    memcpy(&power, &bits, 4);
    T size = fabs(x), unit = size < (T)6.103515625e-05 ? (T)5.9604644775390625e-08 : (T)0.0009765625 * (T)power;
    T near = x == 0 || size - size != 0 ? x : rint(x / unit) * unit;
    return fabs(near) > 65504 ? copysign((T)INFINITY, x) : near;
}
/* c10::div_floor_floating */
#define FLOORED_QUOTIENT(NAME, ROUNDED) \
    INLINE T FN(NAME)(T a, T b) \
    { \
        T plain = ROUNDED(a / b), rest = FN(fmod_of)(a, b), quotient = ROUNDED(ROUNDED(a - rest) / b), whole; \
        if (b == 0) \
            return plain; \
        if (rest != 0 && (b < 0) != (rest < 0)) \
            quotient = ROUNDED(quotient - 1); \
        if (quotient == 0) \
            return copysign((T)0, plain); \
        whole = floor(quotient); \
        return quotient - whole > (T)0.5 ? whole + 1 : whole; \
    } \
    INLINE T FN(NAME##_near)(T a, T b, FLAG *far) \
    { \
        T plain = ROUNDED(a / b), rest = FN(fmod_near)(a, b, far), quotient = ROUNDED(ROUNDED(a - rest) / b), less, whole; \
        less = ROUNDED(quotient - 1); \
        less = (b < 0) != (rest < 0) ? less : quotient; \
        quotient = rest == 0 ? quotient : less; \
        whole = floor(quotient); \
        whole = quotient - whole > (T)0.5 ? whole + 1 : whole; \
        return quotient == 0 ? copysign((T)0, plain) : whole; \
    }
FLOORED_QUOTIENT(floored_quotient, FN(as_exact))
FLOORED_QUOTIENT(floored_quotient_bf16, FN(as_bf16))
FLOORED_QUOTIENT(floored_quotient_f16, FN(as_f16))
INLINE T FN(truncated_quotient)(T a, T b) { return trunc(a / b); }
INLINE T FN(truncated_quotient_bf16)(T a, T b) { return trunc(FN(as_bf16)(a / b)); }
INLINE T FN(truncated_quotient_f16)(T a, T b) { return trunc(FN(as_f16)(a / b)); }
INLINE T FN(remainder_of)(T a, T b)
{
    T rest = FN(fmod_of)(a, b);
    return rest != 0 && (b < 0) != (rest < 0) ? rest + b : rest;
}
IN_BLOCKS(fmod_loop, fmod_near, fmod_of)
IN_BLOCKS(remainder_loop, remainder_near, remainder_of)
IN_BLOCKS(floor_loop, floored_quotient_near, floored_quotient)
IN_BLOCKS(floor_loop_bf16, floored_quotient_bf16_near, floored_quotient_bf16)
IN_BLOCKS(floor_loop_f16, floored_quotient_f16_near, floored_quotient_f16)
#include "arcs.h"
ONE_IN_BLOCKS(lgamma_loop, lgamma_near, lgamma)

/* NaN if one of them is: two choices, as one condition of two parts is a branch. */
INLINE T FN(larger)(T a, T b)
{
    T most = a > b ? a : b;
    return a != a ? a : most;
}
INLINE T FN(smaller)(T a, T b)
{
    T least = a < b ? a : b;
    return a != a ? a : least;
}
/* NaN if a bound is. A number that equals a bound becomes it, which tells zeros apart. */
INLINE T FN(within)(T x, T low, T high)
{
    T y = x <= low ? low : x;
    y = y >= high ? high : y;
    return low == low && high == high ? y : (T)NAN;
}
/* 1 + exp(-x), where it is finite. */
INLINE T FN(one_and_exp)(T x)
{
    const T most = EITHER(87.0f, 708.0);
    T size = x < -most ? most : x > most ? -most : -x, half, m = FN(exp_parts)(size, &half);
    return FN(muladd)(FN(muladd)(m, half, half), 2, 1);
}
INLINE T FN(sigmoid)(T x)
{
    T y = 1 / FN(one_and_exp)(x);
    return x < EITHER(-87.0f, -708.0) ? 0 : y;
}
INLINE T FN(silu)(T x)
{
    T y = x / FN(one_and_exp)(x);
    return x < EITHER(-104.0f, -746.0) ? x * 0 : y;
}
/* x tanh(log(1 + exp(x))), without the logarithm: 1 from 20 on. */
INLINE T FN(tanh_of_softplus)(T x)
{
    T e = FN(quick_exp)(x > 20 ? 20 : x), n = e * (e + 2), y = n / (n + 2);
    return IS_FLOAT && x > 20 ? 1 : y;
}
/* Where what is no number comes in by another factor. */
#define ERF_OF_NUMBER(x) (IS_FLOAT ? (T)FN(number_erf)((float)(x)) : FN(quick_erf)(x))
INLINE T FN(gelu)(T x) { return (T)0.5 * x * (1 + ERF_OF_NUMBER(x * (T)0.70710678118654752440)); }
INLINE T FN(gelu_tanh)(T x)
{
    T inner = (T)0.79788456080286535588 * (x + (T)0.044715 * (x * x * x));
    return (T)0.5 * x * (1 + FN(quick_tanh)(inner));
}
INLINE T FN(elu)(T x, T alpha, T scale, T input_scale)
{
    return x > 0 ? x * scale : FN(quick_expm1)(x * input_scale) * (alpha * scale);
}
INLINE T FN(softplus)(T x, T beta, T threshold) { return x * beta > threshold ? x : FN(log1p_exp)(x * beta) / beta; }
INLINE T FN(hard_part)(T x)
{
    T y = x + 3;
    return y < 0 ? 0 : y > 6 ? 6 : y;
}
INLINE T FN(hardsigmoid)(T x) { return FN(hard_part)(x) / 6; }
INLINE T FN(hardswish)(T x) { return x * FN(hard_part)(x) / 6; }
/* Of the angle rounded to T, as PyTorch's: sinc(1) is no zero. The turns of a 32-bit angle: 24 bits by 28 are exact, and a rest. */
INLINE T FN(sinc)(T x)
{
    T angle = x * (T)3.14159265358979323846;
    double turns = (double)angle * 0.31830988451838493, n = rint(turns), part = turns - n + (double)angle * 1.665405738066088e-09;
    double more = rint(part), half = (n + more) * 0.5, y;
    if (sizeof(T) == 8)
        return x == 0 ? 1 : sin(angle) / angle;
    y = FN(sine_of_turn)(part - more);
    y = half == floor(half) ? y : -y;
    return x == 0 ? 1 : (T)(y / (double)angle);
}
INLINE T FN(log1p_of)(T x) { return FN(quick_log1p)(x); }
INLINE T FN(log2_of)(T x) { return FN(quick_log)(x) * (T)1.44269504088896340736; }
INLINE T FN(log10_of)(T x) { return FN(quick_log)(x) * (T)0.43429448190325182765; }
INLINE T FN(power_of)(T x, T y) { return FN(quick_power)(x, y); }
INLINE T FN(sgn)(T x) { return (T)(x > 0) - (T)(x < 0); }
INLINE T FN(logaddexp)(T x, T y)
{
    T larger = x > y ? x : y;
    T sum = larger + FN(log1p_unit)(FN(quick_exp)(-fabs(x - y))), same = x == y ? x : sum;
    return larger - larger == 0 ? sum : same;
}
INLINE T FN(logaddexp2)(T x, T y)
{
    T larger = x > y ? x : y;
    T small = FN(quick_exp)(-fabs(x - y) * (T)0.69314718055994530942);
    T sum = larger + FN(log1p_unit)(small) * (T)1.44269504088896340736, same = x == y ? x : sum;
    return larger - larger == 0 ? sum : same;
}
INLINE T FN(logit_within)(T x, T eps)
{
    x = x < eps ? eps : x > 1 - eps ? 1 - eps : x;
    return FN(quick_log)(x / (1 - x));
}
INLINE T FN(logit_of)(T x) { return FN(quick_log)(x / (1 - x)); }
INLINE T FN(xlogy)(T x, T y) { return y != y ? (T)NAN : x == 0 ? 0 : x * FN(quick_log)(y); }
static __attribute__((noinline, const, unused)) T FN(power_of_ten)(int64_t n) { return pow((T)10, (T)n); }
INLINE T FN(rounded)(T x, int64_t decimals)
{
    T factor = FN(power_of_ten)(decimals < 0 ? -decimals : decimals);
    return decimals < 0 ? rint(x / factor) * factor : rint(x * factor) / factor;
}
INLINE T FN(largest)(void) { return EITHER(3.4028234663852886e+38f, 1.7976931348623157e+308); }
INLINE T FN(finite)(T x, T nan, T above, T below) { return x != x ? nan : x == INFINITY ? above : x == -INFINITY ? below : x; }
INLINE T FN(lerp)(T x, T end, T weight)
{
    return fabs(weight) < (T)0.5 ? x + weight * (end - x) : end - (end - x) * (1 - weight);
}

/* ---- gradients ---- */

INLINE T FN(elu_gradient)(T grad, T x, T alpha, T scale, T input_scale)
{
    return x <= 0 ? grad * input_scale * alpha * scale * FN(quick_exp)(x * input_scale) : grad * scale;
}
INLINE T FN(gelu_gradient)(T grad, T x)
{
    T below = (T)0.5 * (1 + ERF_OF_NUMBER(x * (T)0.70710678118654752440));
    return grad * (below + x * FN(quick_exp)(x * x * (T)-0.5) * (T)0.39894228040143267794);
}
INLINE T FN(gelu_tanh_gradient)(T grad, T x)
{
    const T beta = (T)0.79788456080286535588, kappa = (T)0.044715;
    T square = x * x, t = FN(quick_tanh)(beta * (x + kappa * (square * x)));
    T inner = beta * (1 + 3 * kappa * square);
    return grad * ((T)0.5 * (1 + t) + (T)0.5 * x * (1 - t * t) * inner);
}
INLINE T FN(hardswish_gradient)(T grad, T x) { return x <= -3 ? 0 : x < 3 ? grad * (x / 3 + (T)0.5) : grad; }
INLINE T FN(log_sigmoid_gradient)(T grad, T x)
{
    T small = FN(quick_exp)(-fabs(x)), part = small / (1 + small);
    return grad * (x < 0 ? 1 - part : part);
}
INLINE T FN(logit_gradient)(T grad, T x) { return grad / (x * (1 - x)); }
INLINE T FN(mish_gradient)(T grad, T x)
{
    T s = FN(sigmoid)(x), t = FN(tanh_of_softplus)(x);
    return grad * (t + x * s * (1 - t * t));
}
INLINE T FN(silu_gradient)(T grad, T x)
{
    T s = FN(sigmoid)(x);
    return grad * s * (1 + x * (1 - s));
}
INLINE T FN(softplus_gradient)(T grad, T x, T beta, T threshold)
{
    T z = FN(quick_exp)(x * beta);
    return x * beta > threshold ? grad : grad * z / (z + 1);
}
/* A mean's share of a gradient (reduction 1), the whole of it for a sum or none. */
INLINE T FN(share)(int64_t reduction, int64_t numel) { return reduction == 1 ? 1 / (T)numel : 1; }
INLINE T FN(huber_gradient)(T grad, T error, T delta)
{
    return error <= -delta ? -grad * delta : error >= delta ? grad * delta : error * grad;
}
INLINE T FN(smooth_l1_gradient)(T grad, T error, T beta)
{
    return error <= -beta ? -grad : error >= beta ? grad : error * grad / beta;
}
/* Of a float, as bits: what is below the normal numbers is made larger first. */
INLINE float FN(halved_f32)(float x, int32_t *exponent)
{
    const float size = fabsf(x), large = size < 0x1p-126f ? x * 0x1p24f : x;
    const int32_t bias = size < 0x1p-126f ? 150 : 126;
    uint32_t bits;
    float result;
    memcpy(&bits, &large, 4);
    *exponent = x == 0 || !(size < INFINITY) ? 0 : (int32_t)(bits >> 23 & 255) - bias;
    bits = (bits & 0x807fffffu) | 0x3f000000u;
    memcpy(&result, &bits, 4);
    return x == 0 || !(size < INFINITY) ? x : result;
}
INLINE T FN(mantissa)(T x)
{
    int32_t exponent;
    int of_double;
    return IS_FLOAT ? (T)FN(halved_f32)((float)x, &exponent) : (T)frexp((double)x, &of_double);
}
INLINE int FN(exponent)(T x)
{
    int32_t exponent = 0;
    int of_double = 0;
    if (IS_FLOAT) {
        (void)FN(halved_f32)((float)x, &exponent);
        return exponent;
    }
    (void)frexp((double)x, &of_double);
    return x - x == 0 ? of_double : 0;
}
#elif IS_INTEGER
INLINE T FN(within)(T x, T low, T high)
{
    x = x < low ? low : x;
    return x > high ? high : x;
}
INLINE T FN(larger)(T a, T b) { return a > b ? a : b; }
INLINE T FN(smaller)(T a, T b) { return a < b ? a : b; }
#elif IS_BOOL
INLINE T FN(larger)(T a, T b) { return a | b; }
INLINE T FN(smaller)(T a, T b) { return a & b; }
#endif
#if IS_INTEGER
/* Twice a mean's share of a gradient, cut to an integer. */
INLINE T FN(double_share)(int64_t reduction, int64_t numel) { return (T)(reduction == 1 && numel ? 2 / numel : 2); }
INLINE T FN(sgn)(T x) { return (T)((x > 0) - (x < 0)); }
#endif
