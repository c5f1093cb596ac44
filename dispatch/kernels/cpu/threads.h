/* A few threads that wait for work: one job at a time, split into parts that whoever is free takes.

   `run_parts` returns when all parts are done. A second caller, a nested one and a forked child do their parts themselves: the
   pool is an offer, never a need. Threads are started when they are first wanted and end with the process. */
#ifndef DISPATCH_THREADS_H
#define DISPATCH_THREADS_H
#include <pthread.h>
#if defined(__linux__)
#include <sched.h>
#include <unistd.h>
#endif
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "blas_threads.h"

typedef void (*part_fn)(void *context, int64_t part);

enum { MAX_THREADS = 64 };

static pthread_mutex_t pool_job = PTHREAD_MUTEX_INITIALIZER;     /* held by the caller whose job runs */
static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;    /* guards all below */
static pthread_cond_t pool_begin = PTHREAD_COND_INITIALIZER, pool_end = PTHREAD_COND_INITIALIZER;
static int pool_started;              /* threads that there are */
static _Atomic uint64_t pool_number;  /* of the job that runs, counted */
static part_fn pool_fn;
static void *pool_context;
static int64_t pool_next, pool_parts; /* parts from the one to the other are left */
static _Atomic int pool_busy;         /* threads at work */
static _Atomic int pool_cpu;          /* the processor of the caller */
static int pool_wanted;               /* how many may still join */
static _Thread_local bool pool_part;  /* this thread runs a part, whose own parts nobody else would take */

/* Waking a sleeping thread takes as long as a small job, and a few hundred microseconds where its processor is busy (`rms_norm` of
   bfloat16 on two threads 570 us, 210 so): who waits looks for a moment, about a millisecond, before it sleeps. */
enum { LOOKS = 30000 };
#if defined(__x86_64__)
#define pause_a_little() __builtin_ia32_pause()
#else
#define pause_a_little() ((void)0)
#endif

/* The caller begins at the first part and the others at the last, each time: what a thread has written is what it reads next. */
static void take_parts(bool from_end) /* with pool_lock held */
{
    while (pool_next < pool_parts) {
        int64_t part = from_end ? --pool_parts : pool_next++;
        pthread_mutex_unlock(&pool_lock);
        pool_part = true;
        pool_fn(pool_context, part);
        pool_part = false;
        pthread_mutex_lock(&pool_lock);
    }
}

#if defined(__linux__)
/* A woken thread is often put on the processor of the one that woke it, when the others are busy: there each would take the other's
   time. It goes elsewhere, to where the process may run. */
static void keep_off(int cpu)
{
    cpu_set_t allowed;
    if (sched_getcpu() != cpu || sched_getaffinity(getpid(), sizeof allowed, &allowed) != 0)
        return;
    CPU_CLR(cpu, &allowed);
    if (CPU_COUNT(&allowed) > 0)
        sched_setaffinity(0, sizeof allowed, &allowed);
}
#else
static int sched_getcpu(void) { return -1; }
static void keep_off(int cpu) { (void)cpu; }
#endif

static void wait_for_job(uint64_t seen)    /* with pool_lock held: for one after it that another thread may join */
{
    do {
        pthread_mutex_unlock(&pool_lock);
        for (int i = 0; i < LOOKS && pool_number == seen; i++)
            pause_a_little();
        pthread_mutex_lock(&pool_lock);
        while (pool_number == seen)
            pthread_cond_wait(&pool_begin, &pool_lock);
        seen = pool_number;
        pthread_mutex_unlock(&pool_lock);
        keep_off(pool_cpu);
        pthread_mutex_lock(&pool_lock);
    } while (pool_wanted == 0);
}

static void *work(void *unused)
{
    uint64_t seen = 0;
    (void)unused;
    pthread_mutex_lock(&pool_lock);
    for (;;) {
        wait_for_job(seen);
        seen = pool_number;
        pool_wanted--;
        pool_busy++;
        take_parts(true);
        if (--pool_busy == 0)
            pthread_cond_signal(&pool_end);
    }
    return NULL;
}

static void forget_pool(void)         /* in a forked child the threads are gone, and their locks may be held */
{
    pthread_mutex_init(&pool_job, NULL);
    pthread_mutex_init(&pool_lock, NULL);
    pthread_cond_init(&pool_begin, NULL);
    pthread_cond_init(&pool_end, NULL);
    pool_started = pool_busy = pool_wanted = 0;
    forget_blas_parts();
}

static void start_threads(int wanted) /* with pool_lock held; fewer if the system has no more */
{
    static bool registered;
    pthread_attr_t attributes;
    pthread_t thread;
    if (!registered) {
        pthread_atfork(NULL, NULL, forget_pool);
        registered = true;
    }
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    while (pool_started < wanted && pthread_create(&thread, &attributes, work, NULL) == 0)
        pool_started++;
    pthread_attr_destroy(&attributes);
}

static bool is_in_part(void) { return pool_part; }

static void run_parts(part_fn fn, void *context, int64_t parts, int threads)
{
    if (threads > MAX_THREADS)
        threads = MAX_THREADS;
    if (parts < 2 || threads < 2 || pthread_mutex_trylock(&pool_job) != 0) {
        for (int64_t part = 0; part < parts; part++)
            fn(context, part);
        return;
    }
    pthread_mutex_lock(&pool_lock);
    start_threads(threads - 1);
    pool_fn = fn;
    pool_context = context;
    pool_next = 0;
    pool_parts = parts;
    pool_wanted = threads - 1;
    pool_cpu = sched_getcpu();
    pool_number++;
    pthread_cond_broadcast(&pool_begin);
    take_parts(false);
    pool_wanted = 0;
    if (pool_busy > 0) {
        pthread_mutex_unlock(&pool_lock);
        for (int i = 0; i < LOOKS && pool_busy > 0; i++)
            pause_a_little();
        pthread_mutex_lock(&pool_lock);
    }
    while (pool_busy > 0)
        pthread_cond_wait(&pool_end, &pool_lock);
    pthread_mutex_unlock(&pool_lock);
    pthread_mutex_unlock(&pool_job);
}
#endif
