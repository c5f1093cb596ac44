"""Guards that change what the thread includes and excludes, and put it back.

Every guard is the same idea: entering saves the state in a frame, leaving puts back the parts that
the guard touches, whatever happened to them meanwhile. Some act from their construction, as in
PyTorch; the next __enter__ of such a guard does nothing. Invariant: a frame is undone only in the
thread that made it, at the latest when the guard dies there.
"""
from cpython.mem cimport PyMem_RawFree, PyMem_RawRealloc
from cpython.object cimport PyObject

from dispatch._C.keys cimport (
    KS_ADInplaceOrView,
    KS_AUTOGRAD,
    KS_DEFAULT_EXCLUDE,
    KS_PreDispatch,
    KS_Python,
    KS_PythonDispatcher,
    KS_PythonTLSSnapshot,
    as_key_set,
    key_bits,
    ks_remove,
)
from dispatch._C.tls cimport ThreadState, tls

__all__ = [
    "DisableTorchFunction",
    "DisableTorchFunctionSubclass",
    "ExcludeDispatchKeyGuard",
    "_AutoDispatchBelowADInplaceOrView",
    "_AutoDispatchBelowAutograd",
    "_DisableAutocast",
    "_DisableFuncTorch",
    "_DisablePythonDispatcher",
    "_DisableTorchDispatch",
    "_EnablePreDispatch",
    "_EnablePythonDispatcher",
    "_EnableTorchFunction",
    "_ExcludeDispatchKeyGuard",
    "_ForceDispatchKeyGuard",
    "_IncludeDispatchKeyGuard",
    "_PreserveDispatchKeyGuard",
    "_RestorePythonTLSSnapshot",
    "_SetExcludeDispatchKeyGuard",
]

cdef uint64_t FUNCTORCH_KEYS = key_bits("FuncTorchDynamicLayerFrontMode") | key_bits("FuncTorchDynamicLayerBackMode")
cdef uint64_t last_serial = 0


cdef inline uint64_t serial_of(ThreadState* ts) noexcept:
    global last_serial
    if ts.serial == 0:
        last_serial += 1
        ts.serial = last_serial
    return ts.serial


cdef void save_frame(Frame* frame, ThreadState* ts) noexcept:
    frame.serial = serial_of(ts)
    frame.included = ts.included
    frame.excluded = ts.excluded
    frame.snapshot_included = ts.snapshot_included
    frame.snapshot_excluded = ts.snapshot_excluded
    frame.python_dispatcher = ts.python_dispatcher
    frame.grad_mode = ts.grad_mode
    frame.inference_mode = ts.inference_mode
    frame.torch_function_off = ts.torch_function_off
    frame.meta_in_include = ts.meta_in_include
    frame.has_snapshot = ts.has_snapshot


cdef void restore_frame(Frame* frame, ThreadState* ts, int parts, uint64_t bits) noexcept:
    """Puts back what `parts` names; of the exclude set only `bits`."""
    if parts & PART_INCLUDED:
        ts.included = frame.included
        ts.meta_in_include = frame.meta_in_include
    if parts & PART_EXCLUDED:
        ts.excluded = (ts.excluded & ~bits) | (frame.excluded & bits)
    if parts & PART_GRAD:
        ts.grad_mode = frame.grad_mode
        ts.inference_mode = frame.inference_mode
    if parts & PART_FUNCTION:
        ts.torch_function_off = frame.torch_function_off
    if parts & PART_DISPATCHER:
        ts.python_dispatcher = frame.python_dispatcher
        ts.included = (ts.included & ~KS_PythonDispatcher) | (frame.included & KS_PythonDispatcher)
    if parts & PART_SNAPSHOT:
        ts.has_snapshot = frame.has_snapshot
        ts.snapshot_included = frame.snapshot_included
        ts.snapshot_excluded = frame.snapshot_excluded


cdef class Guard:
    def __cinit__(self):
        self.bits = ~<uint64_t>0
        self.undone_at_end = True

    cdef int apply(self, ThreadState* ts) except -1:
        return 0

    cdef int enter(self) except -1:
        cdef ThreadState* ts = tls()
        cdef Frame found
        cdef Frame* frame
        save_frame(&found, ts)
        self.apply(ts)
        if self.first_used:
            frame = <Frame*>PyMem_RawRealloc(NULL, sizeof(Frame))
            if frame == NULL:
                restore_frame(&found, ts, self.parts, self.bits)
                raise MemoryError()
        else:
            frame = &self.first
            self.first_used = True
        frame[0] = found
        frame.below = self.top
        self.top = frame
        ts.n_guards += 1
        return 0

    cdef bint leave(self) noexcept:
        cdef ThreadState* ts = tls()
        cdef Frame** link = &self.top
        cdef Frame* frame
        while link[0] != NULL and link[0].serial != ts.serial:
            link = &link[0].below
        if link[0] == NULL:
            return False
        frame = link[0]
        link[0] = frame.below
        restore_frame(frame, ts, self.parts, self.bits)
        ts.n_guards -= 1
        self.free_frame(frame)
        return True

    cdef void free_frame(self, Frame* frame) noexcept:
        if frame == &self.first:
            self.first_used = False
        else:
            PyMem_RawFree(frame)

    def __enter__(self):
        if self.pending:
            self.pending = False
        else:
            self.enter()

    def __exit__(self, exc_type, exc_value, traceback):
        self.pending = False
        self.leave()

    def __dealloc__(self):
        cdef Frame* frame
        if not self.undone_at_end:
            self.parts = 0
        while self.leave():
            pass
        while self.top != NULL:          # entered by another thread, which may be gone
            frame = self.top
            self.top = frame.below
            self.free_frame(frame)


cdef class _IncludeDispatchKeyGuard(Guard):
    """Adds a key to the include set."""
    cdef uint64_t ks

    def __init__(self, key):
        self.parts = PART_INCLUDED
        self.ks = key_bits(key)

    cdef int apply(self, ThreadState* ts) except -1:
        ts.included |= self.ks
        return 0


cdef class _ExcludeDispatchKeyGuard(Guard):
    """Adds the keys of a DispatchKeySet to the exclude set."""
    cdef uint64_t ks

    def __init__(self, keys):
        self.parts = PART_EXCLUDED
        self.ks = as_key_set(keys)

    cdef int apply(self, ThreadState* ts) except -1:
        ts.excluded |= self.ks
        return 0


cdef class ExcludeDispatchKeyGuard(_ExcludeDispatchKeyGuard):
    """`_ExcludeDispatchKeyGuard`, from its construction on."""

    def __init__(self, keys):
        _ExcludeDispatchKeyGuard.__init__(self, keys)
        self.enter()
        self.pending = True


cdef class _SetExcludeDispatchKeyGuard(Guard):
    """Puts a key into the exclude set or takes it out; leaving touches that key alone."""
    cdef uint64_t ks
    cdef bint excluded

    def __init__(self, key, bint excluded):
        self.parts = PART_EXCLUDED
        self.bits = self.ks = key_bits(key)
        self.excluded = excluded

    cdef int apply(self, ThreadState* ts) except -1:
        ts.excluded = ts.excluded | self.ks if self.excluded else ks_remove(ts.excluded, self.ks)
        return 0


cdef class _ForceDispatchKeyGuard(Guard):
    """Replaces the include and the exclude set."""
    cdef uint64_t included
    cdef uint64_t excluded

    def __init__(self, included, excluded):
        self.parts = PART_INCLUDED | PART_EXCLUDED
        self.included = as_key_set(included)
        self.excluded = as_key_set(excluded)

    cdef int apply(self, ThreadState* ts) except -1:
        ts.included = self.included
        ts.excluded = self.excluded
        return 0


cdef class _PreserveDispatchKeyGuard(Guard):
    """Changes nothing; leaving undoes what happened to both sets."""

    def __init__(self):
        self.parts = PART_INCLUDED | PART_EXCLUDED


cdef class _AutoDispatchBelowAutograd(Guard):
    """Excludes the autograd keys, from its construction on."""

    def __init__(self):
        self.parts = PART_EXCLUDED
        self.enter()
        self.pending = True

    cdef int apply(self, ThreadState* ts) except -1:
        ts.excluded |= KS_AUTOGRAD
        return 0


cdef class _AutoDispatchBelowADInplaceOrView(Guard):
    """Excludes the autograd keys and ADInplaceOrView."""

    def __init__(self):
        self.parts = PART_EXCLUDED

    cdef int apply(self, ThreadState* ts) except -1:
        ts.excluded |= KS_AUTOGRAD | KS_ADInplaceOrView
        return 0


cdef class _DisableTorchDispatch(Guard):
    """Excludes what leads to modes and __torch_dispatch__, from its construction on."""

    def __init__(self):
        self.parts = PART_EXCLUDED
        self.enter()
        self.pending = True

    cdef int apply(self, ThreadState* ts) except -1:
        ts.excluded |= KS_Python | KS_PythonTLSSnapshot | KS_PreDispatch
        return 0


cdef class _DisableFuncTorch(Guard):
    """Excludes the two keys of the stack of function transforms, from its construction on."""

    def __init__(self):
        self.parts = PART_EXCLUDED
        self.enter()
        self.pending = True

    cdef int apply(self, ThreadState* ts) except -1:
        ts.excluded |= FUNCTORCH_KEYS
        return 0


cdef class _DisableAutocast(Guard):
    """Excludes the autocast keys, from its construction on."""

    def __init__(self):
        self.parts = PART_EXCLUDED
        self.enter()
        self.pending = True

    cdef int apply(self, ThreadState* ts) except -1:
        ts.excluded |= KS_DEFAULT_EXCLUDE
        return 0


cdef class _EnablePythonDispatcher(Guard):
    """Sends every call to the Python dispatcher first, from its construction on."""

    def __init__(self):
        self.parts = PART_DISPATCHER
        self.enter()
        self.pending = True

    cdef int apply(self, ThreadState* ts) except -1:
        ts.python_dispatcher = <PyObject*>True
        ts.included |= KS_PythonDispatcher
        return 0


cdef class _DisablePythonDispatcher(Guard):
    """Switches the Python dispatcher off."""

    def __init__(self):
        self.parts = PART_DISPATCHER

    cdef int apply(self, ThreadState* ts) except -1:
        ts.python_dispatcher = NULL
        ts.included &= ~KS_PythonDispatcher
        return 0


cdef class _EnablePreDispatch(Guard):
    """Includes PreDispatch: pre-dispatch modes see calls before autograd and autocast."""

    def __init__(self):
        self.parts = PART_INCLUDED

    cdef int apply(self, ThreadState* ts) except -1:
        ts.included |= KS_PreDispatch
        return 0


cdef class _RestorePythonTLSSnapshot(Guard):
    """Brings back, inside a __torch_dispatch__, the key sets with which the call came in.

    RuntimeError elsewhere.
    """

    def __init__(self):
        self.parts = PART_INCLUDED | PART_EXCLUDED | PART_SNAPSHOT

    cdef int apply(self, ThreadState* ts) except -1:
        if not ts.has_snapshot:
            raise RuntimeError(
                "_RestorePythonTLSSnapshot: no state is saved outside of __torch_dispatch__")
        ts.included = ts.snapshot_included
        ts.excluded = ts.snapshot_excluded
        ts.has_snapshot = False
        return 0


def _live_guards():
    """How many entries of guards this thread has not left yet; for tests."""
    return tls().n_guards


# --- __torch_function__

cdef class DisableTorchFunctionSubclass(Guard):
    """Switches the __torch_function__ of subclasses off; modes stay."""

    def __init__(self):
        self.parts = PART_FUNCTION
        self.undone_at_end = False

    cdef int apply(self, ThreadState* ts) except -1:
        if ts.torch_function_off == 0:
            ts.torch_function_off = 1
        return 0


cdef class DisableTorchFunction(Guard):
    """Switches __torch_function__ off, that of subclasses and that of modes."""

    def __init__(self):
        self.parts = PART_FUNCTION
        self.undone_at_end = False

    cdef int apply(self, ThreadState* ts) except -1:
        ts.torch_function_off = 2
        return 0


cdef class _EnableTorchFunction(Guard):
    """Switches __torch_function__ on again, from its construction on."""

    def __init__(self):
        self.parts = PART_FUNCTION
        self.enter()
        self.pending = True

    cdef int apply(self, ThreadState* ts) except -1:
        ts.torch_function_off = 0
        return 0
