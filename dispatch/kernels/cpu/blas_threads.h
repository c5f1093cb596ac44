/* The threads that BLAS has of its own: numpy's library, and scipy's where it is loaded.

   Both call it through tables of loops, so that the functions that set its threads are looked up in what the process has loaded
   (as threadpoolctl does). A library without them, or a system without `dl_iterate_phdr`, keeps what it has. */
#ifndef DISPATCH_BLAS_THREADS_H
#define DISPATCH_BLAS_THREADS_H
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

typedef struct {
    void (*set)(int n);
    int (*get)(void);
    int before;                      /* what it had when parts began */
} blas_library;

enum { BLAS_LIBRARIES = 8 };

static pthread_mutex_t blas_lock = PTHREAD_MUTEX_INITIALIZER;    /* guards all below */
static blas_library blas_libraries[BLAS_LIBRARIES];
static int blas_count, blas_users;   /* users: jobs whose parts call BLAS at this moment */

#if defined(__linux__)
#include <dlfcn.h>
#include <link.h>

static const char *const BLAS_FUNCTIONS[][2] = {
    {"scipy_openblas_set_num_threads64_", "scipy_openblas_get_num_threads64_"},
    {"scipy_openblas_set_num_threads", "scipy_openblas_get_num_threads"},
    {"openblas_set_num_threads64_", "openblas_get_num_threads64_"},
    {"openblas_set_num_threads", "openblas_get_num_threads"},
    {"MKL_Set_Num_Threads", "MKL_Get_Max_Threads"},
};

static int find_blas(struct dl_phdr_info *info, size_t size, void *unused)
{
    void *library;
    (void)size, (void)unused;
    if (!strstr(info->dlpi_name, "blas") && !strstr(info->dlpi_name, "libmkl_rt"))
        return 0;
    library = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    for (size_t i = 0; library && i < sizeof BLAS_FUNCTIONS / sizeof *BLAS_FUNCTIONS && blas_count < BLAS_LIBRARIES; i++) {
        blas_library found = {(void (*)(int))dlsym(library, BLAS_FUNCTIONS[i][0]),
                              (int (*)(void))dlsym(library, BLAS_FUNCTIONS[i][1]), 0};
        bool known = false;
        for (int k = 0; k < blas_count; k++)
            known = known || blas_libraries[k].set == found.set;
        if (found.set && found.get && !known)
            blas_libraries[blas_count++] = found;
    }
    if (library)
        dlclose(library);
    return 0;
}
static void look_for_blas(void) { dl_iterate_phdr(find_blas, NULL); }
#else
static void look_for_blas(void) {}
#endif

/* Libraries that were loaded since. While parts run, their threads are as they are. */
static void look_for_new_blas(void)
{
    pthread_mutex_lock(&blas_lock);
    look_for_blas();
    for (int i = 0; i < blas_count && blas_users; i++)
        if (!blas_libraries[i].before)
            blas_libraries[i].before = blas_libraries[i].get();
    pthread_mutex_unlock(&blas_lock);
}

/* As many threads for BLAS; while parts run they get it when those are done. */
static void set_blas_threads(int n)
{
    pthread_mutex_lock(&blas_lock);
    look_for_blas();
    for (int i = 0; i < blas_count; i++)
        if (blas_users)
            blas_libraries[i].before = n;
        else
            blas_libraries[i].set(n);
    pthread_mutex_unlock(&blas_lock);
}

/* BLAS leaves the processors to the parts of a job that call it. False: it cannot be told so. */
static bool begin_blas_parts(void)
{
    bool told;
    pthread_mutex_lock(&blas_lock);
    if (blas_count == 0)
        look_for_blas();
    told = blas_count > 0;
    if (told && blas_users++ == 0)
        for (int i = 0; i < blas_count; i++) {
            blas_libraries[i].before = blas_libraries[i].get();
            blas_libraries[i].set(1);
        }
    pthread_mutex_unlock(&blas_lock);
    return told;
}

static void end_blas_parts(void)
{
    pthread_mutex_lock(&blas_lock);
    if (--blas_users == 0)
        for (int i = 0; i < blas_count; i++)
            blas_libraries[i].set(blas_libraries[i].before);
    pthread_mutex_unlock(&blas_lock);
}

/* In a forked child of a process whose parts ran: the lock may be held by a thread that is gone. */
static void forget_blas_parts(void)
{
    pthread_mutex_init(&blas_lock, NULL);
    for (int i = 0; i < blas_count && blas_users; i++)
        blas_libraries[i].set(blas_libraries[i].before);
    blas_users = 0;
}
#endif
