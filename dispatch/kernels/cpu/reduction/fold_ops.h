/* The reductions that `fold.h` has rules for. */
#ifndef DISPATCH_FOLD_OPS_H
#define DISPATCH_FOLD_OPS_H
enum fold_op {
    FOLD_SUM, FOLD_MEAN, FOLD_NANSUM,
    FOLD_COUNT,                      /* of what is not 0, as int64 */
    FOLD_NORM0, FOLD_NORM1, FOLD_NORM2,
    FOLD_POWER,                      /* the root of the sum of powers, by the context's order */
    FOLD_PROD, FOLD_MAX, FOLD_MIN, FOLD_ABSMAX, FOLD_ABSMIN,
    FOLD_ARGMAX, FOLD_ARGMIN,        /* the element, and its place as int64 */
    FOLD_ANY, FOLD_ALL,
    FOLD_VAR, FOLD_STD,              /* and the mean; the context's order is the correction */
    FOLD_XOR,                        /* of 64 bits */
    FOLD_OPS
};
#endif
