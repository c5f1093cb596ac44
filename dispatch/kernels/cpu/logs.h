/* Logarithms, sines and what is made of them, without a branch so that loops over them vectorise.

   Included by headers of formulas for each dtype of computation T (and each LEVEL of processor): FN(name) is a function for it. The
   polynomials are Cephes' and fdlibm's; results are right to a unit in the last place or two. */

INLINE T FN(muladd_of)(T a, T b, T c)
{
#ifdef __FMA__
    return sizeof(T) == 4 ? (T)__builtin_fmaf((float)a, (float)b, (float)c) : (T)__builtin_fma((double)a, (double)b, (double)c);
#else
    return a * b + c;
#endif
}
INLINE double FN(muladd_f64)(double a, double b, double c)
{
#ifdef __FMA__
    return __builtin_fma(a, b, c);
#else
    return a * b + c;
#endif
}

INLINE float FN(log_f32)(float x)
{
    bool tiny = x < 0x1p-126f;
    float scaled = tiny ? x * 0x1p25f : x, f, square, y, e, result;
    uint32_t bits, rest;
    memcpy(&bits, &scaled, 4);
    bits -= 0x3f3504f3u;                       /* from the root of 1/2 on */
    e = (float)((int32_t)bits >> 23) - (tiny ? 25.0f : 0.0f);
    rest = (bits & 0x7fffffu) + 0x3f3504f3u;
    memcpy(&f, &rest, 4);
    f -= 1;
    square = f * f;
    y = 7.0376836292e-2f;
    y = y * f - 1.1514610310e-1f;
    y = y * f + 1.1676998740e-1f;
    y = y * f - 1.2420140846e-1f;
    y = y * f + 1.4249322787e-1f;
    y = y * f - 1.6668057665e-1f;
    y = y * f + 2.0000714765e-1f;
    y = y * f - 2.4999993993e-1f;
    y = y * f + 3.3333331174e-1f;
    y = y * f * square + e * -2.12194440e-4f - 0.5f * square;
    result = f + y + e * 0.693359375f;
    result = x == INFINITY ? x : result;
    result = x == 0 ? -INFINITY : result;
    return x >= 0 ? result : NAN;
}
INLINE double FN(log_f64)(double x)
{
    bool tiny = x < 0x1p-1022;
    double scaled = tiny ? x * 0x1p54 : x, f, s, z, w, r, half, e, result;
    uint64_t bits, rest;
    memcpy(&bits, &scaled, 8);
    bits -= 0x3fe6a09e667f3bcdULL;
    rest = (bits & 0xfffffffffffffULL) + 0x3fe6a09e667f3bcdULL;
    memcpy(&f, &rest, 8);
    bits = ((bits ^ 0x8000000000000000ULL) >> 52) | 0x4330000000000000ULL;    /* the exponent + 2048, as a number */
    memcpy(&e, &bits, 8);
    e -= 4503599627370496.0 + 2048.0 + (tiny ? 54.0 : 0.0);
    f -= 1;
    s = f / (2 + f);
    z = s * s;
    w = z * z;
    r = z * (6.666666666666735130e-01 + w * (2.857142874366239149e-01
             + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)))
        + w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
    half = 0.5 * f * f;
    result = e * 6.93147180369123816490e-01 - ((half - (s * (half + r) + e * 1.90821492927058770002e-10)) - f);
    result = x == INFINITY ? x : result;
    result = x == 0 ? -INFINITY : result;
    return x >= 0 ? result : NAN;
}
INLINE T FN(quick_log)(T x) { return sizeof(T) == 4 ? (T)FN(log_f32)((float)x) : (T)FN(log_f64)((double)x); }

/* Infinity from where it overflows, 0 from where it is hardly a normal number. */
INLINE double FN(exp_f64)(double x)
{
    double a = x > 709.5 ? 709.5 : x < -708.0 ? -708.0 : x, scale, u = 2.08860621107283687536341e-09;
    double shifted = FN(muladd_f64)(a, 1.4426950408889634074, 6755399441055744.0), n = shifted - 6755399441055744.0;
    double r = FN(muladd_f64)(n, -6.93147180559945286227e-01, a);
    uint64_t whole;
    r = FN(muladd_f64)(n, -2.31904681384629955842e-17, r);
    memcpy(&whole, &shifted, 8);
    u = FN(muladd_f64)(u, r, 2.51112930892876518610661e-08);
    u = FN(muladd_f64)(u, r, 2.75573911234900471893338e-07);
    u = FN(muladd_f64)(u, r, 2.75572362911928827629423e-06);
    u = FN(muladd_f64)(u, r, 2.4801587159235472998791e-05);
    u = FN(muladd_f64)(u, r, 0.000198412698960509205564975);
    u = FN(muladd_f64)(u, r, 0.00138888888889774492207962);
    u = FN(muladd_f64)(u, r, 0.00833333333331652721664984);
    u = FN(muladd_f64)(u, r, 0.0416666666666665047591422);
    u = FN(muladd_f64)(u, r, 0.166666666666666851703837);
    u = FN(muladd_f64)(u, r, 0.5);
    u = r * r * u + r + 1.0;
    whole = (whole + 1023) << 52;
    memcpy(&scale, &whole, 8);
    u *= scale;
    u = x > 709.5 ? INFINITY : u;
    return x < -708.0 ? 0.0 : u;
}

/* sin(pi x), cos(pi x) for |x| <= 1/2, in double. */
INLINE double FN(sine_of_turn)(double x)
{
    double r = x * 3.14159265358979323846, s = r * r, u = -7.97255955009037868891952e-18;
    u = FN(muladd_f64)(u, s, 2.81009972710863200091251e-15);
    u = FN(muladd_f64)(u, s, -7.64712219118158833288484e-13);
    u = FN(muladd_f64)(u, s, 1.60590430605664501629054e-10);
    u = FN(muladd_f64)(u, s, -2.50521083763502045810755e-08);
    u = FN(muladd_f64)(u, s, 2.75573192239198747630416e-06);
    u = FN(muladd_f64)(u, s, -0.000198412698412696162806809);
    u = FN(muladd_f64)(u, s, 0.00833333333333332974823815);
    u = FN(muladd_f64)(u, s, -0.166666666666666657414808);
    return FN(muladd_f64)(u * s, r, r);
}
INLINE double FN(cosine_of_turn)(double x) { return FN(sine_of_turn)(0.5 - fabs(x)); }

/* The logarithm of the gamma function: Stirling's series from 8 on, a product leads there. Computed in double. */
INLINE double FN(log_gamma_of_positive)(double y)
{
    double z = y < 8 ? y + 8 : y, product, square, result;
    product = y * (y + 1) * (y + 2) * (y + 3) * ((y + 4) * (y + 5) * (y + 6) * (y + 7));
    product = y < 8 ? product : 1;
    square = 1 / (z * z);
    result = (z - 0.5) * FN(log_f64)(z) - z + 0.918938533204672741780329736406
           + (8.333333333333333e-2 + square * (-2.777777777777778e-3 + square * (7.936507936507937e-4 + square
              * (-5.952380952380952e-4 + square * (8.417508417508418e-4 - square * 1.917526917526918e-3))))) / z
           - FN(log_f64)(product);
    return y == INFINITY ? y : result;
}
/* Its derivative, in the same way; below 0 the reflection. */
INLINE double FN(digamma_f64)(double x)
{
    double y = x < 0 ? 1 - x : x, z = y < 8 ? y + 8 : y, product = 1, slope = 0, square, result, r = x - rint(x);
#pragma GCC unroll 8
    for (int k = 0; k < 8; k++) {
        slope = slope * (y + k) + product;
        product *= y + k;
    }
    square = 1 / (z * z);
    result = FN(log_f64)(z) - 0.5 / z
           - square * (8.333333333333333e-2 + square * (-8.333333333333333e-3 + square * (3.968253968253968e-3 + square
             * (-4.166666666666667e-3 + square * (7.575757575757576e-3 + square * (-2.109279609279609e-2
             + square * 8.333333333333333e-2))))));
    result = y < 8 ? result - slope / product : result;
    result = x < 0 ? result - 3.14159265358979323846 * copysign(FN(cosine_of_turn)(r), 1) / FN(sine_of_turn)(r) : result;
    result = x < 0 && r == 0 ? NAN : result;
    result = x == 0 ? copysign(INFINITY, -x) : result;
    return x == INFINITY ? x : x == -INFINITY ? NAN : result;
}
