/* What each thread knows of dispatch: which keys are switched on and off, gradient and inference
   mode, the mode stacks. The variable itself lives in one shared object (tls); a new thread starts
   with a copy of its initial value and pays nothing. */
#ifndef DISPATCH_THREAD_STATE_H
#define DISPATCH_THREAD_STATE_H
#include <Python.h>
#include <stdint.h>

typedef struct {
    uint64_t included;        /* keys added to every call; starts as KS_DEFAULT_INCLUDE */
    uint64_t excluded;        /* keys taken away from every call; starts as KS_DEFAULT_EXCLUDE */
    int grad_mode;            /* 1 unless no_grad */
    int inference_mode;
    int torch_function_off;   /* 0 enabled, 1 subclasses disabled, 2 all disabled */
    int n_modes;              /* user modes on the TorchDispatchMode stack, innermost last */
    int cap_modes;
    PyObject** modes;         /* owned references */
    PyObject* infra[3];       /* owned or NULL, below all user modes, by _TorchDispatchModeKey:
                                 FAKE (bottom), PROXY, FUNCTIONAL */
    int n_infra;              /* how many of `infra` are set */
    int n_function_modes;
    int cap_function_modes;
    PyObject** function_modes;
    PyObject* python_dispatcher;  /* borrowed True or NULL: set while the Python dispatcher is on */
    int meta_in_include;      /* fake kernels run: Meta stands in for the device's backend key */
    PyObject* default_device; /* owned or NULL: set_default_device's override */
    int n_guards;             /* live guards, counted for the tests */
    /* The sets on entry of the outermost call (_RestorePythonTLSSnapshot); if has_snapshot. */
    int has_snapshot;
    uint64_t snapshot_included;
    uint64_t snapshot_excluded;
    uint64_t serial;          /* number of the thread, given at its first guard; 0: none yet */
    PyObject* owner;          /* borrowed from the interpreter's dict of the thread; frees what is
                                 owned above; NULL: nothing is */
} ThreadState;

#endif
