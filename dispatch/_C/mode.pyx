"""TorchDispatchMode: a base class that pushes itself on the thread's mode stack (torch.utils._python_dispatch).

Compiled so that `FakeTensorMode` can be a C class below it; users subclass it in Python.
"""
cimport cython
from libc.stdlib cimport realloc

from dispatch._C.keys import DispatchKey
from dispatch._C.pre_dispatch import _pop_mode_from_pre_dispatch, _set_mode_pre_dispatch
from dispatch._C.tls import _pop_torch_dispatch_stack, _push_on_torch_dispatch_stack


@cython.auto_pickle(True)                # modes are copied and pickled as Python objects are
cdef class TorchDispatchMode:
    """Handles every dispatched call in its `with` block: override `__torch_dispatch__(self, func, types, args=(), kwargs=None)`.

    While a mode handles a call it is off: what the handler calls goes to the next mode. Modes nest, the innermost first.

    Example:
        >>> class Count(TorchDispatchMode):
        ...     n = 0
        ...     def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        ...         self.n += 1
        ...         return func(*args, **(kwargs or {}))
    """

    supports_higher_order_operators = False

    def __init__(self, _dispatch_key=None):
        if _dispatch_key is not None:
            self._dispatch_key = _dispatch_key

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError(f"{func}: {type(self).__name__} does not define "
                                  "__torch_dispatch__(self, func, types, args=(), kwargs=None)")

    def __enter__(self):
        if isinstance(getattr(type(self).__torch_dispatch__, "__self__", None), type):
            raise RuntimeError(f"{type(self).__name__}.__torch_dispatch__: classmethod is not supported, please make it a plain "
                               "method")
        key = getattr(self, "_dispatch_key", None)
        count_entry(self)                # asks the mode, whose answer may be an error: before anything changes
        try:
            if key is not None:
                push_pre_dispatch(self, key)
            else:
                _push_on_torch_dispatch_stack(self)
        except BaseException:
            count_exit(self)
            raise
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        if find_blocks(self) == NULL:
            raise IndexError(f"{type(self).__name__}: left without having been entered")
        if getattr(self, "_dispatch_key", None) is not None:
            _pop_mode_from_pre_dispatch()
        else:
            _pop_torch_dispatch_stack(getattr(self, "_mode_key", None))
        count_exit(self)

    @classmethod
    def push(cls, *args, **kwargs):
        """Deprecated: `with Mode():` pushes."""
        import warnings
        warnings.warn("`Mode.push()` is no longer necessary and can be replaced with just `with Mode()`", stacklevel=2)
        return cls(*args, **kwargs)

    @classmethod
    def is_infra_mode(cls):
        """Whether the mode has a fixed place below all user modes."""
        return False

    @classmethod
    def ignore_compile_internals(cls):
        """Whether the mode leaves compiled regions alone; infra modes do."""
        return cls.is_infra_mode()


# How many blocks of modes are entered, in all threads: of any mode, of user modes, of modes that see compiled regions.
cdef int entered = 0
cdef int entered_users = 0
cdef int entered_seeing = 0

cdef struct Blocks:                      # of one mode
    void* mode
    int n
    bint user
    bint seeing

# In C, for a mode is left also where the stack is used up and no object can be compared with another.
cdef Blocks* table = NULL
cdef int n_modes = 0
cdef int room = 0


cdef Blocks* find_blocks(TorchDispatchMode mode) noexcept:
    cdef int i
    for i in range(n_modes):
        if table[i].mode == <void*>mode:
            return &table[i]
    return NULL


cdef int count_entry(TorchDispatchMode mode) except -1:
    global entered, entered_users, entered_seeing, table, n_modes, room
    cdef bint user = not mode.is_infra_mode(), seeing = not mode.ignore_compile_internals()
    cdef Blocks* b = find_blocks(mode)
    cdef void* grown
    if b == NULL:
        if n_modes == room:
            grown = realloc(table, (2 * room + 8) * sizeof(Blocks))
            if grown == NULL:
                raise MemoryError("could not allocate room for one more mode")
            table, room = <Blocks*>grown, 2 * room + 8
        b = &table[n_modes]
        n_modes += 1
        b.mode, b.n, b.user, b.seeing = <void*>mode, 0, user, seeing
    b.n += 1
    entered += 1
    entered_users += b.user
    entered_seeing += b.seeing
    return 0


cdef void count_exit(TorchDispatchMode mode) noexcept:
    global entered, entered_users, entered_seeing, n_modes
    cdef Blocks* b = find_blocks(mode)
    if b == NULL:
        return
    entered -= 1
    entered_users -= b.user
    entered_seeing -= b.seeing
    b.n -= 1
    if b.n == 0:
        n_modes -= 1
        b[0] = table[n_modes]


def _entered_modes():
    """(entered blocks of modes, those of user modes, those of modes that do not ignore compiled regions)."""
    return entered, entered_users, entered_seeing


cdef int push_pre_dispatch(mode, key) except -1:
    if key != DispatchKey.PreDispatch:
        raise AssertionError(f"a mode's _dispatch_key is None or PreDispatch, got {key}")
    _set_mode_pre_dispatch(mode)
    return 0
