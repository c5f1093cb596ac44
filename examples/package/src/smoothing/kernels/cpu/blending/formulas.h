/* Functions of the formulas of `blending`, for each dtype of computation. */

#if IS_REAL
/* From 0 to 1 as x does, flat at both ends. */
INLINE T FN(smooth_step)(T x)
{
    x = x < 0 ? 0 : x > 1 ? 1 : x;
    return x * x * (3 - 2 * x);
}
#endif
