/* exp and what is made of it: expm1, tanh, log(1 + exp(x)), the error functions and their inverse.

   Included by formulas.h for each real dtype of computation, as the rest of it is; no branches, so that loops vectorise. */

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

/* exp(x) = 2**n (1 + m), with m = exp(r) - 1 for |r| <= log(2) / 2; `shifted` is n with its bits in the low ones. */
INLINE T FN(exp_rest)(T x, T *shifted)
{
    const T shift = EITHER(12582912.0f, 6755399441055744.0);
    T n, r, m;
    *shifted = FN(muladd)(x, (T)1.44269504088896340736, shift);
    n = *shifted - shift;
    if (IS_FLOAT) {
        r = FN(muladd)(n, (T)-0.693359375, x);
        r = FN(muladd)(n, (T)2.12194440e-4, r);
        m = (T)1.9875691500e-4;
        m = FN(muladd)(m, r, (T)1.3981999507e-3);
        m = FN(muladd)(m, r, (T)8.3334519073e-3);
        m = FN(muladd)(m, r, (T)4.1665795894e-2);
        m = FN(muladd)(m, r, (T)1.6666665459e-1);
        m = FN(muladd)(m, r, (T)5.0000001201e-1);
    } else {
        r = FN(muladd)(n, (T)-6.93145751953125e-1, x);
        r = FN(muladd)(n, (T)-1.42860682030941723212e-6, r);
        m = (T)(1.0 / 6227020800);
        m = FN(muladd)(m, r, (T)(1.0 / 479001600));
        m = FN(muladd)(m, r, (T)(1.0 / 39916800));
        m = FN(muladd)(m, r, (T)(1.0 / 3628800));
        m = FN(muladd)(m, r, (T)(1.0 / 362880));
        m = FN(muladd)(m, r, (T)(1.0 / 40320));
        m = FN(muladd)(m, r, (T)(1.0 / 5040));
        m = FN(muladd)(m, r, (T)(1.0 / 720));
        m = FN(muladd)(m, r, (T)(1.0 / 120));
        m = FN(muladd)(m, r, (T)(1.0 / 24));
        m = FN(muladd)(m, r, (T)(1.0 / 6));
        m = FN(muladd)(m, r, (T)0.5);
    }
    return FN(muladd)(m * r, r, r);
}
/* The same with half = 2**(n - 1), a normal number. */
INLINE T FN(exp_parts)(T x, T *half)
{
    T shifted, m = FN(exp_rest)(x, &shifted);
    *half = IS_FLOAT ? (T)FN(scale_of_f32)((int32_t)((float)shifted - 12582912.0f)) : (T)FN(scale_of_f64)((double)shifted);
    return m;
}
/* Of a float, right to 2 units in the last place down to the least one: 2**n in two steps. */
INLINE T FN(exp_of)(T x)
{
    T inside = x > 89 ? 89 : x, shifted, m, half, result;
    inside = inside < -104 ? -104 : inside;
    m = FN(exp_rest)(inside, &shifted);
    int32_t n = (int32_t)(shifted - 12582912), first = n >> 1;
    half = (T)FN(scale_of_f32)(first + 1);
    result = FN(muladd)(m, half, half) * (T)FN(scale_of_f32)(n - first + 1);
    return x != x ? x : result;
}
/* Right to 2 units in the last place; what is hardly a normal number, and less, is 0. */
INLINE T FN(quick_exp)(T x)
{
    const T most = EITHER(88.7228394f, 709.782712893384), least = EITHER(-86.99f, -707.69);
    T inside = x > most ? most : x < least ? least : x, half, m, result;
    m = FN(exp_parts)(inside, &half);
    result = FN(muladd)(m, half, half) * 2;
    result = x > most ? (T)INFINITY : result;
    result = x < least ? 0 : result;
    return x != x ? x : result;
}
/* Right near 0 too. */
INLINE T FN(quick_expm1)(T x)
{
    const T most = EITHER(88.7228394f, 709.782712893384), least = EITHER(-17.5f, -38.0);
    T inside = x > most ? most : x < least ? least : x, half, m, result;
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

INLINE T FN(polynomial)(T t, const T *coefficients, int n)     /* the constant first */
{
    T sum = coefficients[n - 1];
#pragma GCC unroll 16
    for (int k = n - 2; k >= 0; k--)
        sum = FN(muladd)(sum, t, coefficients[k]);
    return sum;
}
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
INLINE T FN(quick_erf)(T x)
{
    if (IS_FLOAT) {
        T square = x * x, s = square > 16 ? 16 : square, p, q, result;
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
        result = x * p / q;          /* above 1 where |x| > 4 */
        return result > 1 ? 1 : result < -1 ? -1 : result;
    }
    T size = fabs(x), square = x * x, clipped, stretched, outside, inside;
    clipped = size < 1 ? 1 : size > 6 ? 6 : size;
    stretched = ((clipped - 2) / (clipped + 2) + (T)(1.0 / 3)) * (T)2.4 - 1;
    outside = copysign(1 - FN(quick_exp)(-clipped * clipped) * FN(polynomial)(stretched, FN(erf_far), 16), x);
    inside = x * FN(polynomial)(2 * (square > 1 ? 1 : square) - 1, FN(erf_near), 13);
    inside = size > 1 ? outside : inside;
    return x != x ? x : inside;
}

/* exp(x**2) erfc(x) is smooth; what rounding x**2 loses is made up for. In double from 6 on the asymptotic series. */
INLINE T FN(quick_erfc)(T x)
{
    T size = fabs(x), clipped, square, lost, scaled, result;
    if (IS_FLOAT) {
        static const T c[] = {
            (T)0.25539568, (T)-0.42718586, (T)0.24165823, (T)-0.07897837, (T)0.00373239303, (T)0.00699509121, (T)-0.00084484083,
            (T)-0.00097082061, (T)4.13566587e-05, (T)0.000150347981, (T)2.01718067e-05, (T)-7.41665826e-06,
        };
        clipped = size > (T)10.5 ? (T)10.5 : size;
        scaled = FN(polynomial)((clipped - 2) / (clipped + 2), c, 12);
    } else {
        T middle = size < 1 ? 1 : size > 6 ? 6 : size, far = size < 6 ? 6 : size > 27 ? 27 : size;
        T part = 1 / (2 * far * far), tail = 1;
        T stretched = ((middle - 2) / (middle + 2) + (T)(1.0 / 3)) * (T)2.4 - 1;
        clipped = size > 27 ? 27 : size;
#pragma GCC unroll 12
        for (int k = 12; k > 0; k--)
            tail = 1 - (2 * k - 1) * part * tail;
        scaled = FN(polynomial)(stretched, FN(erf_far), 16);
        scaled = size > 6 ? tail / far * (T)0.56418958354775628695 : scaled;
    }
    square = clipped * clipped;
    lost = FN(muladd)(clipped, clipped, -square);
    result = FN(quick_exp)(-square) * (scaled - scaled * lost);
    result = x < 0 ? 2 - result : result;
    if (!IS_FLOAT) {
        T small = x * FN(polynomial)(2 * (square > 1 ? 1 : square) - 1, FN(erf_near), 13);
        result = size < 1 ? 1 - small : result;
    }
    return x != x ? x : result;
}

/* Giles' polynomials, right to single precision, then a step of Newton's with Halley's correction on erf. */
UNUSED static T FN(erfinv_by_steps)(T given)
{
    static const float inner[] = {2.81022636e-08f, 3.43273939e-07f, -3.5233877e-06f, -4.39150654e-06f, 0.00021858087f,
                                  -0.00125372503f, -0.00417768164f, 0.246640727f, 1.50140941f};
    static const float outer[] = {-0.000200214257f, 0.000100950558f, 0.00134934322f, -0.00367342844f, 0.00573950773f,
                                  -0.0076224613f, 0.00943887047f, 1.00167406f, 2.83297682f};
    double y = (double)given, w, x = 0;
    if (fabs(y) == 1)
        return copysign((T)INFINITY, given);
    if (!(fabs(y) < 1))
        return (T)NAN;
    w = -log1p(-y * y);
    const float *terms = w < 5 ? inner : outer;
    w = w < 5 ? w - 2.5 : sqrt(w) - 3;
    for (int k = 0; k < 9; k++)
        x = x * w + terms[k];
    x *= y;
    for (int k = 0; k < 2; k++) {
        double error = fabs(x) < 1 ? erf(x) - y : copysign(erfc(fabs(x)), -x) + (copysign(1.0, y) - y);
        double step = error / (1.12837916709551257390 * exp(-x * x));
        x -= step / (1 + x * step);
    }
    return (T)x;
}

INLINE T FN(erfinv)(T y)
{
    if (!IS_FLOAT)
        return FN(erfinv_by_steps)(y);
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
