/* PyTorch's stream of random numbers on the CPU: a Mersenne twister of 32 bits (MT19937, Matsumoto
   and Nishimura 1998) with the seeding of its reference implementation, and the bookkeeping that
   PyTorch's states show. Whoever draws holds the lock of the generator that owns it.

   Bulk draws give the very numbers of single ones; what is behind the last word drawn is the same. */
#ifndef DISPATCH_MERSENNE_H
#define DISPATCH_MERSENNE_H
#include <math.h>
#include <stdint.h>
#include <string.h>

/* Loops that pay for wide registers; the compiler makes one for each kind of processor. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__)
#define DISPATCH_WIDE __attribute__((optimize("O3"), target_clones("arch=x86-64-v3", "default")))
#else
#define DISPATCH_WIDE
#endif

enum { MERSENNE_WORDS = 624, MERSENNE_SHIFT = 397 };

typedef struct {
    uint64_t seed;                    /* what it started from */
    int32_t left;                     /* words not drawn, and one more; 1: none */
    int32_t seeded;                   /* 1 */
    uint32_t next;                    /* place of the next word */
    uint32_t words[MERSENNE_WORDS];
    int has_double;                   /* the second of two normal numbers that one step made */
    double next_double;
    int has_float;                    /* of states from elsewhere: nothing here draws it */
    float next_float;
} Mersenne;

static inline void mersenne_seed(Mersenne* m, uint64_t seed) {
    uint32_t word = (uint32_t)seed;
    memset(m, 0, sizeof(*m));
    m->seed = seed;
    m->left = m->seeded = 1;
    m->words[0] = word;
    for (uint32_t i = 1; i < MERSENNE_WORDS; i++)
        m->words[i] = word = 1812433253u * (word ^ (word >> 30)) + i;
}

static inline uint32_t mersenne_twist(uint32_t u, uint32_t v) {
    return (((u & 0x80000000u) | (v & 0x7fffffffu)) >> 1) ^ (-(v & 1u) & 0x9908b0dfu);
}

/* A new set of words; none of them is drawn. */
DISPATCH_WIDE static void mersenne_refill(Mersenne* m) {
    uint32_t* w = m->words;
    uint32_t first;
    int i;
    for (i = 0; i < MERSENNE_WORDS - MERSENNE_SHIFT; i++)
        w[i] = w[i + MERSENNE_SHIFT] ^ mersenne_twist(w[i], w[i + 1]);
    first = w[0];
    for (; i < MERSENNE_WORDS - 1; i++)
        w[i] = w[i + MERSENNE_SHIFT - MERSENNE_WORDS] ^ mersenne_twist(w[i], w[i + 1]);
    w[i] = w[MERSENNE_SHIFT - 1] ^ mersenne_twist(w[i], first);
    m->left = MERSENNE_WORDS + 1;
    m->next = 0;
}

/* After a draw that was cut off anywhere: what is drawn next comes from a new set. */
static inline void mersenne_give_up(Mersenne* m) {
    m->left = 1;
    m->has_double = 0;
}

static inline uint32_t mersenne_temper(uint32_t y) {
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
}

static inline uint32_t mersenne_draw(Mersenne* m) {
    if (m->left <= 1)
        mersenne_refill(m);
    m->left--;
    return mersenne_temper(m->words[m->next++]);
}

static inline uint64_t mersenne_draw64(Mersenne* m) {
    uint64_t high = mersenne_draw(m);
    return high << 32 | mersenne_draw(m);
}

/* In [0, 1): so many random bits as a double or a float holds exactly. */
static inline double mersenne_double(Mersenne* m) {
    return (double)(mersenne_draw64(m) & ((1ull << 53) - 1)) * (1.0 / (double)(1ull << 53));
}

static inline float mersenne_float(Mersenne* m) {
    return (float)(mersenne_draw(m) & 0xffffffu) * (1.0f / (float)(1 << 24));
}

/* Two numbers for each second call, by Box and Muller. */
static inline double mersenne_normal(Mersenne* m) {
    double u, v, radius;
    if (m->has_double) {
        m->has_double = 0;
        return m->next_double;
    }
    u = mersenne_double(m);
    v = mersenne_double(m);
    radius = sqrt(-2.0 * log1p(-v));
    u *= 2.0 * M_PI;
    m->has_double = 1;
    m->next_double = radius * sin(u);
    return radius * cos(u);
}

DISPATCH_WIDE static void mersenne_temper_all(const uint32_t* words, uint32_t* out, int n) {
    for (int i = 0; i < n; i++)
        out[i] = mersenne_temper(words[i]);
}

/* The next n words. */
static inline void mersenne_draw_all(Mersenne* m, uint32_t* out, int64_t n) {
    while (n) {
        int64_t have;
        if (m->left <= 1)
            mersenne_refill(m);
        have = m->left - 1 < n ? m->left - 1 : n;
        mersenne_temper_all(m->words + m->next, out, (int)have);
        m->left -= (int32_t)have;
        m->next += (uint32_t)have;
        out += have;
        n -= have;
    }
}

/* So many bits of each word, or pair of words, as a double or a float in [0, 1). */
DISPATCH_WIDE static void mersenne_to_doubles(const uint32_t* words, double* out, int n) {
    for (int i = 0; i < n; i++) {
        double high = (double)(int32_t)(words[2 * i] & 0x1fffffu);
        out[i] = (high * 4294967296.0 + (double)words[2 * i + 1]) * (1.0 / (double)(1ull << 53));
    }
}

DISPATCH_WIDE static void mersenne_to_floats(const uint32_t* words, float* out, int n) {
    for (int i = 0; i < n; i++)
        out[i] = (float)(int32_t)(words[i] & 0xffffffu) * (1.0f / (float)(1 << 24));
}

/* The next n fractions. */
static inline void mersenne_doubles(Mersenne* m, double* out, int64_t n) {
    uint32_t words[1024];
    for (; n > 0; n -= 512, out += 512) {
        int piece = n < 512 ? (int)n : 512;
        mersenne_draw_all(m, words, 2 * piece);
        mersenne_to_doubles(words, out, piece);
    }
}

static inline void mersenne_floats(Mersenne* m, float* out, int64_t n) {
    uint32_t words[1024];
    for (; n > 0; n -= 1024, out += 1024) {
        int piece = n < 1024 ? (int)n : 1024;
        mersenne_draw_all(m, words, piece);
        mersenne_to_floats(words, out, piece);
    }
}

/* v b + a, rounded once. */
DISPATCH_WIDE static void mersenne_scale_doubles(double* v, int64_t n, double a, double b) {
    for (int64_t i = 0; i < n; i++)
        v[i] = fma(v[i], b, a);
}

DISPATCH_WIDE static void mersenne_scale_floats(float* v, int64_t n, float a, float b) {
    for (int64_t i = 0; i < n; i++)
        v[i] = fmaf(v[i], b, a);
}

/* What PyTorch's get_state gives, byte for byte. */
typedef struct {
    uint64_t seed;
    int32_t left;
    int32_t seeded;
    uint64_t next;
    uint64_t words[MERSENNE_WORDS];
    double unused_x;
    double next_double;
    double unused_rho;
    int32_t has_double;
    int32_t padding;
    float next_float;
    uint8_t has_float;
    uint8_t padding2[3];
} MersenneState;

static inline void mersenne_get_state(const Mersenne* m, MersenneState* s) {
    memset(s, 0, sizeof(*s));
    s->seed = m->seed;
    s->left = m->left;
    s->seeded = m->seeded;
    s->next = m->next;
    for (int i = 0; i < MERSENNE_WORDS; i++)
        s->words[i] = m->words[i];
    s->has_double = m->has_double;
    s->next_double = m->has_double ? m->next_double : 0.0;
    s->has_float = (uint8_t)m->has_float;
    s->next_float = m->has_float ? m->next_float : 0.0f;
}

/* 0: no state of a twister, and nothing was changed. */
static inline int mersenne_set_state(Mersenne* m, const MersenneState* s) {
    if (!s->seeded || s->left < 1 || s->left > MERSENNE_WORDS || s->next + (uint64_t)s->left > MERSENNE_WORDS + 1)
        return 0;
    m->seed = s->seed;
    m->left = s->left;
    m->seeded = 1;
    m->next = (uint32_t)s->next;
    for (int i = 0; i < MERSENNE_WORDS; i++)
        m->words[i] = (uint32_t)s->words[i];
    m->has_double = s->has_double != 0;
    m->next_double = s->next_double;
    m->has_float = s->has_float != 0;
    m->next_float = s->next_float;
    return 1;
}

#endif
