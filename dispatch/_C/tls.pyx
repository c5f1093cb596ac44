"""The thread's dispatch state: its life, its key sets and its two mode stacks, for Python.

The call path reads `ThreadState` through the inline functions of `tls.pxd`; guards (`guards`,
`grad_mode`) change it for a while. Invariants: Python and PythonTLSSnapshot are in the include set
while a dispatch mode is active; infra modes lie below user modes, one of each kind; what the struct
owns is freed when the interpreter clears the thread's dict.
"""
cimport cython
from cpython.mem cimport PyMem_RawFree, PyMem_RawRealloc
from cpython.object cimport PyObject
from cpython.pystate cimport PyThreadState_GetDict
from cpython.ref cimport Py_DECREF, Py_INCREF, Py_XDECREF

from dispatch._C.enums import _TorchDispatchModeKey, _TorchFunctionState
from dispatch._C.keys cimport KS_FULL_BACKENDS, KS_Meta, key_bits, ks_remove, new_key_set

cdef extern from *:
    """
    #include "generated/keys.h"
    #include "thread_state.h"
    static __thread ThreadState dispatch_thread_state = {
        .included = KS_DEFAULT_INCLUDE, .excluded = KS_DEFAULT_EXCLUDE, .grad_mode = 1};

    /* Each call asks several times where the thread's state is: the address stands where a register finds it, without a look into
       the loader's tables (of 8 bytes; glibc keeps more for modules that are loaded late). */
    #if defined(__GLIBC__) && (defined(__x86_64__) || defined(__aarch64__))
    static __thread ThreadState* dispatch_state_here __attribute__((tls_model("initial-exec")));
    #else
    static __thread ThreadState* dispatch_state_here;
    #endif
    static inline ThreadState* dispatch_state(void) {
        if (__builtin_expect(!dispatch_state_here, 0)) dispatch_state_here = &dispatch_thread_state;
        return dispatch_state_here;
    }
    """
    ThreadState* state_of_thread "dispatch_state"() noexcept nogil

cdef extern from "unistd.h" nogil:
    int getpid()

__all__ = [
    "_TorchDispatchModeKey",
    "_TorchFunctionState",
    "_are_functorch_transforms_active",
    "_dispatch_tls_is_dispatch_key_excluded",
    "_dispatch_tls_is_dispatch_key_included",
    "_dispatch_tls_local_exclude_set",
    "_dispatch_tls_local_include_set",
    "_dispatch_tls_set_dispatch_key_excluded",
    "_dispatch_tls_set_dispatch_key_included",
    "_get_dispatch_mode",
    "_get_dispatch_stack_at",
    "_get_obj_in_tls",
    "_get_torch_function_state",
    "_is_key_in_tls",
    "_is_torch_function_all_disabled",
    "_is_torch_function_enabled",
    "_is_torch_function_mode_enabled",
    "_len_torch_dispatch_stack",
    "_meta_in_tls_dispatch_include",
    "_pop_torch_dispatch_stack",
    "_push_on_torch_dispatch_stack",
    "_remove_obj_from_tls",
    "_set_dispatch_mode",
    "_set_meta_in_tls_dispatch_include",
    "_set_torch_function_state",
    "_stash_obj_in_tls",
    "_unset_dispatch_mode",
]


cdef ThreadState* tls() noexcept nogil:
    return state_of_thread()


# --- what the state owns is freed with the thread

cdef str OWNER_KEY = "dispatch._C.tls"
cdef uint64_t FUNCTORCH_KEYS = key_bits("FuncTorchDynamicLayerFrontMode") | key_bits("FuncTorchDynamicLayerBackMode")


@cython.final
cdef class ThreadOwner:
    """Lives in the interpreter's dict of a thread; its end drops what the thread's state owns."""
    cdef ThreadState* state
    cdef int pid                 # a fork's child keeps the dicts of threads that it does not have

    def __dealloc__(self):
        if self.state != NULL and self.pid == getpid():
            clear_owned(self.state)


cdef int check_owner(ThreadState* ts) except -1:
    """Sees to it that this thread (whose state `ts` is) has an owner."""
    cdef ThreadOwner owner
    cdef PyObject* thread_dict
    if ts.owner != NULL:
        return 0
    thread_dict = PyThreadState_GetDict()
    if thread_dict == NULL:
        raise RuntimeError("dispatch: this thread is ending and takes no more modes")
    owner = ThreadOwner.__new__(ThreadOwner)
    (<dict>thread_dict)[OWNER_KEY] = owner
    owner.state = ts
    owner.pid = getpid()
    ts.owner = <PyObject*>owner
    return 0


cdef void clear_owned(ThreadState* ts) noexcept:
    """Drops what is owned; a field is empty before its reference goes, for finalisers may look."""
    cdef PyObject* item
    cdef int slot
    ts.owner = NULL
    while ts.n_modes > 0:
        ts.n_modes -= 1
        Py_XDECREF(ts.modes[ts.n_modes])
    while ts.n_function_modes > 0:
        ts.n_function_modes -= 1
        Py_XDECREF(ts.function_modes[ts.n_function_modes])
    for slot in range(3):
        item = ts.infra[slot]
        ts.infra[slot] = NULL
        Py_XDECREF(item)
    ts.n_infra = 0
    include_python_keys(ts)
    item = ts.default_device
    ts.default_device = NULL
    Py_XDECREF(item)
    PyMem_RawFree(ts.modes)
    PyMem_RawFree(ts.function_modes)
    ts.modes = ts.function_modes = NULL
    ts.cap_modes = ts.cap_function_modes = 0


# --- the include and exclude sets

cdef bint as_bool(object value) except -1:
    """A flag as PyTorch's bindings take it: what has a truth value of its own, or None."""
    if value is None or isinstance(value, (bool, int)) or hasattr(type(value), "__bool__"):
        return bool(value)
    raise TypeError(f"expected a bool, got {value!r} ({type(value).__name__})")


def _are_functorch_transforms_active():
    """Whether a key of the stack of function transforms is in the include set."""
    return tls().included & FUNCTORCH_KEYS != 0


def _dispatch_tls_local_include_set():
    """The keys that this thread adds to every call."""
    return new_key_set(tls().included)


def _dispatch_tls_local_exclude_set():
    """The keys that this thread takes away from every call."""
    return new_key_set(tls().excluded)


def _dispatch_tls_is_dispatch_key_included(key):
    """Whether every bit of `key` is in the include set."""
    cdef uint64_t ks = key_bits(key)
    return (tls().included & ks) == ks


def _dispatch_tls_is_dispatch_key_excluded(key):
    """Whether every bit of `key` is in the exclude set."""
    cdef uint64_t ks = key_bits(key)
    return (tls().excluded & ks) == ks


def _dispatch_tls_set_dispatch_key_included(key, desired):
    """Adds `key` to the include set, or takes its functionality away (its backend bit stays)."""
    cdef uint64_t ks = key_bits(key)
    cdef ThreadState* ts = tls()
    ts.included = ts.included | ks if as_bool(desired) else ks_remove(ts.included, ks)


def _dispatch_tls_set_dispatch_key_excluded(key, desired):
    """Adds `key` to the exclude set, or takes its functionality away (its backend bit stays)."""
    cdef uint64_t ks = key_bits(key)
    cdef ThreadState* ts = tls()
    ts.excluded = ts.excluded | ks if as_bool(desired) else ks_remove(ts.excluded, ks)


def _meta_in_tls_dispatch_include():
    """Whether Meta is in the include set: meta kernels stand in for those of the device."""
    cdef ThreadState* ts = tls()
    return ts.meta_in_include or (ts.included & KS_Meta) == KS_Meta


def _set_meta_in_tls_dispatch_include(meta_in_tls):
    """Adds Meta to the include set or takes its backend bit away (Dense stays)."""
    cdef bint wanted = as_bool(meta_in_tls)
    cdef ThreadState* ts = tls()
    ts.meta_in_include = wanted
    if wanted:
        ts.included |= KS_Meta
    else:
        ts.included &= ~(KS_Meta & KS_FULL_BACKENDS)


# --- objects that a program keeps by thread

cdef str STASH_KEY = "dispatch._C.tls.stash"


cdef dict thread_stash():
    """This thread's named objects."""
    cdef PyObject* thread_dict = PyThreadState_GetDict()
    if thread_dict == NULL:
        raise RuntimeError("dispatch: this thread is ending and keeps no more objects")
    return (<dict>thread_dict).setdefault(STASH_KEY, {})


def _stash_obj_in_tls(str key, obj):
    """Keeps an object for this thread under a name."""
    thread_stash()[key] = obj


def _get_obj_in_tls(str key):
    """The object that this thread keeps under the name; RuntimeError when there is none."""
    try:
        return thread_stash()[key]
    except KeyError:
        raise RuntimeError(f"_get_obj_in_tls: this thread keeps nothing as {key!r}") from None


def _is_key_in_tls(str key):
    """Whether this thread keeps something under the name."""
    return key in thread_stash()


def _remove_obj_from_tls(str key):
    """Drops what this thread keeps under the name, if anything."""
    thread_stash().pop(key, None)


# --- whether __torch_function__ is called

def _is_torch_function_enabled():
    """Whether the __torch_function__ of subclasses is called."""
    return tls().torch_function_off == 0


def _is_torch_function_all_disabled():
    """Whether neither subclasses' nor modes' __torch_function__ is called."""
    return tls().torch_function_off == 2


def _is_torch_function_mode_enabled():
    """Whether some TorchFunctionMode is active."""
    cdef ThreadState* ts = tls()
    return ts.torch_function_off != 2 and ts.n_function_modes > 0


def _get_torch_function_state():
    """Whose __torch_function__ is called, as a `_TorchFunctionState`."""
    return _TorchFunctionState(tls().torch_function_off)


def _set_torch_function_state(state):
    """Says whose __torch_function__ is called from here on; TypeError for what is no such state."""
    if type(state) is not _TorchFunctionState or not 0 <= state.value < 3:
        raise TypeError(f"_set_torch_function_state: expected a _TorchFunctionState, got {state!r}")
    tls().torch_function_off = state.value


# --- the stack of dispatch modes

cdef tuple INFRA_KINDS = ("FakeTensorMode", "ProxyTorchDispatchMode", "FunctionalTensorMode")


cdef int infra_slot(object key, str function) except -1:
    if type(key) is not _TorchDispatchModeKey or not 0 <= key.value < 3:
        raise RuntimeError(
            f"{function}: expected a _TorchDispatchModeKey, got {key!r} ({type(key).__name__})")
    return key.value


cdef int append(PyObject*** items, int* n, int* capacity, PyObject* item) except -1:
    """Appends to a stack; steals the reference on success."""
    cdef PyObject** grown
    cdef int wanted
    if n[0] == capacity[0]:
        wanted = 2 * capacity[0] if capacity[0] else 8
        grown = <PyObject**>PyMem_RawRealloc(items[0], wanted * sizeof(PyObject*))
        if grown == NULL:
            raise MemoryError()
        items[0] = grown
        capacity[0] = wanted
    items[0][n[0]] = item
    n[0] += 1
    return 0


cdef int set_infra(ThreadState* ts, int slot, object mode) except -1:
    if ts.infra[slot] != NULL:
        raise RuntimeError(f"cannot set the {INFRA_KINDS[slot]}: one is active already")
    check_owner(ts)
    Py_INCREF(mode)
    ts.infra[slot] = <PyObject*>mode
    ts.n_infra += 1
    include_python_keys(ts)
    return 0


cdef object take_infra(ThreadState* ts, int slot):
    """Takes the mode out of an infra slot; None when there is none."""
    cdef object mode
    if ts.infra[slot] == NULL:
        return None
    mode = <object>ts.infra[slot]
    ts.infra[slot] = NULL
    ts.n_infra -= 1
    Py_DECREF(mode)              # the stack's reference; `mode` holds one of its own
    include_python_keys(ts)
    return mode


cdef void push_restored_mode(ThreadState* ts, PyObject* mode, int slot) noexcept:
    """A mode comes back after its call and finds its place taken or the stack full."""
    cdef PyObject* intruder = NULL
    if slot >= 0:
        intruder = ts.infra[slot]
        ts.infra[slot] = mode
        ts.n_infra += intruder == NULL
    elif append(&ts.modes, &ts.n_modes, &ts.cap_modes, mode) < 0:      # unraisable: out of memory
        intruder = mode
    include_python_keys(ts)
    Py_XDECREF(intruder)


def _push_on_torch_dispatch_stack(mode):
    """Makes `mode` the innermost mode; one with a `_mode_key` goes to its infra slot.

    None does nothing.
    """
    cdef ThreadState* ts = tls()
    if mode is None:
        return
    key = getattr(mode, "_mode_key", None)
    if key is not None:
        set_infra(ts, infra_slot(key, "_push_on_torch_dispatch_stack: mode._mode_key"), mode)
        return
    check_owner(ts)
    append(&ts.modes, &ts.n_modes, &ts.cap_modes, <PyObject*>mode)
    Py_INCREF(mode)
    include_python_keys(ts)


def _pop_torch_dispatch_stack(mode_key=None):
    """Takes the innermost mode off, or the infra mode of that key, and returns it.

    RuntimeError when there is none.
    """
    cdef ThreadState* ts = tls()
    cdef PyObject* taken
    cdef int slot
    if mode_key is not None:
        slot = infra_slot(mode_key, "_pop_torch_dispatch_stack")
        mode = take_infra(ts, slot)
        if mode is None:
            raise RuntimeError(f"cannot pop the {INFRA_KINDS[slot]}: none is active")
        return mode
    taken = pop_mode(ts, &slot)
    if taken == NULL:
        raise RuntimeError("cannot pop a mode: the stack is empty")
    mode = <object>taken
    Py_DECREF(mode)
    return mode


def _len_torch_dispatch_stack():
    """How many modes are active."""
    return n_dispatch_modes(tls())


def _get_dispatch_stack_at(int index):
    """The mode at this place, outermost first: infra modes, then user modes.

    RuntimeError outside of the stack.
    """
    cdef ThreadState* ts = tls()
    cdef int slot, place = index
    if 0 <= index < n_dispatch_modes(ts):
        for slot in range(3):
            if ts.infra[slot] != NULL:
                if place == 0:
                    return <object>ts.infra[slot]
                place -= 1
        return <object>ts.modes[place]
    raise RuntimeError(f"no dispatch mode at {index}: there are {n_dispatch_modes(ts)}")


def _get_dispatch_mode(mode_key):
    """The active infra mode of that key, or None."""
    cdef PyObject* mode = tls().infra[infra_slot(mode_key, "_get_dispatch_mode")]
    return <object>mode if mode != NULL else None


def _set_dispatch_mode(mode):
    """Makes `mode` the active infra mode of its `_mode_key`; RuntimeError when there is one."""
    key = getattr(mode, "_mode_key", None)
    set_infra(tls(), infra_slot(key, "_set_dispatch_mode: mode._mode_key"), mode)


def _unset_dispatch_mode(mode_key):
    """Takes the infra mode of that key off and returns it, or None."""
    return take_infra(tls(), infra_slot(mode_key, "_unset_dispatch_mode"))
