"""Rows of floats without gaps: see pixels.h."""
from libc.stdint cimport int64_t

cdef extern from "pixels.h" nogil:
    void add_scaled_f32(float* to, const float* x, float weight, int64_t n) noexcept
    void add_scaled_f64(double* to, const double* x, double weight, int64_t n) noexcept
    void add_scaled_halves_f32(float* to, const float* x, float weight, int64_t n) noexcept
    void add_scaled_halves_f64(double* to, const double* x, double weight, int64_t n) noexcept
    void scale_f32(float* to, const float* x, float weight, int64_t n) noexcept
    void scale_f64(double* to, const double* x, double weight, int64_t n) noexcept
    void mix_nine_f32(float* to, const float* x, const float* y, const float* z, const float* w, int64_t n, bint more) noexcept
    void mix_nine_f64(double* to, const double* x, const double* y, const double* z, const double* w, int64_t n,
                      bint more) noexcept
    void add_three_f32(float* to, const float* x, const float* w, int64_t n) noexcept
    void add_three_f64(double* to, const double* x, const double* w, int64_t n) noexcept
    enum:
        LANES
    void add_lanes_f32(float* lanes, const float* x, const float* y, int taps, int64_t n) noexcept
    void add_lanes_f64(double* lanes, const double* x, const double* y, int taps, int64_t n) noexcept
    void add_products_f32(float* to, const float* x, const float* weights, int64_t n) noexcept
    void mix_products_f32(float* to, const float* x, const int64_t* at, const float* weights, const int64_t* by,
                          int64_t rows, int64_t n, int64_t places, int64_t step) noexcept
    void sum_products_f32(float* to, const float* y, const float* x, int64_t step, int64_t rows, int64_t n) noexcept
    void mix_products_f64(double* to, const double* x, const int64_t* at, const double* weights, const int64_t* by,
                          int64_t rows, int64_t n, int64_t places, int64_t step) noexcept
    void sum_products_f64(double* to, const double* y, const double* x, int64_t step, int64_t rows, int64_t n) noexcept
    void add_products_f64(double* to, const double* x, const double* weights, int64_t n) noexcept
    void mix_four_f32(float* to, const float* a, const float* b, const float* c, const float* d, const float* w, int64_t n) noexcept
    void mix_four_f64(double* to, const double* a, const double* b, const double* c, const double* d, const double* w,
                      int64_t n) noexcept
    void mix_two_f32(float* to, const float* a, const float* b, float u, float v, int64_t n) noexcept
    void mix_two_f64(double* to, const double* a, const double* b, double u, double v, int64_t n) noexcept
    void gather_two_f32(float* to, const float* x, const int64_t* at, const float* w, int64_t n) noexcept
    void gather_four_f32(float* to, const float* x, const int64_t* at, const float* w, int64_t n) noexcept
    void gather_many_f32(float* to, const float* x, const int64_t* at, const float* w, int most, int64_t n, int64_t rows,
                         int64_t size) noexcept
    void gather_two_f64(double* to, const double* x, const int64_t* at, const double* w, int64_t n) noexcept
    void gather_four_f64(double* to, const double* x, const int64_t* at, const double* w, int64_t n) noexcept
    void gather_many_f64(double* to, const double* x, const int64_t* at, const double* w, int most, int64_t n, int64_t rows,
                         int64_t size) noexcept
