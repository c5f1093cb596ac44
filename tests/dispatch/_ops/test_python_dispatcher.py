"""The Python dispatcher: kernels by py_impl serve while it is on."""

import dispatch
from dispatch import ops
from dispatch._C.keys import DispatchKey
from dispatch._ops import enable_python_dispatcher, no_python_dispatcher
from tests.dispatch.kernels.tensors import traced


def test_kernels_by_py_impl_serve_while_it_is_on():
    lib = dispatch.Library("t_pydisp", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: x * 2, "CPU")
    op = ops.t_pydisp.f.default
    op.py_impl(DispatchKey.CPU)(lambda x: x * 3)
    x = dispatch.ones(1)
    assert op(x).item() == 2.0
    with enable_python_dispatcher():
        assert op(x).item() == 3.0
        with no_python_dispatcher():
            assert op(x).item() == 2.0


def test_what_is_only_taken_apart_when_asked_is_taken_apart_by_it_above_the_kernels():
    x, ones, zeros = dispatch.ones(1, 2, 3), dispatch.ones(2), dispatch.zeros(2)
    args = (x, None, None, zeros, ones, True, 0.1, 1e-5)
    with traced() as seen:
        ops.aten.native_batch_norm.default(*args)
        with enable_python_dispatcher():
            ops.aten.native_batch_norm.default(*args)
    assert seen == ["native_batch_norm.default", "_native_batch_norm_legit.default"]
