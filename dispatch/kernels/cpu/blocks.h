/* Loops that formulas name (`loop: NAME`), in blocks: by a function without a branch, which vectorises, and, where that says of an
   element that it is not right there, the whole block by the one that always is.

   Elements come from anywhere; results are stored after their block was read, so that an output may be an operand. T and FN are
   those of the header of formulas that includes this. */
#ifndef DISPATCH_BLOCKS_H
#define DISPATCH_BLOCKS_H

/* What an element says is of its width, so that both go through the same vectors. */
#define FLAG __typeof__(__builtin_choose_expr(sizeof(T) == 8, (int64_t)0, (int32_t)0))
#define AS_ROW(k, buffer) \
    const T *buffer = (const T *)(pointers[k] + done * steps[k]); \
    if (steps[k] != (intptr_t)sizeof(T)) { \
        for (intptr_t i = 0; i < n; i++) \
            buffer##_copy[i] = *(const T *)(pointers[k] + (done + i) * steps[k]); \
        buffer = buffer##_copy; \
    }
#define STORE_ROW(k) \
    if (steps[k] == (intptr_t)sizeof(T)) \
        memcpy(pointers[k] + done * steps[k], row, (size_t)n * sizeof(T)); \
    else \
        for (intptr_t i = 0; i < n; i++) \
            *(T *)(pointers[k] + (done + i) * steps[k]) = row[i];
#define IN_BLOCKS(NAME, NEAR, ANYWHERE) \
    UNUSED static void FN(NAME)(char **pointers, const intptr_t *count, const intptr_t *steps, void *data) \
    { \
        enum { BLOCK = 128 }; \
        T a_copy[BLOCK], b_copy[BLOCK], row[BLOCK]; \
        (void)data; \
        for (intptr_t done = 0; done < *count; done += BLOCK) { \
            const intptr_t n = *count - done < BLOCK ? *count - done : BLOCK; \
            FLAG far = 0; \
            AS_ROW(0, a) \
            AS_ROW(1, b) \
            for (intptr_t i = 0; i < n; i++) \
                row[i] = FN(NEAR)(a[i], b[i], &far); \
            for (intptr_t i = 0; far && i < n; i++) \
                row[i] = FN(ANYWHERE)(a[i], b[i]); \
            STORE_ROW(2) \
        } \
    }
/* The same of one operand; only the elements that say so are made again. */
#define ONE_IN_BLOCKS(NAME, NEAR, ANYWHERE) \
    UNUSED static void FN(NAME)(char **pointers, const intptr_t *count, const intptr_t *steps, void *data) \
    { \
        enum { BLOCK = 128 }; \
        T a_copy[BLOCK], row[BLOCK]; \
        FLAG is_far[BLOCK]; \
        (void)data; \
        for (intptr_t done = 0; done < *count; done += BLOCK) { \
            const intptr_t n = *count - done < BLOCK ? *count - done : BLOCK; \
            FLAG far = 0; \
            AS_ROW(0, a) \
            for (intptr_t i = 0; i < n; i++) { \
                FLAG here = 0; \
                row[i] = FN(NEAR)(a[i], &here); \
                is_far[i] = here; \
                far |= here; \
            } \
            for (intptr_t i = 0; far && i < n; i++) \
                row[i] = is_far[i] ? ANYWHERE(a[i]) : row[i]; \
            STORE_ROW(1) \
        } \
    }
#endif
