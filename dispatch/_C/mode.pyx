"""TorchDispatchMode: a base class that pushes itself on the thread's mode stack (torch.utils._python_dispatch).

Compiled so that `FakeTensorMode` can be a C class below it; users subclass it in Python.
"""
from dispatch._C.tls import _pop_torch_dispatch_stack, _push_on_torch_dispatch_stack


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
        raise NotImplementedError

    def __enter__(self):
        key = getattr(self, "_dispatch_key", None)
        if key is not None:
            push_pre_dispatch(self, key)
        else:
            _push_on_torch_dispatch_stack(self)
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        if getattr(self, "_dispatch_key", None) is not None:
            pop_pre_dispatch()
        else:
            _pop_torch_dispatch_stack(getattr(self, "_mode_key", None))

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


cdef int push_pre_dispatch(mode, key) except -1:
    from dispatch import _ops
    _ops._set_mode_pre_dispatch(mode, key)
    return 0


cdef int pop_pre_dispatch() except -1:
    from dispatch import _ops
    _ops._pop_mode_from_pre_dispatch()
    return 0
