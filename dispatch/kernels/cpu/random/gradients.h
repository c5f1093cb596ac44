/* The derivative of log gamma for `gradients.pyx`: that of the elementwise formulas, in double. */
#ifndef DISPATCH_RANDOM_GRADIENTS_H
#define DISPATCH_RANDOM_GRADIENTS_H
#include "loops.h"

#define LEVEL gradients
#define T double
#define TYPE f64
#include "logs.h"
#undef T
#undef TYPE
#undef LEVEL

static double gradients_digamma(double x) { return PASTE(digamma_f64, f64, gradients)(x); }
#endif
