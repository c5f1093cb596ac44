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

/* Its sign's bit: of -0 too. */
INLINE bool FN(is_below)(T x)
{
    int64_t bits = 0;
    memcpy((char *)&bits + 8 - sizeof(T), &x, sizeof(T));
    return bits < 0;
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
    double scaled = tiny ? x * 0x1p54 : x, f, s, z, w, r, even, half, e, result;
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
    r = FN(muladd_f64)(w, 1.479819860511658591e-01, 1.818357216161805012e-01);
    r = FN(muladd_f64)(r, w, 2.857142874366239149e-01);
    r = FN(muladd_f64)(r, w, 6.666666666666735130e-01);
    even = FN(muladd_f64)(w, 1.531383769920937332e-01, 2.222219843214978396e-01);
    even = FN(muladd_f64)(even, w, 3.999999999940941908e-01);
    r = FN(muladd_f64)(r, z, even * w);
    half = 0.5 * f * f;
    result = FN(muladd_f64)(s, half + r, e * 1.90821492927058770002e-10);
    result = FN(muladd_f64)(e, 6.93147180369123816490e-01, f - (half - result));
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

/* log(1 + x): what rounding 1 + x loses is made up for. */
INLINE T FN(quick_log1p)(T x)
{
    T sum = 1 + x, lost = x - (sum - 1), result = FN(quick_log)(sum) + lost / sum;
    result = x == -1 ? -(T)INFINITY : result;
    result = x == (T)INFINITY ? x : result;
    return x == 0 ? x : result;
}

/* x to the power of y, every case as pow has it. Powers of floats need a logarithm in double and no more; those of doubles one
   with the part that rounding it loses, which takes a fused multiplication. */
INLINE double FN(power_with_sign)(double size, double x, double y)
{
    const bool below = copysign(1.0, x) < 0, whole = floor(y) == y, odd = whole & (floor(y * 0.5) != y * 0.5);
    const bool undefined = below & !whole & (x < 0) & (x > -INFINITY);
    size = below & odd ? -size : size;
    return undefined ? (double)NAN : size;
}
INLINE double FN(power_f32)(double x, double y)
{
    double a = fabs(x), f, s, z, r, e, log_of_a, p, n, u, shifted, scale;
    uint64_t bits, rest, whole;
    memcpy(&bits, &a, 8);
    bits -= 0x3fe6a09e667f3bcdULL;
    rest = (bits & 0xfffffffffffffULL) + 0x3fe6a09e667f3bcdULL;
    memcpy(&f, &rest, 8);
    bits = ((bits ^ 0x8000000000000000ULL) >> 52) | 0x4330000000000000ULL;
    memcpy(&e, &bits, 8);
    e -= 4503599627370496.0 + 2048.0;
    s = (f - 1) / (f + 1);
    z = s * s;
    r = 0.2622;
    r = FN(muladd_f64)(r, z, 0.32059774445);        /* 2 / (2 k + 1) / log(2) */
    r = FN(muladd_f64)(r, z, 0.41219858311113244);
    r = FN(muladd_f64)(r, z, 0.57707801635558536);
    r = FN(muladd_f64)(r, z, 0.96179669392597560);
    r = FN(muladd_f64)(r, z, 2.88539008177792681);
    log_of_a = FN(muladd_f64)(s, r, e);
    log_of_a = a == 0 ? -INFINITY : log_of_a;
    log_of_a = a < INFINITY ? log_of_a : a;
    p = y * log_of_a;
    p = (a == 1) | (y == 0) ? 0 : p;
    p = p > 200 ? 200 : p < -200 ? -200 : p;
    shifted = p + 6755399441055744.0;
    n = shifted - 6755399441055744.0;
    p -= n;
    u = 1.5252733804059841e-05;                     /* log(2)**k / k! */
    u = FN(muladd_f64)(u, p, 1.5403530393381608e-04);
    u = FN(muladd_f64)(u, p, 1.3333558146428443e-03);
    u = FN(muladd_f64)(u, p, 9.6181291076284772e-03);
    u = FN(muladd_f64)(u, p, 5.5504108664821580e-02);
    u = FN(muladd_f64)(u, p, 2.4022650695910071e-01);
    u = FN(muladd_f64)(u, p, 6.9314718055994531e-01);
    u = FN(muladd_f64)(u, p, 1.0);
    memcpy(&whole, &shifted, 8);
    whole = (whole + 1023) << 52;
    memcpy(&scale, &whole, 8);
    return FN(power_with_sign)(u * scale, x, y);
}
INLINE double FN(power_f64)(double x, double y)
{
#ifdef __FMA__
    const double shift = 6755399441055744.0;
    double a = fabs(x), scaled, f, t, t_low, s, z, w, r, e, high, low, part, p, p_low, shifted, n, half, u, first, second;
    const bool tiny = a < 0x1p-1022;
    uint64_t bits, rest;
    scaled = tiny ? a * 0x1p54 : a;
    memcpy(&bits, &scaled, 8);
    bits -= 0x3fe6a09e667f3bcdULL;
    rest = (bits & 0xfffffffffffffULL) + 0x3fe6a09e667f3bcdULL;
    memcpy(&f, &rest, 8);
    bits = ((bits ^ 0x8000000000000000ULL) >> 52) | 0x4330000000000000ULL;
    memcpy(&e, &bits, 8);
    e -= 4503599627370496.0 + 2048.0 + (tiny ? 54.0 : 0.0);
    t = f + 1;
    t_low = f - (t - 1);
    f -= 1;
    r = 1 / t;
    s = f * r;
    part = FN(muladd_f64)(-s, t_low, FN(muladd_f64)(-s, t, f)) * r;          /* (f - 1) / (f + 1) = s + part */
    z = s * s;
    w = z * z;
    r = z * (6.666666666666735130e-01 + w * (2.857142874366239149e-01
             + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)))
        + w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
    high = FN(muladd_f64)(e, 6.93147180369123816490e-01, 2 * s);
    low = FN(muladd_f64)(e, 6.93147180369123816490e-01, -high) + 2 * s;
    low += e * 1.90821492927058770002e-10 + FN(muladd_f64)(s, r, 2 * part);
    r = high;
    high = r + low;
    low += r - high;
    high = a == 0 ? -INFINITY : high;
    high = a < INFINITY ? high : a;
    p = y * high;
    p_low = FN(muladd_f64)(y, high, -p) + y * low;
    p = (a == 1) | (y == 0) ? 0 : p;
    p_low = (fabs(p) < 800) & (p != 0) ? p_low : 0;
    p = p > 800 ? 800 : p < -800 ? -800 : p;
    shifted = FN(muladd_f64)(p, 1.4426950408889634074, shift);
    n = shifted - shift;
    f = FN(muladd_f64)(n, -6.93147180369123816490e-01, p);
    f += FN(muladd_f64)(n, -1.90821492927058770002e-10, p_low);
    u = 2.08860621107283687536341e-09;
    u = FN(muladd_f64)(u, f, 2.51112930892876518610661e-08);
    u = FN(muladd_f64)(u, f, 2.75573911234900471893338e-07);
    u = FN(muladd_f64)(u, f, 2.75572362911928827629423e-06);
    u = FN(muladd_f64)(u, f, 2.4801587159235472998791e-05);
    u = FN(muladd_f64)(u, f, 0.000198412698960509205564975);
    u = FN(muladd_f64)(u, f, 0.00138888888889774492207962);
    u = FN(muladd_f64)(u, f, 0.00833333333331652721664984);
    u = FN(muladd_f64)(u, f, 0.0416666666666665047591422);
    u = FN(muladd_f64)(u, f, 0.166666666666666851703837);
    u = FN(muladd_f64)(u, f, 0.5);
    u = FN(muladd_f64)(f * f, u, f) + 1.0;
    half = floor(n * 0.5);                           /* in two steps, so that what is hardly a number is rounded once */
    shifted = half + shift;
    memcpy(&bits, &shifted, 8);
    bits = (bits + 1023) << 52;
    memcpy(&first, &bits, 8);
    shifted = n - half + shift;
    memcpy(&bits, &shifted, 8);
    bits = (bits + 1023) << 52;
    memcpy(&second, &bits, 8);
    return FN(power_with_sign)(u * first * second, x, y);
#else
    return pow(x, y);
#endif
}
INLINE T FN(quick_power)(T x, T y)
{
    return sizeof(T) == 4 ? (T)FN(power_f32)((double)x, (double)y) : (T)FN(power_f64)((double)x, (double)y);
}

/* The angle of a point, right to two units in the last place: Cephes' polynomial up to tan(pi / 8). */
INLINE float FN(atan2_f32)(float y, float x)
{
    float a = fabsf(x), b = fabsf(y), most = a > b ? a : b, least = a > b ? b : a, same = most == 0 ? 0.0f : 1.0f;
    float ratio = least == most ? same : least / most, turned = (ratio - 1) / (ratio + 1), square, result;
    bool half = ratio > 0.41421356f;
    float t = half ? turned : ratio;
    square = t * t;
    result = 8.05374449538e-2f * square - 1.38776856032e-1f;
    result = result * square + 1.99777106478e-1f;
    result = result * square - 3.33329491539e-1f;
    result = result * square * t + t + (half ? 0.78539816339744830962f : 0.0f);
    result = b > a ? 1.57079632679489661923f - result : result;
    result = copysignf(1, x) < 0 ? 3.14159265358979323846f - result : result;
    return copysignf(result, y);
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

/* The logarithm of the gamma function: Stirling's series from 8 on, a product leads there; below 0 the reflection. Computed in
   double, to within so many units of 1: near its zeros below 0 that is right for a float alone. */
INLINE double FN(log_gamma_f64)(double x)
{
    double y = x > 0 ? x : 1 - x, z = y < 8 ? y + 8 : y, r = x - rint(x), product, square, series, rest, result;
    product = y * (y + 1) * (y + 2) * (y + 3) * ((y + 4) * (y + 5) * (y + 6) * (y + 7));
    product = y < 8 ? product : 1;
    square = 1 / (z * z);
    series = (z - 0.5) * FN(log_f64)(z) - z + 0.918938533204672741780329736406
           + (8.333333333333333e-2 + square * (-2.777777777777778e-3 + square * (7.936507936507937e-4 + square
              * (-5.952380952380952e-4 + square * (8.417508417508418e-4 - square * 1.917526917526918e-3))))) / z;
    rest = FN(log_f64)(x > 0 ? product : fabs(FN(sine_of_turn)(r)) / product);
    result = x > 0 ? series - rest : 1.14472988584940017414 - rest - series;
    result = x == 1 || x == 2 ? 0 : result;
    result = x <= 0 && r == 0 ? INFINITY : result;
    return fabs(x) == INFINITY ? INFINITY : result;
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
