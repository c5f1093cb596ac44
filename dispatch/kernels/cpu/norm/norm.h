/* Normalisation: moments and affine maps of channels, and of rows.

   A tensor of channels is [outer][channels][inner] without gaps: images have an inner extent, channels_last and matrices one of
   1. Statistics are summed in lanes over blocks, blocks in double precision; results are made in the type of the elements. */
#ifndef DISPATCH_NORM_H
#define DISPATCH_NORM_H
#include "row_walk.h"

#pragma GCC push_options
#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math", "wrapv")

enum { NORM_LANES = 32, NORM_BLOCK = 2048, NORM_CHANNELS = 512 };

#define NORM_FOLDED(lane) \
    for (int w_ = NORM_LANES / 2; w_ > 0; w_ /= 2) \
        for (int k_ = 0; k_ < w_; k_++) \
            lane[k_] += lane[k_ + w_]

/* The sums of `STEP` and of `OTHER` (of element i) over n elements, in double precision. */
#define SUMS_OF(T, result, other, n, STEP, OTHER) \
    do { \
        double total_ = 0, more_ = 0; \
        for (int64_t start_ = 0; start_ < (n); start_ += NORM_BLOCK) { \
            const int64_t end_ = (n) - start_ < NORM_BLOCK ? (n) : start_ + NORM_BLOCK; \
            T lane_[NORM_LANES] = {0}, next_[NORM_LANES] = {0}; \
            int64_t j_ = start_; \
            for (; j_ + NORM_LANES <= end_; j_ += NORM_LANES) \
                for (int k_ = 0; k_ < NORM_LANES; k_++) { \
                    const int64_t i = j_ + k_; \
                    lane_[k_] += (STEP); \
                    next_[k_] += (OTHER); \
                } \
            for (int k_ = 0; j_ < end_; j_++, k_++) { \
                const int64_t i = j_; \
                lane_[k_] += (STEP); \
                next_[k_] += (OTHER); \
            } \
            NORM_FOLDED(lane_); \
            NORM_FOLDED(next_); \
            total_ += lane_[0]; \
            more_ += next_[0]; \
        } \
        (result) += total_; \
        (other) += more_; \
    } while (0)
/* One of them; that of nothing costs nothing. */
#define SUM_OF(T, result, n, STEP) \
    do { \
        double nothing_ = 0; \
        SUMS_OF(T, result, nothing_, n, STEP, (T)0); \
        (void)nothing_; \
    } while (0)

/* A tensor of channels, and what each channel has; a loop takes those from `first` to `end`. */
typedef struct {
    const void *from, *grads;
    void *to;
    int64_t outer, channels, inner;
    bool given, more;                /* the mean is known; sums go on from what is there */
    int half;                        /* the dtype of 16-bit floats, which are read as they lie; 0: they are others */
    float *room;                     /* of each thread, for 16-bit planes of a channel */
    double *mean, *results, *sums;   /* results: squares, or products with gradients */
    const double *scale, *shift;     /* to = x * scale + shift, or grad * scale + (x - mean) * of_x + shift */
    const double *of_x;
} channel_job;
typedef void (*channel_fn)(const channel_job *j, int64_t first, int64_t end);

#define CHANNELS(K, T) \
    /* The mean of each channel (unless it is given) and its sum of squared distances from it. */ \
    WIDE static void channel_moments_##K(const channel_job *j, int64_t first, int64_t end) \
    { \
        const T *x = j->from; \
        const int64_t outer = j->outer, channels = j->channels, inner = j->inner; \
        const bool given = j->given; \
        double *mean = j->mean, *squares = j->results; \
        const double count = (double)(outer * inner); \
        if (inner > 1) { \
            for (int64_t c = first; c < end; c++) { \
                squares[c] = 0, mean[c] = given ? mean[c] : 0; \
                for (int64_t o = 0; o < outer && !given; o++) { \
                    const T *p = x + (o * channels + c) * inner; \
                    SUM_OF(T, mean[c], inner, p[i]); \
                } \
                mean[c] = given ? mean[c] : mean[c] / count; \
                const T middle = (T)mean[c]; \
                for (int64_t o = 0; o < outer; o++) { \
                    const T *p = x + (o * channels + c) * inner; \
                    SUM_OF(T, squares[c], inner, (p[i] - middle) * (p[i] - middle)); \
                } \
            } \
            return; \
        } \
        /* Rows: in one pass, by the distances from the mean or from the first row, which is a guess of it. */ \
        for (int64_t c = first; c < end; c += NORM_CHANNELS) { \
            const int64_t n = end - c < NORM_CHANNELS ? end - c : NORM_CHANNELS; \
            double guess[NORM_CHANNELS], sums[NORM_CHANNELS] = {0}, *to = squares + c; \
            for (int64_t i = 0; i < n; i++) { \
                const double middle = given ? mean[c + i] : (double)x[c + i]; \
                guess[i] = given || middle - middle == 0 ? middle : 0; \
                to[i] = 0; \
            } \
            int64_t o = 0; \
            for (; o + 4 <= outer; o += 4) { \
                const T *p = x + o * channels + c, *q = p + channels, *r = q + channels, *s = r + channels; \
                for (int64_t i = 0; i < n; i++) { \
                    const double a = p[i] - guess[i], b = q[i] - guess[i], d = r[i] - guess[i], e = s[i] - guess[i]; \
                    sums[i] += (a + b) + (d + e); \
                    to[i] += (a * a + b * b) + (d * d + e * e); \
                } \
            } \
            for (; o < outer; o++) \
                for (int64_t i = 0; i < n; i++) { \
                    const double a = x[o * channels + c + i] - guess[i]; \
                    sums[i] += a; \
                    to[i] += a * a; \
                } \
            for (int64_t i = 0; i < n && !given; i++) { \
                mean[c + i] = guess[i] + sums[i] / count; \
                to[i] -= sums[i] * sums[i] / count; \
                to[i] = to[i] < 0 ? 0 : to[i]; \
            } \
        } \
    } \
    /* y = x * scale + shift. */ \
    WIDEST static void channel_affine_##K(const channel_job *j, int64_t first, int64_t end) \
    { \
        const int64_t inner = j->inner, channels = j->channels; \
        const T *from = j->from; \
        T *to = j->to; \
        for (int64_t o = 0; o < j->outer && inner > 1; o++) \
            for (int64_t c = first; c < end; c++) { \
                const T *x = from + (o * channels + c) * inner; \
                T *y = to + (o * channels + c) * inner; \
                const T a = (T)j->scale[c], b = (T)j->shift[c]; \
                for (int64_t i = 0; i < inner; i++) \
                    y[i] = x[i] * a + b; \
            } \
        for (int64_t c = first; c < end && inner == 1; c += NORM_CHANNELS) { \
            const int64_t n = end - c < NORM_CHANNELS ? end - c : NORM_CHANNELS; \
            T a[NORM_CHANNELS], b[NORM_CHANNELS]; \
            for (int64_t i = 0; i < n; i++) \
                a[i] = (T)j->scale[c + i], b[i] = (T)j->shift[c + i]; \
            for (int64_t o = 0; o < j->outer; o++) { \
                const T *x = from + o * channels + c; \
                T *y = to + o * channels + c; \
                for (int64_t i = 0; i < n; i++) \
                    y[i] = x[i] * a[i] + b[i]; \
            } \
        } \
    } \
    /* Sums of the gradients, and of the gradients times the distance from the mean. */ \
    WIDE static void channel_dots_##K(const channel_job *j, int64_t first, int64_t end) \
    { \
        const int64_t inner = j->inner, channels = j->channels; \
        const double *mean = j->mean; \
        double *sums = j->sums, *dots = j->results; \
        for (int64_t c = first; c < end && !j->more; c++) \
            sums[c] = dots[c] = 0; \
        for (int64_t o = 0; o < j->outer && inner > 1; o++) { \
            const T *grad = (const T *)j->grads + (o * channels + first) * inner; \
            const T *x = (const T *)j->from + (o * channels + first) * inner; \
            for (int64_t c = first; c < end; c++, x += inner, grad += inner) { \
                const T middle = (T)mean[c]; \
                SUMS_OF(T, sums[c], dots[c], inner, grad[i], grad[i] * (x[i] - middle)); \
            } \
        } \
        for (int64_t c = first; c < end && inner == 1; c += NORM_CHANNELS) { \
            const int64_t n = end - c < NORM_CHANNELS ? end - c : NORM_CHANNELS; \
            double sum[NORM_CHANNELS], dot[NORM_CHANNELS], middle[NORM_CHANNELS]; \
            memcpy(sum, sums + c, (size_t)n * sizeof(double)); \
            memcpy(dot, dots + c, (size_t)n * sizeof(double)); \
            memcpy(middle, mean + c, (size_t)n * sizeof(double)); \
            for (int64_t o = 0; o < j->outer; o++) { \
                const T *grad = (const T *)j->grads + o * channels + c, *x = (const T *)j->from + o * channels + c; \
                for (int64_t i = 0; i < n; i++) { \
                    sum[i] += grad[i]; \
                    dot[i] += grad[i] * (x[i] - middle[i]); \
                } \
            } \
            memcpy(sums + c, sum, (size_t)n * sizeof(double)); \
            memcpy(dots + c, dot, (size_t)n * sizeof(double)); \
        } \
    } \
    /* to = grad * a + (x - mean) * b + d. */ \
    WIDE static void channel_gradient_##K(const channel_job *j, int64_t first, int64_t end) \
    { \
        const int64_t inner = j->inner, channels = j->channels; \
        for (int64_t o = 0; o < j->outer && inner > 1; o++) { \
            const T *grad = (const T *)j->grads + (o * channels + first) * inner; \
            const T *x = (const T *)j->from + (o * channels + first) * inner; \
            T *to = (T *)j->to + (o * channels + first) * inner; \
            for (int64_t c = first; c < end; c++, x += inner, grad += inner, to += inner) { \
                const T middle = (T)j->mean[c], of_grad = (T)j->scale[c], of_x = (T)j->of_x[c], more = (T)j->shift[c]; \
                for (int64_t i = 0; i < inner; i++) \
                    to[i] = grad[i] * of_grad + (x[i] - middle) * of_x + more; \
            } \
        } \
        for (int64_t c = first; c < end && inner == 1; c += NORM_CHANNELS) { \
            const int64_t n = end - c < NORM_CHANNELS ? end - c : NORM_CHANNELS; \
            T middle[NORM_CHANNELS], of_grad[NORM_CHANNELS], of_x[NORM_CHANNELS], more[NORM_CHANNELS]; \
            for (int64_t i = 0; i < n; i++) { \
                middle[i] = (T)j->mean[c + i], of_grad[i] = (T)j->scale[c + i]; \
                of_x[i] = (T)j->of_x[c + i], more[i] = (T)j->shift[c + i]; \
            } \
            for (int64_t o = 0; o < j->outer; o++) { \
                const T *grad = (const T *)j->grads + o * channels + c, *x = (const T *)j->from + o * channels + c; \
                T *to = (T *)j->to + o * channels + c; \
                for (int64_t i = 0; i < n; i++) \
                    to[i] = grad[i] * of_grad[i] + (x[i] - middle[i]) * of_x[i] + more[i]; \
            } \
        } \
    }
CHANNELS(f32, float)
CHANNELS(f64, double)

/* What spans of rows found apart, two numbers for each channel, is that of all: a mean and squares, or sums and products. */
static void merge_spans(const channel_job *j, const double *own, int64_t parts)
{
    const int64_t rows = j->outer, channels = j->channels;
#define SPAN(part, which) own[(2 * (part) + (which)) * channels + c]
#define ROWS_OF(part) (double)(((part) + 1) * rows / parts - (part) * rows / parts)
    for (int64_t c = 0; c < channels; c++) {
        double first = 0, second = 0;
        for (int64_t p = 0; p < parts && !j->given; p++)
            first += j->sums ? SPAN(p, 0) : SPAN(p, 0) * ROWS_OF(p);
        if (j->sums)
            j->sums[c] = first;
        else if (!j->given)
            j->mean[c] = first / (double)rows;
        for (int64_t p = 0; p < parts; p++) {
            const double apart = j->sums || j->given ? 0 : SPAN(p, 0) - j->mean[c];
            second += SPAN(p, 1) + apart * apart * ROWS_OF(p);
        }
        j->results[c] = second;
    }
}

/* The moments of channels of 16-bit planes; `room`: for all planes of a channel. */
static void moments_of_halves(const channel_job *j, int code, int64_t first, int64_t end, float *room)
{
    const int64_t inner = j->inner;
    channel_job whole = {.from = room, .outer = j->outer, .channels = 1, .inner = inner, .given = j->given};
    for (int64_t c = first; c < end; c++) {
        for (int64_t o = 0; o < j->outer; o++)
            ROW_KINDS[code].read((const char *)j->from + 2 * (o * j->channels + c) * inner, 2, inner, room + o * inner);
        whole.mean = j->mean + c;
        whole.results = j->results + c;
        channel_moments_f32(&whole, 0, 1);
    }
}

/* y = x * a + b of 16-bit numbers without gaps, and how many of n it did, 16 at a time. */
#ifdef CONVERTS_16
CONVERTS_16 static int64_t affine_f16_by_16(const char *from, char *to, int64_t n, float a, float b)
{
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) {
        const __m512 y = _mm512_fmadd_ps(FLOATS_OF_f16(from + 2 * i), _mm512_set1_ps(a), _mm512_set1_ps(b));
        PUT_FLOATS_f16(y, to + 2 * i);
    }
    return i;
}
static int64_t affine_f16(const char *from, char *to, int64_t n, float a, float b)
{
    return __builtin_cpu_supports("avx512f") ? affine_f16_by_16(from, to, n, a, b) : 0;
}
/* Of rows, `row` elements apart, as many columns as fill whole vectors. */
CONVERTS_16 static void affine_columns_f16(const char *from, char *to, int64_t rows, int64_t row, const float *a, const float *b,
                                           int64_t n)
{
    for (int64_t o = 0; o < rows; o++, from += 2 * row, to += 2 * row)
        for (int64_t i = 0; i + 16 <= n; i += 16)
            PUT_FLOATS_f16(_mm512_fmadd_ps(FLOATS_OF_f16(from + 2 * i), _mm512_loadu_ps(a + i), _mm512_loadu_ps(b + i)),
                           to + 2 * i);
}
static int64_t affine_rows_f16(const char *from, char *to, int64_t rows, int64_t row, const float *a, const float *b, int64_t n)
{
    if (!__builtin_cpu_supports("avx512f"))
        return 0;
    affine_columns_f16(from, to, rows, row, a, b, n);
    return n / 16 * 16;
}
#else
static int64_t affine_f16(const char *from, char *to, int64_t n, float a, float b) { return 0; }
static int64_t affine_rows_f16(const char *from, char *to, int64_t rows, int64_t row, const float *a, const float *b, int64_t n)
{
    return 0;
}
#endif
WIDEST static int64_t affine_bf16(const uint16_t *restrict x, uint16_t *restrict to, int64_t n, float a, float b)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = bf16_of_f32(f32_of_bf16(x[i]) * a + b);
    return n;
}

WIDEST static void affine_row(float *restrict x, const float *restrict a, const float *restrict b, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = x[i] * a[i] + b[i];
}
WIDEST static void affine_rows_bf16(const uint16_t *restrict x, uint16_t *restrict to, int64_t rows, int64_t row,
                                    const float *restrict a, const float *restrict b, int64_t n)
{
    for (int64_t o = 0; o < rows; o++, x += row, to += row)
        for (int64_t i = 0; i < n; i++)
            to[i] = bf16_of_f32(f32_of_bf16(x[i]) * a[i] + b[i]);
}
/* Rows of channels: some of these at a time. */
static void affine_half_rows(const channel_job *j, int code, int64_t first, int64_t end)
{
    float row[NORM_CHANNELS], a[NORM_CHANNELS], b[NORM_CHANNELS];
    const row_kind *kind = &ROW_KINDS[code];
    for (int64_t c = 0; c < j->channels; c += NORM_CHANNELS) {
        const int64_t n = j->channels - c < NORM_CHANNELS ? j->channels - c : NORM_CHANNELS;
        const char *from = (const char *)j->from + 2 * (first * j->channels + c);
        char *to = (char *)j->to + 2 * (first * j->channels + c);
        for (int64_t i = 0; i < n; i++)
            a[i] = (float)j->scale[c + i], b[i] = (float)j->shift[c + i];
        if (code == ST_bfloat16 && ((uintptr_t)from | (uintptr_t)to) % 2 == 0) {
            affine_rows_bf16((const uint16_t *)from, (uint16_t *)to, end - first, j->channels, a, b, n);
            continue;
        }
        const int64_t done = code == ST_float16 ? affine_rows_f16(from, to, end - first, j->channels, a, b, n) : 0;
        for (int64_t o = first; done < n && o < end; o++, from += 2 * j->channels, to += 2 * j->channels) {
            kind->read(from + 2 * done, 2, n - done, row);
            affine_row(row, a + done, b + done, n - done);
            kind->write(row, to + 2 * done, 2, n - done);
        }
    }
}

/* The affine map of 16-bit planes without gaps, numbered through samples and channels: a block is read, mapped and written. Of one
   element each: of rows of all channels, which are what is numbered. */
static void affine_halves(const channel_job *j, int code, int64_t first, int64_t end)
{
    float row[ROW_BLOCK];
    const row_kind *kind = &ROW_KINDS[code];
    if (j->inner == 1) {
        affine_half_rows(j, code, first, end);
        return;
    }
    channel_job block = {.from = row, .to = row, .outer = 1, .channels = 1};
    for (int64_t plane = first; plane < end; plane++) {
        const char *from = (const char *)j->from + 2 * plane * j->inner;
        char *to = (char *)j->to + 2 * plane * j->inner;
        block.scale = j->scale + plane % j->channels;
        block.shift = j->shift + plane % j->channels;
        const float a = (float)*block.scale, b = (float)*block.shift;
        int64_t i = 0;
        if (code == ST_bfloat16 && ((uintptr_t)from | (uintptr_t)to) % 2 == 0)
            i = affine_bf16((const uint16_t *)from, (uint16_t *)to, j->inner, a, b);
        else if (code == ST_float16)
            i = affine_f16(from, to, j->inner, a, b);
        for (; i < j->inner; i += ROW_BLOCK) {
            block.inner = j->inner - i < ROW_BLOCK ? j->inner - i : ROW_BLOCK;
            kind->read(from + 2 * i, 2, block.inner, row);
            channel_affine_f32(&block, 0, 1);
            kind->write(row, to + 2 * i, 2, block.inner);
        }
    }
}

/* Sums or the gradient of 16-bit floats in blocks, which are read as floats, and written: `n` channels from c on, of which element
   `at` of the tensor is the first. */
static void channel_block(const channel_job *j, int64_t at, int64_t c, int64_t rows, int64_t n, int64_t inner)
{
    float x[NORM_BLOCK], grads[NORM_BLOCK], to[NORM_BLOCK];
    const row_kind *kind = &ROW_KINDS[j->half];
    const int64_t count = rows * n * inner;
    channel_job b = {.from = x, .grads = grads, .to = to, .outer = rows, .channels = n, .inner = inner, .more = true,
                     .mean = j->mean + c};
    kind->read((const char *)j->from + 2 * at, 2, count, x);
    kind->read((const char *)j->grads + 2 * at, 2, count, grads);
    if (j->to) {
        b.scale = j->scale + c, b.of_x = j->of_x + c, b.shift = j->shift + c;
        channel_gradient_f32(&b, 0, n);
        kind->write(to, (char *)j->to + 2 * at, 2, count);
    } else {
        b.sums = j->sums + c, b.results = j->results + c;
        channel_dots_f32(&b, 0, n);
    }
}
static void channel_halves(const channel_job *j, int64_t first, int64_t end)
{
    const int64_t inner = j->inner, channels = j->channels, line = inner < NORM_BLOCK ? inner : NORM_BLOCK;
    const int64_t most = inner == 1 && channels > NORM_BLOCK ? NORM_BLOCK : inner == 1 ? channels : NORM_BLOCK / line;
    const int64_t rows = inner == 1 && most == channels ? NORM_BLOCK / channels : 1;
    for (int64_t c = first; c < end && !j->to; c++)
        j->sums[c] = j->results[c] = 0;
    for (int64_t o = 0; o < j->outer; o += rows)
        for (int64_t c = first; c < end; c += most)
            for (int64_t i = 0; i < inner; i += line)
                channel_block(j, (o * channels + c) * inner + i, c, j->outer - o < rows ? j->outer - o : rows,
                              end - c < most ? end - c : most, inner - i < line ? inner - i : line);
}

/* What a thread takes of the channels, or of rows of all of them. */
typedef struct {
    const channel_job *j;
    channel_fn each;
    int64_t row;                     /* bytes of all channels; 0: threads have channels of their own */
    double *own;                     /* of each part, two numbers for each channel; NULL: there are results for each element */
} channel_share;

static void take_channels(void *context, int64_t part, int64_t first, int64_t end)
{
    const channel_share *s = context;
    channel_job j = *s->j;
    if (s->row == 0) {
        s->each(&j, first, end);
        return;
    }
    j.from = (const char *)j.from + first * s->row;
    j.grads = j.grads ? (const char *)j.grads + first * s->row : NULL;
    if (s->own) {
        j.results = s->own + (2 * part + 1) * j.channels;
        if (j.sums)
            j.sums = s->own + 2 * part * j.channels;
        else if (!j.given)
            j.mean = s->own + 2 * part * j.channels;
    } else
        j.to = (char *)j.to + first * s->row;
    j.outer = end - first;
    s->each(&j, 0, j.channels);
}
static void take_halves(void *job, int64_t part, int64_t first, int64_t end)
{
    (void)part;
    affine_halves(job, ((const channel_job *)job)->half, first, end);
}
static void take_half_channels(void *job, int64_t part, int64_t first, int64_t end)
{
    const channel_job *j = job;
    moments_of_halves(j, j->half, first, end, j->room + part * j->outer * j->inner);
}

/* By type of computation, in the order of `row_of`: float32, float64. */
static const channel_fn CHANNEL_MOMENTS[] = {channel_moments_f32, channel_moments_f64};
static const channel_fn CHANNEL_AFFINE[] = {channel_affine_f32, channel_affine_f64};
static const channel_fn CHANNEL_DOTS[] = {channel_dots_f32, channel_dots_f64};
static const channel_fn CHANNEL_GRADIENT[] = {channel_gradient_f32, channel_gradient_f64};

/* ---- rows: layer normalisation; steps for `row_walk.h`. Those of a gradient come in order. ---- */

typedef struct {
    double eps;
    const void *weight, *bias;       /* rows of the type of computation; NULL: none */
    double *mean, *rstd;             /* of each row, for the gradient */
    double *of_weight, *of_bias;     /* sums for the gradient; NULL: not wanted */
    void *some_weight, *some_bias;   /* those of the last few rows, in the type of computation, all 0 at first */
    int64_t *row, rows;              /* how many rows are done, and how many there are */
} norm_rows;

#define LAYER(K, T) \
    WIDE static void layer_norm_##K(const void **in, void **out, int64_t n, const void *given) \
    { \
        const norm_rows *c = given; \
        const T *x = in[0], *w = c->weight, *b = c->bias; \
        T *y = out[0]; \
        double mean = 0, squares = 0, rstd; \
        SUM_OF(T, mean, n, x[i]); \
        mean /= (double)n; \
        const T middle = (T)mean; \
        SUM_OF(T, squares, n, (x[i] - middle) * (x[i] - middle)); \
        rstd = 1 / sqrt(squares / (double)n + c->eps); \
        *(T *)out[1] = middle; \
        *(T *)out[2] = (T)rstd; \
        const T scale = (T)rstd; \
        if (w && b) \
            for (int64_t i = 0; i < n; i++) \
                y[i] = (x[i] - middle) * scale * w[i] + b[i]; \
        else if (w) \
            for (int64_t i = 0; i < n; i++) \
                y[i] = (x[i] - middle) * scale * w[i]; \
        else if (b) \
            for (int64_t i = 0; i < n; i++) \
                y[i] = (x[i] - middle) * scale + b[i]; \
        else \
            for (int64_t i = 0; i < n; i++) \
                y[i] = (x[i] - middle) * scale; \
    } \
    WIDE static void layer_norm_backward_##K(const void **in, void **out, int64_t n, const void *given) \
    { \
        const norm_rows *c = given; \
        const T *grad = in[0], *x = in[1], *w = c->weight; \
        T *to = out[0]; \
        const int64_t row = (*c->row)++; \
        const T middle = (T)c->mean[row], scale = (T)c->rstd[row]; \
        double sum = 0, dot = 0; \
        if (w) { \
            SUMS_OF(T, sum, dot, n, grad[i] * w[i], grad[i] * w[i] * ((x[i] - middle) * scale)); \
        } else { \
            SUMS_OF(T, sum, dot, n, grad[i], grad[i] * ((x[i] - middle) * scale)); \
        } \
        const T a = (T)(sum / (double)n), b = (T)(dot / (double)n); \
        T *restrict of_weight = c->some_weight, *restrict of_bias = c->some_bias; \
        if (c->of_weight) \
            for (int64_t i = 0; i < n; i++) \
                of_weight[i] += grad[i] * ((x[i] - middle) * scale); \
        if (c->of_bias) \
            for (int64_t i = 0; i < n; i++) \
                of_bias[i] += grad[i]; \
        if (row % 16 == 15 || row + 1 == c->rows) \
            for (int64_t i = 0; i < n; i++) { \
                if (c->of_weight) \
                    c->of_weight[i] += of_weight[i], of_weight[i] = 0; \
                if (c->of_bias) \
                    c->of_bias[i] += of_bias[i], of_bias[i] = 0; \
            } \
        if (w) \
            for (int64_t i = 0; i < n; i++) \
                to[i] = (grad[i] * w[i] - a - (x[i] - middle) * scale * b) * scale; \
        else \
            for (int64_t i = 0; i < n; i++) \
                to[i] = (grad[i] - a - (x[i] - middle) * scale * b) * scale; \
    }
LAYER(f32, float)
LAYER(f64, double)
static const row_step_fn LAYER_STEPS[2][2] = {
    {layer_norm_f32, layer_norm_f64}, {layer_norm_backward_f32, layer_norm_backward_f64},
};

/* ---- parameters and statistics of any floating dtype, as doubles and back ---- */

static void load_doubles(int code, const char *from, intptr_t step, int64_t n, double *to)
{
    double buffer[ROW_BLOCK];
    for (int64_t done = 0; done < n; done += ROW_BLOCK) {
        int64_t m = n - done < ROW_BLOCK ? n - done : ROW_BLOCK;
        const void *row = ROW_KINDS[code].read(from + done * step, step, m, buffer);
        for (int64_t i = 0; i < m; i++)
            to[done + i] = ROW_KINDS[code].row == ROW_F32 ? ((const float *)row)[i] : ((const double *)row)[i];
    }
}
static void store_doubles(int code, char *to, intptr_t step, int64_t n, const double *from)
{
    double buffer[ROW_BLOCK];
    for (int64_t done = 0; done < n; done += ROW_BLOCK) {
        int64_t m = n - done < ROW_BLOCK ? n - done : ROW_BLOCK;
        for (int64_t i = 0; i < m; i++)
            if (ROW_KINDS[code].row == ROW_F32)
                ((float *)buffer)[i] = (float)from[done + i];
            else
                buffer[i] = from[done + i];
        ROW_KINDS[code].write(buffer, to + done * step, step, m);
    }
}

/* Groups of channels; each is normalised while it is in the cache. */
typedef struct {
    channel_job sums, maps;
    void (*moments)(const channel_job *j, int64_t first, int64_t end);
    void (*affine)(const channel_job *j, int64_t first, int64_t end);
    int half, itemsize;              /* the dtype of 16-bit numbers, which are read as they lie; 0: they are others */
    float *room;                     /* of each thread, for 16-bit numbers that have moments of their own */
    double eps;
    int64_t size, channels, sample;  /* channels of a group and of a sample, elements of a sample */
    double *mean, *rstd, *scale, *shift;
    const double *weight, *bias;
} group_job;

/* From the sum of squares of `count` elements apart from the mean, which is in the place of 1/deviation. */
static void set_scales(const group_job *s, int64_t g, int64_t count)
{
    s->rstd[g] = 1 / sqrt(s->rstd[g] / (double)count + s->eps);
    for (int64_t i = g * s->size, c = i % s->channels; i < (g + 1) * s->size; i++, c++) {
        s->scale[i] = s->rstd[g] * s->weight[c];
        s->shift[i] = s->bias[c] - s->mean[g] * s->scale[i];
    }
}

static void take_groups(void *job, int64_t part, int64_t first, int64_t end)
{
    const group_job *s = job;
    const int64_t n = s->sums.inner;
    channel_job sums = s->sums, maps = s->maps;
    for (int64_t g = first; g < end; g++) {
        if (s->half) {
            float *room = s->room + part * n;
            ROW_KINDS[s->half].read((const char *)s->sums.from + 2 * g * n, 2, n, room);
            sums.from = room;
            sums.mean = s->mean + g;
            sums.results = s->rstd + g;
            s->moments(&sums, 0, 1);
        } else
            s->moments(&sums, g, g + 1);
        set_scales(s, g, n);
        if (s->half && s->maps.inner == 1) {     /* a row of all channels, of which the group is a part */
            maps.from = (const char *)s->maps.from + 2 * g * s->size;
            maps.to = (char *)s->maps.to + 2 * g * s->size;
            maps.scale = s->scale + g * s->size;
            maps.shift = s->shift + g * s->size;
            maps.channels = s->size;
            affine_halves(&maps, s->half, 0, 1);
        } else if (s->half)
            affine_halves(&s->maps, s->half, g * s->size, (g + 1) * s->size);
        else
            s->affine(&s->maps, g * s->size, (g + 1) * s->size);
    }
}

/* Images whose channels are last: the moments of each channel, of the groups of them. */
static void take_samples(void *job, int64_t part, int64_t first, int64_t end)
{
    const group_job *s = job;
    const int64_t groups = s->channels / s->size;
    channel_job sums = s->sums, maps = s->maps;
    for (int64_t n = first; n < end; n++) {
        sums.from = maps.from = (const char *)s->sums.from + n * s->sample * s->itemsize;
        maps.to = (char *)s->maps.to + n * s->sample * s->itemsize;
        maps.scale = sums.mean = s->scale + n * s->channels;
        maps.shift = sums.results = s->shift + n * s->channels;
        if (s->half) {
            sums.from = s->room + part * s->sample;
            ROW_KINDS[s->half].read(maps.from, 2, s->sample, s->room + part * s->sample);
        }
        s->moments(&sums, 0, s->channels);
        for (int64_t g = 0; g < groups; g++) {
            double mean = 0, squares = 0;
            for (int64_t c = g * s->size; c < (g + 1) * s->size; c++)
                mean += sums.mean[c] / (double)s->size;
            for (int64_t c = g * s->size; c < (g + 1) * s->size; c++)
                squares += sums.results[c] + (double)sums.outer * (sums.mean[c] - mean) * (sums.mean[c] - mean);
            s->mean[n * groups + g] = mean;
            s->rstd[n * groups + g] = squares;
            set_scales(s, n * groups + g, s->size * sums.outer);
        }
        if (s->half)
            affine_halves(&maps, s->half, 0, sums.outer);
        else
            s->affine(&maps, 0, s->channels);
    }
}
#pragma GCC pop_options
#endif
