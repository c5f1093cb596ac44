/* Sines, arc sines and arc tangents of the elementwise formulas: by reduction to where a polynomial serves.

   Included by formulas.h for each real dtype of computation, as the rest of it is; no branches, so that loops vectorise.
   Polynomials of doubles are fdlibm's, that of a float's arc sine is Cephes'. */

/* Multiples of pi / 2 are taken away in three parts; without the instruction that rounds once they are not. */
INLINE void FN(say_far)(T x, FLAG *far)
{
#ifdef __FMA__
    *far |= !(fabs(x) < (T)1e5);
#else
    *far = 1;
#endif
}
/* Of a float: sin(x + more * pi / 2), by the polynomials of Cephes for a quarter of a half circle. */
INLINE T FN(turned_sine)(T x, T more)
{
    T n = rint(x * (T)0.63661977236758134308), r, s, sine, cosine, half, whole;
    r = FN(muladd)(n, (T)-1.57079637050628662109375, x);
    r = FN(muladd)(n, (T)4.371138828673792886547744e-08, r);
    r = FN(muladd)(n, (T)1.7151245100058818728e-15, r);
    s = r * r;
    sine = FN(muladd)((T)-1.9515295891e-4, s, (T)8.3321608736e-3);
    sine = FN(muladd)(sine, s, (T)-1.6666654611e-1);
    sine = FN(muladd)(sine * s, r, r);
    cosine = FN(muladd)((T)2.443315711809948e-5, s, (T)-1.388731625493765e-3);
    cosine = FN(muladd)(cosine, s, (T)4.166664568298827e-2);
    cosine = FN(muladd)(FN(muladd)(cosine, s, (T)-0.5), s, 1);
    half = (n + more) * (T)0.5;
    whole = floor(half);
    sine = half == whole ? sine : cosine;
    whole *= (T)0.5;
    return whole == floor(whole) ? sine : -sine;
}
/* Of a double: sin of what is left of x. */
INLINE T FN(sine_rest)(T x, T quarters)
{
    T r, s, u;
    r = FN(muladd)(quarters, (T)-1.5707963267948966, x);
    r = FN(muladd)(quarters, (T)-6.123233995736766e-17, r);
    r = FN(muladd)(quarters, (T)1.4973849048591833e-33, r);
    s = r * r;
    u = FN(muladd)((T)-7.97255955009037868891952e-18, s, (T)2.81009972710863200091251e-15);
    u = FN(muladd)(u, s, (T)-7.64712219118158833288484e-13);
    u = FN(muladd)(u, s, (T)1.60590430605664501629054e-10);
    u = FN(muladd)(u, s, (T)-2.50521083763502045810755e-08);
    u = FN(muladd)(u, s, (T)2.75573192239198747630416e-06);
    u = FN(muladd)(u, s, (T)-0.000198412698412696162806809);
    u = FN(muladd)(u, s, (T)0.00833333333333332974823815);
    u = FN(muladd)(u, s, (T)-0.166666666666666657414808);
    return FN(muladd)(u * s, r, r);
}
INLINE T FN(sin_near)(T x, FLAG *far)
{
    T n = rint(x * (T)0.31830988618379067154), half = n * (T)0.5, y;
    FN(say_far)(x, far);
    y = IS_FLOAT ? FN(turned_sine)(x, 0) : FN(sine_rest)(x, 2 * n);
    y = IS_FLOAT || half == floor(half) ? y : -y;
    return x == 0 ? x : y;
}
INLINE T FN(cos_near)(T x, FLAG *far)
{
    T n = floor(x * (T)0.31830988618379067154), half = n * (T)0.5, y;
    FN(say_far)(x, far);
    y = IS_FLOAT ? FN(turned_sine)(x, 1) : FN(sine_rest)(x, 2 * n + 1);
    return IS_FLOAT || half != floor(half) ? y : -y;
}
INLINE T FN(tan_near)(T x, FLAG *far) { return FN(sin_near)(x, far) / FN(cos_near)(x, far); }
ONE_IN_BLOCKS(sin_loop, sin_near, sin)
ONE_IN_BLOCKS(cos_loop, cos_near, cos)
ONE_IN_BLOCKS(tan_loop, tan_near, tan)

/* asin(x) / x - 1 in x**2, for |x| <= 1/2. */
INLINE T FN(arc_rest)(T z)
{
    T p, q;
    if (IS_FLOAT) {
        p = FN(muladd)((T)4.2163199048e-2, z, (T)2.4181311049e-2);
        p = FN(muladd)(p, z, (T)4.5470025998e-2);
        p = FN(muladd)(p, z, (T)7.4953002686e-2);
        return z * FN(muladd)(p, z, (T)1.6666752422e-1);
    }
    p = FN(muladd)((T)3.47933107596021167570e-05, z, (T)7.91534994289814532176e-04);
    p = FN(muladd)(p, z, (T)-4.00555345006794114027e-02);
    p = FN(muladd)(p, z, (T)2.01212532134862925881e-01);
    p = FN(muladd)(p, z, (T)-3.25565818622400915405e-01);
    p = FN(muladd)(p, z, (T)1.66666666666666657415e-01);
    q = FN(muladd)((T)7.70381505559019352791e-02, z, (T)-6.88283971605453293030e-01);
    q = FN(muladd)(q, z, (T)2.02094576023350569471e+00);
    q = FN(muladd)(q, z, (T)-2.40339491173441421878e+00);
    return z * p / FN(muladd)(q, z, 1);
}
/* asin of the smaller of |x| and the root of (1 - |x|) / 2, which is half of what is left to pi / 2. */
INLINE T FN(small_arc)(T size)
{
    T z = size > (T)0.5 ? (1 - size) * (T)0.5 : size * size, a = size > (T)0.5 ? sqrt(z) : size;
    return FN(muladd)(a, FN(arc_rest)(z), a);
}
INLINE T FN(asin_of)(T x)
{
    T size = fabs(x), arc = FN(small_arc)(size), rest = EITHER(-4.37113883e-8f, 6.123233995736766e-17);
    T high = EITHER(1.57079637f, 1.5707963267948966) - (2 * arc - rest);
    return copysign(size > (T)0.5 ? high : arc, x);
}
INLINE T FN(acos_of)(T x)
{
    T size = fabs(x), arc = FN(small_arc)(size), rest = EITHER(-4.37113883e-8f, 6.123233995736766e-17), far, near;
    far = x < 0 ? EITHER(3.14159274f, 3.1415926535897931) - (2 * arc - 2 * rest) : 2 * arc;
    near = EITHER(1.57079637f, 1.5707963267948966) - (copysign(arc, x) - rest);
    return size > (T)0.5 ? far : near;
}
INLINE T FN(atanh_of)(T x)
{
    T size = fabs(x);
    return copysign((T)0.5 * FN(quick_log1p)(2 * size / (1 - size)), x);
}
