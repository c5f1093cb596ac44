/* A loop that a macro defines for float (`name_f32`) and double (`name_f64`), as the table that bodies choose from. */
#ifndef DISPATCH_FLOATING_H
#define DISPATCH_FLOATING_H
#include <stdint.h>

#define FLOATING_LOOP(TABLE, name) static int64_t (*const TABLE[2])(void *job, void *typed) = {name##_f32, name##_f64}
#endif
