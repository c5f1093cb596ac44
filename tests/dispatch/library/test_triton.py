"""Custom operators around Triton kernels, where there is no Triton."""

import sys
import types

import pytest

import dispatch
from dispatch import FakeTensorMode, Tensor, library
from dispatch.functional import FunctionalTensor, FunctionalTensorMode
from dispatch.library import triton

inner = None


@pytest.fixture
def op():
    @library.triton_op("triton_ops::f", mutates_args=())
    def f(x: Tensor, n: int = 2) -> Tensor:
        seen.append(triton.is_wrap_triton_enabled())
        return x.sin() * n

    seen = f.seen = []
    yield f
    f._lib._destroy()


def test_the_function_serves_real_and_fake_tensors(op):
    x = dispatch.ones(3)
    assert dispatch.equal(op(x, 3), x.sin() * 3)
    with FakeTensorMode():
        assert op(dispatch.ones(2, 5)).shape == (2, 5)
    assert op.seen == [False, True]
    assert triton.is_wrap_triton_enabled()


def test_functionalization_looks_into_the_function(op):
    with FunctionalTensorMode():
        assert type(op(dispatch.ones(3))) is FunctionalTensor
    assert op.seen == [True]  # not as one operator, whose function runs with wrapping off


def test_only_kernels_of_triton_are_wrapped(monkeypatch):
    def plain(x): ...

    for wrap in (library.wrap_triton, triton.capture_triton):
        with pytest.raises(RuntimeError, match=r"annotated with triton\.jit"):
            wrap(plain)

    class JITFunction: ...

    jit = types.ModuleType("triton.runtime.jit")
    jit.JITFunction = JITFunction
    monkeypatch.setitem(sys.modules, "triton.runtime.jit", jit)
    kernel = JITFunction()
    assert library.wrap_triton(kernel) is kernel


def test_kernels_that_a_function_names_are_known_by_its_operator(monkeypatch):
    class JITFunction: ...

    jit = types.ModuleType("triton.runtime.jit")
    jit.JITFunction = JITFunction
    monkeypatch.setitem(sys.modules, "triton.runtime.jit", jit)
    monkeypatch.setitem(globals(), "inner", JITFunction())

    @library.triton_op("triton_ops::g", mutates_args=())
    def g(x: Tensor) -> Tensor:
        return x.clone() if inner is None else x.sin()

    assert triton.get_triton_kernels_for_op("triton_ops::g") == [inner]
    assert triton.get_triton_kernels_for_op("triton_ops::other") == []
    g._lib._destroy()
