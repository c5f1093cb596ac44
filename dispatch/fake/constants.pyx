"""Fake tensors of one element whose value is known: operators on them alone run for real (FakeTensorMode._dispatch_impl).

Called by `propagate` before anything else; what is written with unknown values loses its constant, and so does what shares its
storage.
"""
from cpython.object cimport PyObject
from libc.stdint cimport uint64_t

from dispatch._C.dtypes cimport DEV_META
from dispatch._C.emitted cimport AF_WRITE
from dispatch._C.keys cimport KS_Python, KS_PythonTLSSnapshot
from dispatch._C.operator cimport OperatorEntry
from dispatch._C.plain_arguments cimport has_symbols
from dispatch._C.python_kernel cimport get_overload, python_arguments
from dispatch._C.symbolic cimport NK_FLOAT, NK_INT, NK_NONE, number_kind
from dispatch._C.tensor cimport TF_FAKE, TF_HAS_TORCH_DISPATCH, TF_SYMBOLIC, Tensor
from dispatch._C.tls cimport ThreadState
from dispatch.fake.converter cimport FakeTensorConverter
from dispatch.fake.fake_tensor cimport FakeTensor
from dispatch.fake.settings cimport FakeState

CONSTANT_NUMEL_LIMIT = 1

cdef uint64_t PYTHON_KEYS = KS_Python | KS_PythonTLSSnapshot


cdef bint may_be_constant(object t) noexcept:
    return isinstance(t, Tensor) and not (<Tensor>t).c_flags & (TF_FAKE | TF_HAS_TORCH_DISPATCH | TF_SYMBOLIC) \
        and (<Tensor>t).c_numel <= 1 and (<Tensor>t).c_devtype != DEV_META


cdef object run_for_real(OperatorEntry e, tuple a, dict kw, ThreadState* ts):
    """The operator with handlers off; NotImplemented when it has no kernel for these."""
    cdef uint64_t excluded = ts.excluded
    ts.excluded |= PYTHON_KEYS
    try:
        return get_overload(e)(*a, **kw)
    except NotImplementedError:
        return NotImplemented
    finally:
        ts.excluded = excluded


cdef object from_numbers(FakeState mode, OperatorEntry e, PyObject** args, ThreadState* ts):
    cdef uint64_t excluded = ts.excluded
    cdef bint symbolic = has_symbols(e, args)
    a, kw = python_arguments(e, args)
    if symbolic:                             # what they come to is nobody's question; the dtype is that of any such number
        a, kw = tuple([some_number(v) for v in a]), {k: some_number(v) for k, v in kw.items()}
    r = run_for_real(e, a, kw, ts)
    if type(r) is not Tensor or not may_be_constant(r):
        return NotImplemented
    ts.excluded |= PYTHON_KEYS
    try:
        r = r.clone()                        # the caller's tensor may change
    finally:
        ts.excluded = excluded
    return (<FakeTensorConverter>mode.c_converter).convert(mode, <Tensor>r, not symbolic)


cdef object some_number(object value):
    cdef int kind = number_kind(<PyObject*>value)
    return value if kind == NK_NONE else 1 if kind == NK_INT else 1.0 if kind == NK_FLOAT else True


cdef object constant_result(FakeState mode, OperatorEntry e, PyObject** args, ThreadState* ts):
    cdef FakeTensorConverter converter = <FakeTensorConverter>mode.c_converter
    a, kw = python_arguments(e, args)
    r = run_for_real(e, tuple([constant_of(v) for v in a]), {k: constant_of(v) for k, v in kw.items()}, ts)
    if r is NotImplemented:
        return r
    outs = list(r) if isinstance(r, (tuple, list)) else [r]
    tensors = [t for t in outs if isinstance(t, Tensor)]
    if not all([may_be_constant(t) for t in tensors]):
        for t in tensors:
            converter.invalidate_constant_aliases(t)
        return NotImplemented
    outs = [converter.convert(mode, <Tensor>t, True) if isinstance(t, Tensor) else t for t in outs]
    return type(r)(outs) if isinstance(r, (tuple, list)) else outs[0]


cdef object constant_of(object value):
    if isinstance(value, FakeTensor):
        return (<FakeTensor>value).c_constant
    return [constant_of(v) for v in value] if type(value) is list else value


cdef int drop_written_constants(FakeState mode, OperatorEntry e, PyObject** args) except -1:
    cdef int i
    for i in range(e.sig.n_args):
        if not e.sig.args[i].flags & AF_WRITE:
            continue
        for t in (<object>args[i] if isinstance(<object>args[i], list) else (<object>args[i],)):
            drop_constant(mode, t)
    return 0


cpdef int drop_constant(FakeState mode, object t) except -1:
    """The values of `t`, and of what shares its storage, are not known any more."""
    if isinstance(t, FakeTensor) and (<FakeTensor>t).c_constant is not None:
        (<FakeTensorConverter>mode.c_converter).invalidate_constant_aliases((<FakeTensor>t).c_constant)
        (<FakeTensor>t).c_constant = None
    return 0
