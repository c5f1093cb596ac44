"""Thread-local dispatch state: key sets, gradient and inference mode, mode stacks.

One struct for each thread, owned by this shared object; others reach it through `tls()`, once a
call, and pass the pointer on. Whoever stores an owned reference in it (a mode, the default device)
calls `check_owner` first, so that the thread's end frees it.
"""
from cpython.object cimport PyObject
from libc.stdint cimport uint64_t

from dispatch._C.keys cimport KS_Python, KS_PythonTLSSnapshot

cdef extern from "thread_state.h" nogil:
    ctypedef struct ThreadState:     # each field is explained there
        uint64_t included
        uint64_t excluded
        bint grad_mode
        bint inference_mode
        int torch_function_off
        int n_modes
        int cap_modes
        PyObject** modes
        PyObject* infra[3]
        int n_infra
        int n_function_modes
        int cap_function_modes
        PyObject** function_modes
        PyObject* python_dispatcher
        bint meta_in_include
        PyObject* default_device
        int n_guards
        bint has_snapshot
        uint64_t snapshot_included
        uint64_t snapshot_excluded
        uint64_t serial
        PyObject* owner

cdef ThreadState* tls() noexcept nogil
cdef int check_owner(ThreadState* ts) except -1       # before storing an owned reference
cdef void push_restored_mode(ThreadState* ts, PyObject* mode, int slot) noexcept   # steals `mode`

cdef inline int n_dispatch_modes(ThreadState* ts) noexcept nogil:
    """How many modes are active, user and infra ones."""
    return ts.n_modes + ts.n_infra

cdef inline int top_infra_slot(ThreadState* ts) noexcept nogil:
    """The highest infra slot in use; -1 when none is."""
    cdef int slot = 2
    while slot >= 0 and ts.infra[slot] == NULL:
        slot -= 1
    return slot

cdef inline PyObject* get_top_mode(ThreadState* ts) noexcept nogil:
    """The innermost mode, borrowed; NULL when there is none."""
    cdef int slot
    if ts.n_modes > 0:
        return ts.modes[ts.n_modes - 1]
    slot = top_infra_slot(ts)
    return ts.infra[slot] if slot >= 0 else NULL

cdef inline void include_python_keys(ThreadState* ts) noexcept nogil:
    """Python and PythonTLSSnapshot are in the include set exactly while some mode is active."""
    if ts.n_modes + ts.n_infra > 0:
        ts.included |= KS_Python | KS_PythonTLSSnapshot
    else:
        ts.included &= ~(KS_Python | KS_PythonTLSSnapshot)

cdef inline PyObject* pop_mode(ThreadState* ts, int* slot) noexcept nogil:
    """Takes the innermost mode off and gives it to the caller; NULL when there is none.

    Switches a mode off while it handles a call: `restore_mode` with the same `slot` follows in
    every case. Allocates nothing.
    """
    cdef PyObject* mode
    slot[0] = -1
    if ts.n_modes > 0:
        ts.n_modes -= 1
        mode = ts.modes[ts.n_modes]
    else:
        slot[0] = top_infra_slot(ts)
        if slot[0] < 0:
            return NULL
        mode = ts.infra[slot[0]]
        ts.infra[slot[0]] = NULL
        ts.n_infra -= 1
    if ts.n_modes + ts.n_infra == 0:
        ts.included &= ~(KS_Python | KS_PythonTLSSnapshot)
    return mode

cdef inline void restore_mode(ThreadState* ts, PyObject* mode, int slot) noexcept:
    """Puts back what `pop_mode` gave (the reference is stolen)."""
    if slot < 0 and ts.n_modes < ts.cap_modes:
        ts.modes[ts.n_modes] = mode
        ts.n_modes += 1
        ts.included |= KS_Python | KS_PythonTLSSnapshot
    else:
        push_restored_mode(ts, mode, slot)

cdef inline PyObject* get_top_function_mode(ThreadState* ts) noexcept nogil:
    """The innermost TorchFunctionMode, borrowed; NULL when there is none."""
    return ts.function_modes[ts.n_function_modes - 1] if ts.n_function_modes > 0 else NULL
