/* exp and what is made of it: expm1, tanh, log(1 + exp(x)), the error functions and their inverse.

   Included by formulas.h for each real dtype of computation, as the rest of it is; no branches, so that loops vectorise. */
#include "pieces.h"

/* 2 to the whole number before n, where that is a normal number. */
INLINE float FN(scale_of_f32)(int32_t n)
{
    uint32_t bits = (uint32_t)(n + 126) << 23;
    float x;
    memcpy(&x, &bits, 4);
    return x;
}
/* The same for n + 2**52 + 2**51, whose low bits are the number. */
INLINE double FN(scale_of_f64)(double shifted)
{
    uint64_t bits;
    double x;
    memcpy(&bits, &shifted, 8);
    bits = (bits + 1022) << 52;
    memcpy(&x, &bits, 8);
    return x;
}

/* As whole numbers: bits of floats are in order, and an instruction does what comparisons take four for. What is no number becomes
   a bound. */
INLINE float FN(at_most_f32)(float x, float most)
{
    int32_t bits, bound;
    memcpy(&bits, &x, 4);
    memcpy(&bound, &most, 4);
    bits = bits < bound ? bits : bound;
    memcpy(&x, &bits, 4);
    return x;
}
INLINE float FN(clamped_f32)(float x, float least, float most)     /* least < 0 < most */
{
    uint32_t bits, bound;
    x = FN(at_most_f32)(x, most);
    memcpy(&bits, &x, 4);
    memcpy(&bound, &least, 4);
    bits = bits < bound ? bits : bound;
    memcpy(&x, &bits, 4);
    return x;
}

/* exp(r) - 1 for |r| <= log(2) / 2 */
INLINE T FN(expm1_unit)(T r)
{
    T m;
    if (IS_FLOAT) {
        m = (T)1.9875691500e-4;
        m = FN(muladd)(m, r, (T)1.3981999507e-3);
        m = FN(muladd)(m, r, (T)8.3334519073e-3);
        m = FN(muladd)(m, r, (T)4.1665795894e-2);
        m = FN(muladd)(m, r, (T)1.6666665459e-1);
        m = FN(muladd)(m, r, (T)5.0000001201e-1);
    } else {
        T square = r * r, odd = (T)(1.0 / 6227020800);      /* the odd powers and the even ones do not wait for each other */
        m = (T)(1.0 / 479001600);
        odd = FN(muladd)(odd, square, (T)(1.0 / 39916800));
        m = FN(muladd)(m, square, (T)(1.0 / 3628800));
        odd = FN(muladd)(odd, square, (T)(1.0 / 362880));
        m = FN(muladd)(m, square, (T)(1.0 / 40320));
        odd = FN(muladd)(odd, square, (T)(1.0 / 5040));
        m = FN(muladd)(m, square, (T)(1.0 / 720));
        odd = FN(muladd)(odd, square, (T)(1.0 / 120));
        m = FN(muladd)(m, square, (T)(1.0 / 24));
        odd = FN(muladd)(odd, square, (T)(1.0 / 6));
        m = FN(muladd)(m, square, (T)0.5);
        m = FN(muladd)(odd, r, m);
    }
    return FN(muladd)(m * r, r, r);
}
/* exp(x) = 2**n (1 + m), with m = exp(r) - 1; `shifted` is n with its bits in the low ones. */
INLINE T FN(exp_rest)(T x, T *shifted)
{
    const T shift = EITHER(12582912.0f, 6755399441055744.0);
    T n, r;
    *shifted = FN(muladd)(x, (T)1.44269504088896340736, shift);
    n = *shifted - shift;
    r = FN(muladd)(n, EITHER(-0.693359375f, -6.93145751953125e-1), x);
    r = FN(muladd)(n, EITHER(2.12194440e-4f, -1.42860682030941723212e-6), r);
    return FN(expm1_unit)(r);
}
/* The same with half = 2**(n - 1), a normal number. */
INLINE T FN(exp_parts)(T x, T *half)
{
    T shifted, m = FN(exp_rest)(x, &shifted);
    *half = IS_FLOAT ? (T)FN(scale_of_f32)((int32_t)((float)shifted - 12582912.0f)) : (T)FN(scale_of_f64)((double)shifted);
    return m;
}
/* (1 + m) 2**n as a float, in two steps, so that what is hardly a number is rounded once. */
INLINE T FN(scaled_f32)(T m, int32_t n)
{
    int32_t first = n >> 1;
    T half = (T)FN(scale_of_f32)(first + 1);
    return FN(muladd)(m, half, half) * (T)FN(scale_of_f32)(n - first + 1);
}
/* Of a float, right to 2 units in the last place down to the least one. */
INLINE T FN(exp_of)(T x)
{
    T shifted, m, result;
    m = FN(exp_rest)((T)FN(clamped_f32)((float)x, -104, 89), &shifted);
    result = FN(scaled_f32)(m, (int32_t)(shifted - 12582912));
    return x != x ? x : result;
}
INLINE T FN(exp2_of)(T x)
{
    T inside = (T)FN(clamped_f32)((float)x, -151, 129), n = rint(inside), result;
    result = FN(scaled_f32)(FN(expm1_unit)((inside - n) * (T)0.69314718055994530942), (int32_t)n);
    return x != x ? x : result;
}
/* Right to 2 units in the last place; what is hardly a normal number, and less, is 0. */
INLINE T FN(quick_exp)(T x)
{
    const T most = 709.782712893384, least = -707.69;
    T inside, half, m, result;
    if (IS_FLOAT) {                  /* at -87.5 half is 0, at 89 the result is infinite */
        m = FN(exp_parts)((T)FN(clamped_f32)((float)x, -87.5f, 89), &half);
        result = FN(muladd)(m, half, half) * 2;
        return x != x ? x : result;
    }
    inside = x > most ? most : x < least ? least : x;
    m = FN(exp_parts)(inside, &half);
    result = FN(muladd)(m, half, half) * 2;
    result = x > most ? (T)INFINITY : result;
    result = x < least ? 0 : result;
    return x != x ? x : result;
}
/* Right near 0 too. */
INLINE T FN(quick_expm1)(T x)
{
    const T most = 709.782712893384, least = -38;
    T inside, half, m, result;
    if (IS_FLOAT) {
        m = FN(exp_parts)((T)FN(clamped_f32)((float)x, -17.5f, 89), &half);
        result = FN(muladd)(m, half, half - (T)0.5) * 2;
        return x != x ? x : result;
    }
    inside = x > most ? most : x < least ? least : x;
    m = FN(exp_parts)(inside, &half);
    result = FN(muladd)(m, half, half - (T)0.5) * 2;
    result = x > most ? (T)INFINITY : result;
    return x != x ? x : result;
}
INLINE T FN(quick_tanh)(T x)
{
    T m = FN(quick_expm1)(-2 * fabs(x));
    return copysign(-m / (m + 2), x);
}
/* log(1 + x) for 0 <= x <= 1: a series of atanh. */
INLINE T FN(log1p_unit)(T x)
{
    T s = x / (x + 2), square = s * s, sum = 0;
    if (IS_FLOAT) {
#pragma GCC unroll 8
        for (int k = 7; k >= 0; k--)
            sum = FN(muladd)(sum, square, 1 / (T)(2 * k + 1));
    } else {
#pragma GCC unroll 18
        for (int k = 17; k >= 0; k--)
            sum = FN(muladd)(sum, square, 1 / (T)(2 * k + 1));
    }
    return 2 * s * sum;
}
/* log(1 + exp(x)) */
INLINE T FN(log1p_exp)(T x) { return (x > 0 ? x : 0) + FN(log1p_unit)(FN(quick_exp)(-fabs(x))); }

/* n coefficients, that of the constant first, the next one `step` behind; every fourth power apart, as each waits for the one
   before. */
INLINE T FN(powers)(T t, const T *coefficients, int step, int n)
{
    const T square = t * t, fourth = square * square;
    T sums[4] = {0, 0, 0, 0};
#pragma GCC unroll 32
    for (int k = n - 1; k >= 0; k--)
        sums[k % 4] = k + 4 < n ? FN(muladd)(sums[k % 4], fourth, coefficients[k * step]) : coefficients[k * step];
    return FN(muladd)(FN(muladd)(sums[3], t, sums[2]), square, FN(muladd)(sums[1], t, sums[0]));
}
INLINE T FN(polynomial)(T t, const T *coefficients, int n) { return FN(powers)(t, coefficients, 1, n); }
/* erf(x) / x for |x| <= 1, in 2 x**2 - 1 */
static const T FN(erf_near)[] UNUSED = {
        (T)0.965468738669867308, (T)-0.140536089022717119, (T)0.0198524966889837072, (T)-0.00228548556114411321,
        (T)0.000217517156041601072, (T)-0.0000175371694411248254, (T)1.22338273835240096e-6, (T)-7.51156928660088963e-8,
        (T)4.11580059766495944e-9, (T)-2.03522840489946704e-10, (T)9.1676067460694449e-12, (T)-3.80788273952634126e-13,
        (T)1.45481707596067901e-14,
};
/* exp(x**2) (1 - erf(x)) for 1 <= x <= 6, in (x - 2) / (x + 2) stretched from [-1/3, 1/2] to [-1, 1] */
static const T FN(erf_far)[] UNUSED = {
        (T)0.221429540229931835, (T)-0.161893568041024945, (T)0.0385605704251787654, (T)-0.00558881628184137863,
        (T)0.000197139177804813613, (T)0.000080792204287706537, (T)-7.34051855313435217e-6, (T)-1.97956197469178706e-6,
        (T)1.63501789328037555e-7, (T)7.00537149188031138e-8, (T)-5.93758429961485183e-10, (T)-2.62500354325077223e-9,
        (T)-2.62608445051134176e-10, (T)7.46844869131506967e-11, (T)1.83879750533606172e-11, (T)-4.76876267335158415e-13,
};
/* In float x P(x**2) / Q(x**2), off by 4e-7 at most; in double two polynomials, off by 1e-15. Fitted to values of 40 digits. */
INLINE float FN(number_erf)(float x)     /* 1 of what is no number */
{
    T s = (T)FN(at_most_f32)(x * x, 16), p, q;
    p = (T)1.986787546280323e-06;
    p = FN(muladd)(p, s, (T)0.0002845659098081646);
    p = FN(muladd)(p, s, (T)0.003883333512788918);
    p = FN(muladd)(p, s, (T)0.053101713104278934);
    p = FN(muladd)(p, s, (T)0.19354478494006971);
    p = FN(muladd)(p, s, (T)1.1283791393471172);
    q = (T)3.74202295203757e-05;
    q = FN(muladd)(q, s, (T)0.0011855690799784282);
    q = FN(muladd)(q, s, (T)0.015207229541633609);
    q = FN(muladd)(q, s, (T)0.11534988900701143);
    q = FN(muladd)(q, s, (T)0.5048571554561395);
    q = FN(muladd)(q, s, 1);
    return FN(clamped_f32)((float)((T)x * p / q), -1, 1);    /* beyond where |x| > 4 */
}
INLINE T FN(quick_erf)(T x)
{
    T size = fabs(x), square = x * x, clipped, stretched, outside, inside;
    if (IS_FLOAT)
        return x != x ? x : (T)FN(number_erf)((float)x);
    clipped = size < 1 ? 1 : size > 6 ? 6 : size;
    stretched = ((clipped - 2) / (clipped + 2) + (T)(1.0 / 3)) * (T)2.4 - 1;
    outside = copysign(1 - FN(quick_exp)(-clipped * clipped) * FN(polynomial)(stretched, FN(erf_far), 16), x);
    inside = x * FN(polynomial)(2 * (square > 1 ? 1 : square) - 1, FN(erf_near), 13);
    inside = size > 1 ? outside : inside;
    return x != x ? x : inside;
}

#if IS_WIDE
/* Of doubles. */
INLINE void FN(erf_of_eight)(const double *x, double *to, __mmask8 some)
{
    const __m512d sign = _mm512_set1_pd(-0.0), shift = _mm512_set1_pd(6755399441055744.0);
    const __m512d given = _mm512_maskz_loadu_pd(some, x), whole = _mm512_andnot_pd(sign, given);
    const __m512d size = _mm512_min_pd(whole, _mm512_set1_pd(5.8124));
    const __m512d shifted = _mm512_fmadd_pd(size, _mm512_set1_pd(8.0 / 3), shift);
    const __m512d t = _mm512_fnmadd_pd(_mm512_sub_pd(shifted, shift), _mm512_set1_pd(0.375), size);
    const __m512i piece = _mm512_castpd_si512(shifted);
    __m512d sum = _mm512_setzero_pd();
#pragma GCC unroll 13
    for (int k = ERF_POWERS - 1; k >= 0; k--) {
        const __m512d low = _mm512_load_pd(ERF_PIECES[k]), high = _mm512_load_pd(ERF_PIECES[k] + 8);
        sum = _mm512_fmadd_pd(sum, t, _mm512_permutex2var_pd(low, piece, high));
    }
    sum = _mm512_mask_mov_pd(sum, _mm512_cmp_pd_mask(whole, _mm512_set1_pd(5.9), _CMP_GT_OQ), _mm512_set1_pd(1));
    sum = _mm512_or_pd(sum, _mm512_and_pd(given, sign));
    sum = _mm512_mask_mov_pd(sum, _mm512_cmp_pd_mask(given, given, _CMP_UNORD_Q), given);
    _mm512_mask_storeu_pd(to, some, sum);
}
#endif
UNUSED static void FN(erf_loop)(char **pointers, const intptr_t *count, const intptr_t *steps, void *data)
{
    enum { BLOCK = 128 };
    T a_copy[BLOCK], row[BLOCK];
    (void)data;
    for (intptr_t done = 0; done < *count; done += BLOCK) {
        const intptr_t n = *count - done < BLOCK ? *count - done : BLOCK;
        AS_ROW(0, a)
#if IS_WIDE
        for (intptr_t i = 0; !IS_FLOAT && i < n; i += 8)
            FN(erf_of_eight)((const double *)a + i, (double *)row + i, n - i < 8 ? (__mmask8)((1u << (n - i)) - 1) : 0xff);
        for (intptr_t i = 0; IS_FLOAT && i < n; i++)
#else
        for (intptr_t i = 0; i < n; i++)
#endif
            row[i] = FN(quick_erf)(a[i]);
        STORE_ROW(1)
    }
}

/* exp(x**2) erfc(x) is smooth; what rounding x**2 loses is made up for. In double from 6 on the asymptotic series. */
INLINE T FN(erfc_by)(T x, T size, T scaled)
{
    T square = size * size, lost = FN(muladd)(size, size, -square), result;
    result = FN(quick_exp)(-square) * (scaled - scaled * lost);
    result = x < 0 ? 2 - result : result;
    return x != x ? x : result;
}
INLINE T FN(erfc_near)(T x, FLAG *far)
{
    T size = fabs(x), clipped, square, scaled, result, small;
    if (IS_FLOAT) {
        static const T c[] = {
            (T)0.25539568, (T)-0.42718586, (T)0.24165823, (T)-0.07897837, (T)0.00373239303, (T)0.00699509121, (T)-0.00084484083,
            (T)-0.00097082061, (T)4.13566587e-05, (T)0.000150347981, (T)2.01718067e-05, (T)-7.41665826e-06,
        };
        clipped = size > (T)10.5 ? (T)10.5 : size;
        return FN(erfc_by)(x, clipped, FN(polynomial)((clipped - 2) / (clipped + 2), c, 12));
    }
    *far |= size > 6;
    square = x * x;
    clipped = size < 1 ? 1 : size;
    scaled = FN(polynomial)(((clipped - 2) / (clipped + 2) + (T)(1.0 / 3)) * (T)2.4 - 1, FN(erf_far), 16);
    result = FN(erfc_by)(x, clipped, scaled);
    small = x * FN(polynomial)(2 * (square > 1 ? 1 : square) - 1, FN(erf_near), 13);
    return size < 1 ? 1 - small : result;
}
SELDOM T FN(erfc_far)(T x)
{
    T size = fabs(x) > 27 ? 27 : fabs(x), part = 1 / (2 * size * size), tail = 1;
    for (int k = 30; k > 0; k--)
        tail = 1 - (2 * k - 1) * part * tail;
    return FN(erfc_by)(x, size, tail / size * (T)0.56418958354775628695);
}
ONE_IN_BLOCKS(erfc_loop, erfc_near, FN(erfc_far))

/* Giles' polynomials in w = -log(1 - y**2), from the highest power on: right to single precision, or to double's. */
static const T FN(erfinv_inner)[] UNUSED = {
    (T)-3.6444120640178196996e-21, (T)-1.685059138182016589e-19, (T)1.2858480715256400167e-18, (T)1.115787767802518096e-17,
    (T)-1.333171662854620906e-16, (T)2.0972767875968561637e-17, (T)6.6376381343583238325e-15, (T)-4.0545662729752068639e-14,
    (T)-8.1519341976054721522e-14, (T)2.6335093153082322977e-12, (T)-1.2975133253453532498e-11, (T)-5.4154120542946279317e-11,
    (T)1.051212273321532285e-09, (T)-4.1126339803469836976e-09, (T)-2.9070369957882005086e-08, (T)4.2347877827932403518e-07,
    (T)-1.3654692000834678645e-06, (T)-1.3882523362786468719e-05, (T)0.0001867342080340571352, (T)-0.00074070253416626697512,
    (T)-0.0060336708714301490533, (T)0.24015818242558961693, (T)1.6536545626831027356,
};
static const T FN(erfinv_outer)[] UNUSED = {
    (T)2.2137376921775787049e-09, (T)9.0756561938885390979e-08, (T)-2.7517406297064545428e-07, (T)1.8239629214389227755e-08,
    (T)1.5027403968909827627e-06, (T)-4.013867526981545969e-06, (T)2.9234449089955446044e-06, (T)1.2475304481671778723e-05,
    (T)-4.7318229009055733981e-05, (T)6.8284851459573175448e-05, (T)2.4031110387097893999e-05, (T)-0.0003550375203628474796,
    (T)0.00095328937973738049703, (T)-0.0016882755560235047313, (T)0.0024914420961078508066, (T)-0.0037512085075692412107,
    (T)0.005370914553590063617, (T)1.0052589676941592334, (T)3.0838856104922207635,
};
static const T FN(erfinv_last)[] UNUSED = {
    (T)-2.7109920616438573243e-11, (T)-2.5556418169965252055e-10, (T)1.5076572693500548083e-09, (T)-3.7894654401267369937e-09,
    (T)7.6157012080783393804e-09, (T)-1.4960026627149240478e-08, (T)2.9147953450901080826e-08, (T)-6.7711997758452339498e-08,
    (T)2.2900482228026654717e-07, (T)-9.9298272942317002539e-07, (T)4.5260625972231537039e-06, (T)-1.9681778105531670567e-05,
    (T)7.5995277030017761139e-05, (T)-0.00021503011930044477347, (T)-0.00013871931833623122026, (T)1.0103004648645343977,
    (T)4.8499064014085844221,
};
INLINE T FN(descending)(T t, const T *coefficients, int n) { return FN(powers)(t, coefficients + n - 1, -1, n); }
/* Of doubles, nearly all of [-1, 1], and the rest. */
INLINE T FN(erfinv_near)(T given, FLAG *far)
{
    double y = (double)given, w = -FN(log_f64)((1 - y) * (1 + y));
    *far |= !(w < 6.25);
    return FN(descending)((T)(w - 3.125), FN(erfinv_inner), 23) * given;
}
SELDOM T FN(erfinv_far)(T given)
{
    double y = (double)given, w = -FN(log_f64)((1 - y) * (1 + y)), root = sqrt(w), result;
    result = w < 16 ? FN(descending)((T)(root - 3.25), FN(erfinv_outer), 19) : FN(descending)((T)(root - 5), FN(erfinv_last), 17);
    return (T)(fabs(y) == 1 ? copysign(INFINITY, y) : result * y);
}
ONE_IN_BLOCKS(erfinv_loop, erfinv_near, FN(erfinv_far))
INLINE T FN(erfinv)(T y)
{
    T w = -FN(quick_log)((1 - y) * (1 + y)), u = w - (T)2.5, v = sqrt(w < 5 ? 5 : w) - 3;
    T p = (T)2.81022636e-08, q = (T)-0.000200214257;
    p = FN(muladd)(p, u, (T)3.43273939e-07);
    p = FN(muladd)(p, u, (T)-3.5233877e-06);
    p = FN(muladd)(p, u, (T)-4.39150654e-06);
    p = FN(muladd)(p, u, (T)0.00021858087);
    p = FN(muladd)(p, u, (T)-0.00125372503);
    p = FN(muladd)(p, u, (T)-0.00417768164);
    p = FN(muladd)(p, u, (T)0.246640727);
    p = FN(muladd)(p, u, (T)1.50140941);
    q = FN(muladd)(q, v, (T)0.000100950558);
    q = FN(muladd)(q, v, (T)0.00134934322);
    q = FN(muladd)(q, v, (T)-0.00367342844);
    q = FN(muladd)(q, v, (T)0.00573950773);
    q = FN(muladd)(q, v, (T)-0.0076224613);
    q = FN(muladd)(q, v, (T)0.00943887047);
    q = FN(muladd)(q, v, (T)1.00167406);
    q = FN(muladd)(q, v, (T)2.83297682);
    p = (w < 5 ? p : q) * y;
    return fabs(y) == 1 ? copysign((T)INFINITY, y) : p;
}
