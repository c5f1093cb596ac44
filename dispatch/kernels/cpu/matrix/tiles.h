/* Products of matrices of bfloat16 by the processor's tiles (AMX): 16 rows of 64 bytes, sums of 16 by 16 at a time.

   Included by `bfloat.h`, whose panels are the right operand's tiles; rows of the left one are read where they lie, or copied with
   zeros behind them. The inner dimension is walked at once. Where the right operand lies column after column, and there are few
   rows to turn or the left one does too, its transpose is the left one, and sums are turned as they are stored. */
#ifndef DISPATCH_TILES_H
#define DISPATCH_TILES_H
#if defined(__linux__) && __GNUC__ >= 11                       /* which knows the instructions */
#include <sys/syscall.h>
#include <unistd.h>

enum { TILE = 16, SIDE = 2 * TILE, PAIRED = 2 * TILE, TILES_HIGH = 128, TILES_CACHED = 1 << 18 };

typedef struct {
    uint8_t palette, start, none[14];
    uint16_t nbytes[16];
    uint8_t rows[16];
} tile_shapes;

/* The kernel gives a process room for tiles when it is asked; its threads have it too. */
static bool has_tiles(void)
{
    enum { ASK = 0x1023, TILE_DATA = 18 };
    static int known;
    int state = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (!state) {
        state = __builtin_cpu_supports("amx-tile") && __builtin_cpu_supports("amx-bf16") &&
                !syscall(SYS_arch_prctl, ASK, TILE_DATA) ? 1 : -1;
        __atomic_store_n(&known, state, __ATOMIC_RELAXED);
    }
    return state > 0;
}

#pragma GCC push_options
#pragma GCC target("amx-tile,amx-bf16")

/* Up to two tiles down and two across. */
static inline __attribute__((always_inline)) void add_tiles(const uint16_t *a, intptr_t row, const uint32_t *b, int64_t pairs,
                                                            float *out, const bool is_high, const bool is_wide)
{
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (int64_t p = 0; p < pairs; p += TILE, a += PAIRED, b += TILE * NR) {
        _tile_loadd(6, b, NR * 4);
        _tile_loadd(4, a, row * 2);
        _tile_dpbf16ps(0, 4, 6);
        if (is_wide) {
            _tile_loadd(7, b + TILE, NR * 4);
            _tile_dpbf16ps(1, 4, 7);
        }
        if (is_high) {
            _tile_loadd(5, a + TILE * row, row * 2);
            _tile_dpbf16ps(2, 5, 6);
            if (is_wide)
                _tile_dpbf16ps(3, 5, 7);
        }
    }
    _tile_stored(0, out, SIDE * 4);
    _tile_stored(1, out + TILE, SIDE * 4);
    _tile_stored(2, out + TILE * SIDE, SIDE * 4);
    _tile_stored(3, out + TILE * SIDE + TILE, SIDE * 4);
}
static void add_tiles_of(const uint16_t *a, intptr_t row, const uint32_t *b, int64_t pairs, float *out, int64_t m, int64_t n)
{
    if (m > TILE && n > TILE)
        add_tiles(a, row, b, pairs, out, true, true);
    else if (m > TILE)
        add_tiles(a, row, b, pairs, out, true, false);
    else if (n > TILE)
        add_tiles(a, row, b, pairs, out, false, true);
    else
        add_tiles(a, row, b, pairs, out, false, false);
}

static void store_sums(const float *sums, int64_t m, int64_t n, float *to, intptr_t row)
{
    const __mmask16 left = n >= 16 ? 0xffff : (__mmask16)((1u << n) - 1);
    const __mmask16 right = n >= 32 ? 0xffff : n > 16 ? (__mmask16)((1u << (n - 16)) - 1) : 0;
    for (int64_t i = 0; i < m; i++, sums += SIDE, to += row) {
        _mm512_mask_storeu_ps(to, left, _mm512_loadu_ps(sums));
        _mm512_mask_storeu_ps(to + 16, right, _mm512_loadu_ps(sums + 16));
    }
}
static void store_turned(const float *sums, int64_t m, int64_t n, float *to, intptr_t row)
{
    int64_t i = 0;
    for (; i + 4 <= m; i += 4, sums += 4 * SIDE) {
        int64_t j = 0;
        for (; j + 4 <= n; j += 4) {
            __m128 a = _mm_loadu_ps(sums + j), b = _mm_loadu_ps(sums + SIDE + j);
            __m128 c = _mm_loadu_ps(sums + 2 * SIDE + j), d = _mm_loadu_ps(sums + 3 * SIDE + j);
            _MM_TRANSPOSE4_PS(a, b, c, d);
            _mm_storeu_ps(to + j * row + i, a);
            _mm_storeu_ps(to + (j + 1) * row + i, b);
            _mm_storeu_ps(to + (j + 2) * row + i, c);
            _mm_storeu_ps(to + (j + 3) * row + i, d);
        }
        for (; j < n; j++)
            for (int64_t r = 0; r < 4; r++)
                to[j * row + i + r] = sums[r * SIDE + j];
    }
    for (; i < m; i++, sums += SIDE)
        for (int64_t j = 0; j < n; j++)
            to[j * row + i] = sums[j];
}

/* Rows one after the other, `width` elements each, with zeros behind them and below. */
static void pack_rows(const uint16_t *x, intptr_t across, intptr_t along, int64_t n, int64_t depth, int64_t width, uint16_t *to)
{
    for (int64_t i = 0; i < n; i++, x += across, to += width) {
        if (along == 1)
            memcpy(to, x, (size_t)depth * 2);
        else
            for (int64_t p = 0; p < depth; p++)
                to[p] = x[p * along];
        memset(to + depth, 0, (size_t)(width - depth) * 2);
    }
    memset(to, 0, (size_t)((SIDE - n % SIDE) % SIDE * width) * 2);
}

static bool tile_product(int64_t m, int64_t k, int64_t n, bfloat_matrix a, bfloat_matrix b, float *out, intptr_t row,
                         bfloat_taker take, void *context)
{
    static const tile_shapes shapes = {1, 0, {0}, {64, 64, 64, 64, 64, 64, 64, 64}, {16, 16, 16, 16, 16, 16, 16, 16}};
    const bool is_turned = b.row == 1 && (a.column != 1 || (m < n && 2 * m < k));
    if (is_turned) {
        const bfloat_matrix left = {b.data, b.column, b.row}, right = {a.data, a.column, a.row};
        const int64_t kept = m;
        m = n, n = kept, a = left, b = right;
    }
    const int64_t depth = (k + PAIRED - 1) / PAIRED * PAIRED, pairs = depth / 2, fit = TILES_CACHED / depth / SIDE * SIDE;
    const int64_t most = fit < SIDE ? SIDE : fit, columns = n < most ? (n + NR - 1) / NR * NR : most;
    const int64_t rows = most < TILES_HIGH ? most : TILES_HIGH;
    const intptr_t down = !take ? row : is_turned ? rows : columns;
    float sums[SIDE * SIDE] __attribute__((aligned(64)));
    uint32_t *panels = aligned_alloc(64, (size_t)(pairs * (columns + rows) + (take ? rows * columns : 0)) * 4);
    if (!panels)
        return false;
    uint16_t *of_a = (uint16_t *)(panels + pairs * columns);
    _tile_loadconfig(&shapes);
    for (int64_t j = 0; j < n; j += columns) {
        const int64_t width = n - j < columns ? n - j : columns;
        for (int64_t y = 0; y < width; y += NR) {
            uint32_t *panel = panels + y * pairs;
            pack_pairs(b.data + (j + y) * b.column, b.column, b.row, width - y < NR ? width - y : NR, k, NR, panel);
            memset(panel + (k + 1) / 2 * NR, 0, (size_t)((pairs - (k + 1) / 2) * NR) * 4);
        }
        for (int64_t i = 0; i < m; i += rows) {
            const int64_t height = m - i < rows ? m - i : rows;
            const bool is_there = a.column == 1 && k == depth && height % TILE == 0 && width <= 2 * SIDE;
            const uint16_t *left = is_there ? a.data + i * a.row : of_a;
            const intptr_t across = is_there ? a.row : depth;
            float *to = take ? (float *)(panels + pairs * (columns + rows)) : is_turned ? out + j * row + i : out + i * row + j;
            if (!is_there)
                pack_rows(a.data + i * a.row, a.row, a.column, height, k, depth, of_a);
            __asm__ volatile("" ::: "memory");         /* tiles are loaded behind the compiler's back */
            for (int64_t y = 0; y < width; y += NR)
                for (int64_t x = 0; x < height; x += SIDE) {
                    const int64_t high = height - x < SIDE ? height - x : SIDE, wide = width - y < NR ? width - y : NR;
                    add_tiles_of(left + x * across, across, panels + y * pairs, pairs, sums, high, wide);
                    if (is_turned)
                        store_turned(sums, high, wide, to + y * down + x, down);
                    else
                        store_sums(sums, high, wide, to + x * down + y, down);
                }
            if (take && is_turned)
                take(context, to, down, j, width, i, height);
            else if (take)
                take(context, to, down, i, height, j, width);
        }
    }
    _tile_release();
    free(panels);
    return true;
}
#pragma GCC pop_options
#else
static bool has_tiles(void) { return false; }
static bool tile_product(int64_t m, int64_t k, int64_t n, bfloat_matrix a, bfloat_matrix b, float *out, intptr_t row,
                         bfloat_taker take, void *context)
{
    return false;
}
#endif
#endif
