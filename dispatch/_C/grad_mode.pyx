"""Gradient mode and inference mode: `with`, decorator and statement, as in PyTorch.

There is no autograd engine: gradient mode decides whether AutogradX marks the outputs of
differentiable operators, inference mode also switches views and version counters off. Python calls
these; tensors and the call path read `ThreadState`. Invariant: leaving restores what was found.
"""
from functools import wraps
from warnings import warn

from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF

from dispatch._C.guards cimport PART_EXCLUDED, PART_GRAD, PART_INCLUDED, Guard
from dispatch._C.keys cimport KS_ADInplaceOrView, KS_AUTOGRAD
from dispatch._C.python_api cimport PyCallable_Check_, PyVectorcall_NARGS_
from dispatch._C.tls cimport ThreadState, tls

cdef extern from *:          # Cython's own declaration of a class leaves its vectorcall out
    ctypedef PyObject* (*vectorcallfunc)(PyObject*, PyObject* const*, size_t, PyObject*) except NULL
    ctypedef struct PyTypeObject:
        vectorcallfunc tp_vectorcall

__all__ = [
    "_InferenceMode",
    "_set_grad_enabled",
    "enable_grad",
    "inference_mode",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "no_grad",
    "set_grad_enabled",
]


def is_grad_enabled():
    """Whether operators record gradients in this thread."""
    return bool(tls().grad_mode)


def _set_grad_enabled(enabled):
    """Switches gradient mode for good; function modes are asked, and see the guards of it so too."""
    switch(tls(), check_bool(enabled, "set_grad_enabled"))


cdef object grad_watch = None            # asks function modes; None until there was one


def _watch_grad_mode(watch):
    """Call `watch(func, enabled)` for every switch: whether somebody was asked, who then decides."""
    global grad_watch
    grad_watch = watch


cdef int switch(ThreadState* ts, bint enabled) except -1:
    if grad_watch is None or not grad_watch(_set_grad_enabled, enabled):
        ts.grad_mode = enabled
    return 0


def is_inference_mode_enabled():
    """Whether inference mode is on in this thread."""
    return bool(tls().inference_mode)


cdef bint check_bool(object value, str function) except -1:
    if value is not True and value is not False:
        raise TypeError(
            f"{function}: mode: expected a bool, got {value!r} ({type(value).__name__})")
    return value is True


cdef inline void apply_inference(ThreadState* ts, bint enabled) noexcept nogil:
    """Inference mode: no gradients, views, versions or autograd keys; off: all of them again."""
    ts.grad_mode = not enabled
    ts.inference_mode = enabled
    if enabled:
        ts.included &= ~KS_ADInplaceOrView
        ts.excluded |= KS_AUTOGRAD
    else:
        ts.included |= KS_ADInplaceOrView
        ts.excluded &= ~KS_AUTOGRAD


cdef class _InferenceMode(Guard):
    """Inference mode on or off, from its construction on."""
    cdef bint mode

    def __init__(self, mode):
        self.mode = check_bool(mode, "_InferenceMode")
        self.parts = PART_INCLUDED | PART_EXCLUDED | PART_GRAD
        self.enter()
        self.pending = True

    cdef int apply(self, ThreadState* ts) except -1:
        apply_inference(ts, self.mode)
        return 0


cdef class DecoratorGuard(Guard):
    """A guard that also decorates: each call (each step of a generator) runs under a fresh copy."""

    def clone(self):
        """A new guard of this kind."""
        return type(self)()

    def __call__(self, function):
        return decorate(self.clone, function)


cdef class GradGuard(DecoratorGuard):
    """A guard of gradient mode: function modes see its switches."""
    cdef bint on

    cdef int apply(self, ThreadState* ts) except -1:
        return switch(ts, self.on)

    def __exit__(self, exc_type, exc_value, traceback):
        cdef ThreadState* ts = tls()
        cdef bint inside = ts.grad_mode
        self.pending = False
        if self.leave() and grad_watch is not None:
            before, ts.grad_mode = ts.grad_mode, inside
            switch(ts, before)


cdef class no_grad(GradGuard):
    """Switches gradients off: `with no_grad():`, `@no_grad()` or `@no_grad`."""

    def __init__(self):
        self.parts = PART_GRAD
        self.undone_at_end = False


cdef class enable_grad(GradGuard):
    """Switches gradients on: `with enable_grad():`, `@enable_grad()` or `@enable_grad`."""

    def __init__(self):
        self.parts = PART_GRAD
        self.undone_at_end = False
        self.on = True


cdef class set_grad_enabled(GradGuard):
    """Switches gradients on or off at once: a statement does so for good, `with` for its block.

    As a decorator it acts during the calls only.
    """
    cdef readonly bint mode
    cdef readonly bint prev

    def __init__(self, mode):
        self.mode = self.on = check_bool(mode, "set_grad_enabled")
        self.parts = PART_GRAD
        self.undone_at_end = False
        self.prev = tls().grad_mode
        self.enter()
        self.pending = True

    def __enter__(self):
        if self.pending and grad_watch is not None:
            switch(tls(), self.mode)
        Guard.__enter__(self)

    def clone(self):
        """A new guard with the same mode; acts at once, as any."""
        return type(self)(self.mode)

    def __call__(self, function):
        self.__exit__(None, None, None)
        return decorate(self.clone, function)

    def __repr__(self):
        return f"{type(self).__module__}.set_grad_enabled(mode={self.mode})"


cdef class inference_mode(DecoratorGuard):
    """No gradients, no views, no version counters.

    `with inference_mode():`, `@inference_mode()` or `@inference_mode`.
    """
    cdef readonly bint mode

    def __init__(self, mode=True):
        self.mode = check_bool(mode, "inference_mode")
        self.parts = PART_INCLUDED | PART_EXCLUDED | PART_GRAD

    cdef int apply(self, ThreadState* ts) except -1:
        apply_inference(ts, self.mode)
        return 0

    def clone(self):
        """A new guard with the same mode."""
        return type(self)(self.mode)


def decorate(factory, function):
    """`function`, each call of which runs inside `with factory():`."""
    if isinstance(function, type):
        warn(
            "a gradient mode that decorates a class acts while it is constructed only",
            FutureWarning,
            stacklevel=2,
        )
    if is_generator_function(function):
        def decorated(*args, **kwargs):
            return run_generator(factory, function(*args, **kwargs))
    else:
        def decorated(*args, **kwargs):
            with factory():
                return function(*args, **kwargs)
    return wraps(function)(decorated)


cdef bint is_generator_function(object function) except -1:
    cdef int CO_GENERATOR = 0x20
    while hasattr(function, "func") or hasattr(function, "__func__"):     # partial, bound method
        function = function.func if hasattr(function, "func") else function.__func__
    code = getattr(function, "__code__", None)
    return code is not None and (code.co_flags & CO_GENERATOR) != 0


def run_generator(factory, generator):
    """Yields what `generator` yields; its steps run inside `with factory():`, the caller not."""
    step, args = generator.send, (None,)
    while True:
        try:
            with factory():
                response = step(*args)
        except StopIteration as stop:
            return stop.value
        try:
            sent = yield response
        except GeneratorExit:
            with factory():
                generator.close()
            raise
        except BaseException as error:
            step, args = generator.throw, (error,)
        else:
            step, args = generator.send, (sent,)


# `no_grad(f)` is a decorated function, not a guard: calling these classes looks at the argument.
cdef vectorcallfunc call_no_grad = (<PyTypeObject*>no_grad).tp_vectorcall
cdef vectorcallfunc call_enable_grad = (<PyTypeObject*>enable_grad).tp_vectorcall
cdef vectorcallfunc call_inference_mode = (<PyTypeObject*>inference_mode).tp_vectorcall


cdef PyObject* new_or_decorate(
    vectorcallfunc construct, PyObject* cls, PyObject* const* args, size_t n_args, PyObject* names
) except NULL:
    if PyVectorcall_NARGS_(n_args) == 1 and names == NULL and PyCallable_Check_(args[0]):
        result = decorate(<object>cls, <object>args[0])
    elif construct != NULL:
        return construct(cls, args, n_args, names)
    else:                        # a Cython that gives classes no vectorcall of their own
        n_positional = PyVectorcall_NARGS_(n_args)
        keywords = {} if names == NULL else {
            name: <object>args[n_positional + i] for i, name in enumerate(<tuple>names)}
        positional = [<object>args[i] for i in range(n_positional)]
        result = type.__call__(<object>cls, *positional, **keywords)
    Py_INCREF(result)
    return <PyObject*>result


cdef PyObject* new_no_grad(
    PyObject* cls, PyObject* const* args, size_t n_args, PyObject* names
) except NULL:
    return new_or_decorate(call_no_grad, cls, args, n_args, names)


cdef PyObject* new_enable_grad(
    PyObject* cls, PyObject* const* args, size_t n_args, PyObject* names
) except NULL:
    return new_or_decorate(call_enable_grad, cls, args, n_args, names)


cdef PyObject* new_inference_mode(
    PyObject* cls, PyObject* const* args, size_t n_args, PyObject* names
) except NULL:
    return new_or_decorate(call_inference_mode, cls, args, n_args, names)


(<PyTypeObject*>no_grad).tp_vectorcall = new_no_grad
(<PyTypeObject*>enable_grad).tp_vectorcall = new_enable_grad
(<PyTypeObject*>inference_mode).tp_vectorcall = new_inference_mode
