/* For modules whose loops are written in Cython: what follows is compiled so that loops vectorise. Nobody reads errno or traps;
   sums stay as they are written. */
#ifndef DISPATCH_VECTORISED_H
#define DISPATCH_VECTORISED_H
#if defined(__OPTIMIZE__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math")
#endif
#endif
