/* The cast loops, once for each level of processor: included by casts.h with LEVEL defined. */

/* ---- narrow floats to float32 and back; PyTorch converts every dtype to them by way of float32 ---- */

INLINE float FN(read_bf16)(uint16_t h) { return f32_of_bf16(h); }
INLINE uint16_t FN(write_bf16)(float x) { return bf16_of_f32(x); }
#ifdef __F16C__
INLINE float FN(read_f16)(uint16_t h) { return _cvtsh_ss(h); }
INLINE uint16_t FN(write_f16)(float x) { return (uint16_t)_cvtss_sh(x, 0); }
#else
INLINE float FN(read_f16)(uint16_t h) { return f32_of_f16(h); }
INLINE uint16_t FN(write_f16)(float x) { return f16_of_f32(x); }
#endif

/* 8 bits: `mantissa` bits of it, `bias` of the exponent; the bits of infinity (0: none). fnuz: no infinity, no -0, 0x80 is NaN. */
INLINE float FN(read_f8)(uint8_t h, int mantissa, int bias, int infinity, bool fnuz)
{
    int low = h & 0x7f, exponent = low >> mantissa, rest = low & ((1 << mantissa) - 1);
    float x;
    if (fnuz ? h == 0x80 : infinity ? low > infinity : low == 0x7f)
        return NAN;
    if (low == infinity && infinity)
        x = INFINITY;
    else if (exponent == 0)
        x = ldexpf((float)rest, 1 - bias - mantissa);
    else
        x = ldexpf((float)(rest + (1 << mantissa)), exponent - bias - mantissa);
    return h & 0x80 ? -x : x;
}
INLINE uint8_t FN(write_f8)(float x, int mantissa, int bias, int largest, int above, int nan, bool fnuz)
{
    int sign = bits_of_f32(x) >> 31 ? 0x80 : 0, exponent, low;
    float a = fabsf(x);
    if (x != x)
        return (uint8_t)(fnuz ? nan : nan | sign);
    if (a == INFINITY)
        return (uint8_t)(fnuz ? above : above | sign);
    exponent = a > 0 ? ilogbf(a) : 1 - bias;
    if (exponent < 1 - bias)
        exponent = 1 - bias;
    if (exponent > 64)
        return (uint8_t)(fnuz ? above : above | sign);
    low = ((exponent - (1 - bias)) << mantissa) + (int)rintf(ldexpf(a, mantissa - exponent));
    if (low > largest)
        return (uint8_t)(fnuz ? above : above | sign);
    return (uint8_t)(fnuz && low == 0 ? 0 : low | sign);
}
INLINE float FN(read_f8e5m2)(uint8_t h) { return FN(read_f8)(h, 2, 15, 0x7c, false); }
INLINE float FN(read_f8e4m3fn)(uint8_t h) { return FN(read_f8)(h, 3, 7, 0, false); }
INLINE float FN(read_f8e5m2fnuz)(uint8_t h) { return FN(read_f8)(h, 2, 16, 0, true); }
INLINE float FN(read_f8e4m3fnuz)(uint8_t h) { return FN(read_f8)(h, 3, 8, 0, true); }
INLINE float FN(read_f8e8m0fnu)(uint8_t h) { return h == 0xff ? NAN : ldexpf(1.0f, h - 127); }
INLINE uint8_t FN(write_f8e5m2)(float x) { return FN(write_f8)(x, 2, 15, 0x7b, 0x7c, 0x7f, false); }
INLINE uint8_t FN(write_f8e4m3fn)(float x) { return FN(write_f8)(x, 3, 7, 0x7e, 0x7e, 0x7f, false); }
INLINE uint8_t FN(write_f8e5m2fnuz)(float x) { return FN(write_f8)(x, 2, 16, 0x7f, 0x80, 0x80, true); }
INLINE uint8_t FN(write_f8e4m3fnuz)(float x) { return FN(write_f8)(x, 3, 8, 0x7f, 0x80, 0x80, true); }
INLINE uint8_t FN(write_f8e8m0fnu)(float x)
{
    uint32_t u = bits_of_f32(x), exponent = u >> 23 & 0xff;
    if (exponent != 0xff && (u >> 22 & 1) && (exponent > 0 || (u & 0x3fffffu)))
        exponent++;
    return (uint8_t)exponent;
}

/* ---- one element: read as a type of its kind that holds it, which vectorises, written from the widest ---- */

/* Elements may lie at any address. */
#define READ_AS(type) type v; memcpy(&v, at, sizeof(type)); return v
#define WRITE_AS(type) type v = (type)(x); memcpy(at, &v, sizeof(type))
#define READ_NARROW(type, name) type v; memcpy(&v, at, sizeof(type)); return FN(name)(v)
#define WRITE_NARROW(type, name) type v = FN(name)((float)(x)); memcpy(at, &v, sizeof(type))
#define NUMBERS_OF(NAME, STORED, WIDE, READ, WRITE_INT, WRITE_REAL) \
    typedef WIDE FN(wide_##NAME); \
    INLINE WIDE FN(get_##NAME)(const char *at) { READ; } \
    INLINE void FN(put_int_##NAME)(char *at, int64_t x) { WRITE_INT; } \
    INLINE void FN(put_uint_##NAME)(char *at, uint64_t x) { WRITE_INT; } \
    INLINE void FN(put_f32_##NAME)(char *at, float x) { WRITE_REAL; } \
    INLINE void FN(put_f64_##NAME)(char *at, double x) { WRITE_REAL; }
#define PLAIN(NAME, STORED, WIDE) NUMBERS_OF(NAME, STORED, WIDE, READ_AS(STORED), WRITE_AS(STORED), WRITE_AS(STORED))
#define SMALL(NAME, STORED, WIDE, BY) \
    NUMBERS_OF(NAME, STORED, WIDE, READ_AS(STORED), WRITE_AS(STORED), STORED v = (STORED)(BY)(x); memcpy(at, &v, sizeof v))
#define NARROW(NAME, STORED) \
    NUMBERS_OF(NAME, STORED, float, READ_NARROW(STORED, read_##NAME), WRITE_NARROW(STORED, write_##NAME), \
               WRITE_NARROW(STORED, write_##NAME))

NUMBERS_OF(b8, uint8_t, int32_t, uint8_t v; memcpy(&v, at, 1); return v != 0, uint8_t v = x != 0; memcpy(at, &v, 1),
           uint8_t v = x != 0; memcpy(at, &v, 1))
SMALL(u8, uint8_t, int32_t, int64_t)
SMALL(i8, int8_t, int32_t, int32_t)
SMALL(i16, int16_t, int32_t, int32_t)
PLAIN(i32, int32_t, int32_t)
PLAIN(i64, int64_t, int64_t)
SMALL(u16, uint16_t, int32_t, int64_t)
SMALL(u32, uint32_t, int64_t, int64_t)
NUMBERS_OF(u64, uint64_t, uint64_t, READ_AS(uint64_t), WRITE_AS(uint64_t),
           uint64_t v = x < 0 ? (uint64_t)(int64_t)x : (uint64_t)x; memcpy(at, &v, 8))
PLAIN(f32, float, float)
PLAIN(f64, double, double)
NARROW(bf16, uint16_t)
NARROW(f16, uint16_t)
NARROW(f8e5m2, uint8_t)
NARROW(f8e4m3fn, uint8_t)
NARROW(f8e5m2fnuz, uint8_t)
NARROW(f8e4m3fnuz, uint8_t)
NARROW(f8e8m0fnu, uint8_t)

/* Any element as a real or complex number of the kind that PUT takes. */
#define KIND_b8 int
#define KIND_u8 int
#define KIND_i8 int
#define KIND_i16 int
#define KIND_i32 int
#define KIND_i64 int
#define KIND_u16 int
#define KIND_u32 int
#define KIND_u64 uint
#define KIND_f32 f32
#define KIND_f64 f64
#define KIND_bf16 f32
#define KIND_f16 f32
#define KIND_f8e5m2 f32
#define KIND_f8e4m3fn f32
#define KIND_f8e5m2fnuz f32
#define KIND_f8e4m3fnuz f32
#define KIND_f8e8m0fnu f32
#define PUT_(kind, to) put_##kind##_##to
#define PUT(kind, to) PUT_(kind, to)

#define CAST_BODY(FROM_SIZE, TO_SIZE, ...) \
    if (from == FROM_SIZE && to == TO_SIZE) { \
        _Pragma("GCC ivdep") \
        for (intptr_t i = 0; i < n; i++) { \
            const char *a = src + i * FROM_SIZE; char *b = dst + i * TO_SIZE; __VA_ARGS__; \
        } \
        return; \
    } \
    for (intptr_t i = 0; i < n; i++) { \
        const char *a = src + i * from; char *b = dst + i * to; __VA_ARGS__; \
    }
#define CAST(FROM, FROM_SIZE, TO, TO_SIZE, ...) \
    static void FN(cast_##FROM##_##TO)(const char *src, intptr_t from, char *dst, intptr_t to, intptr_t n) \
    { \
        CAST_BODY(FROM_SIZE, TO_SIZE, __VA_ARGS__) \
    }

#define REAL_TO_REAL(FROM, FS, TO, TS) CAST(FROM, FS, TO, TS, FN(PUT(KIND_##FROM, TO))(b, FN(get_##FROM)(a)))
#define REAL_TO_COMPLEX(FROM, FS, TO, PART, TS) \
    CAST(FROM, FS, TO, TS, FN(PUT(KIND_##FROM, PART))(b, FN(get_##FROM)(a)); FN(put_int_##PART)(b + TS / 2, 0))
#define COMPLEX_TO_REAL(FROM, PART, FS, TO, TS) CAST(FROM, FS, TO, TS, FN(PUT(KIND_##PART, TO))(b, FN(get_##PART)(a)))
#define COMPLEX_TO_BOOL(FROM, PART, FS) \
    CAST(FROM, FS, b8, 1, FN(put_int_b8)(b, (FN(get_##PART)(a) != 0) | (FN(get_##PART)(a + FS / 2) != 0)))
#define COMPLEX_TO_COMPLEX(FROM, FROM_PART, FS, TO, PART, TS) \
    CAST(FROM, FS, TO, TS, FN(wide_##FROM_PART) re = FN(get_##FROM_PART)(a), im = FN(get_##FROM_PART)(a + FS / 2); \
         FN(PUT(KIND_##FROM_PART, PART))(b, re); FN(PUT(KIND_##FROM_PART, PART))(b + TS / 2, im))
