"""Operators that take functions."""

import pytest

import dispatch
from dispatch import DispatchKey, HigherOrderOperator, _ops
from dispatch.modes import TorchDispatchMode

pytestmark = pytest.mark.usefixtures("same_state_after")


class Mode(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


@pytest.fixture
def op():
    class Apply(HigherOrderOperator):
        def __init__(self):
            super().__init__("apply_for_a_test")

        def __call__(self, f, x):
            return super().__call__(f, x)

    yield Apply()
    _ops._higher_order_ops.pop("apply_for_a_test")
    vars(_ops.ops.higher_order).pop("apply_for_a_test", None)


def test_composite_serves_every_backend(op):
    op.py_impl(DispatchKey.CompositeImplicitAutograd)(lambda f, x: f(x))
    assert op(lambda x: x + 1, dispatch.ones(1)).item() == 2
    assert op(lambda x: x.shape, dispatch.ones(3, device="meta")) == (3,)


def test_fallbacks_of_the_dispatcher_serve_nothing(op):
    op.py_impl(DispatchKey.CPU)(lambda f, x: f(x))
    with pytest.raises(NotImplementedError, match=r"apply_for_a_test.*AutogradCPU.*exist for: CPU"):
        op(lambda x: x, dispatch.ones(1))


def test_mode_needs_a_rule_or_takes_all(op):
    op.py_impl(DispatchKey.CompositeExplicitAutograd)(lambda f, x: f(x))
    op.fallthrough(DispatchKey.AutogradCPU)
    x = dispatch.ones(1)
    with Mode(), pytest.raises(NotImplementedError, match="supports_higher_order_operators"):
        op(lambda t: t, x)
    op.py_impl(Mode)(lambda mode, f, x: "rule")
    with Mode():
        assert op(lambda t: t, x) == "rule"


def test_autograd_rule_runs_when_gradients_are_recorded(op):
    op.py_impl(DispatchKey.CompositeExplicitAutograd)(lambda f, x: "kernel")
    op.py_autograd_impl(lambda f, x: "autograd")
    assert op(None, dispatch.ones(1)) == "kernel"
    x = dispatch.ones(1, requires_grad=True)
    assert op(None, x) == "autograd"
    with dispatch.no_grad():
        assert op(None, x) == "kernel"


def test_autograd_rule_refuses_a_schema_that_writes(op):
    from dispatch import parse_schema

    schema = parse_schema("apply(Any f, Tensor(a!) x) -> Tensor")
    type(op).gen_schema = lambda self, f, x: schema
    op.py_autograd_impl(lambda f, x: "autograd")
    with pytest.raises(RuntimeError, match="written"):
        op(None, dispatch.ones(1, requires_grad=True))
