"""What programs register for higher-order operators of their own."""

import pytest

import dispatch
from dispatch import FakeTensorMode, HigherOrderOperator
from dispatch._C.keys import DispatchKey
from dispatch._higher_order_ops.rules import (
    autograd_not_implemented,
    redirect_to_mode,
    register_fake,
)
from dispatch.modes import TorchDispatchMode

X = dispatch.ones(2)


def made(name, deferred=True):
    class Twice(HigherOrderOperator):
        def __init__(self):
            super().__init__(name)

        def __call__(self, fn, x):
            return super().__call__(fn, x)

    op = Twice()
    op.py_impl(DispatchKey.CompositeExplicitAutograd)(lambda fn, x: fn(fn(x)))
    op.py_impl(DispatchKey.Autograd)(autograd_not_implemented(op, deferred))
    return op


def test_a_fake_function_runs_with_the_mode_on():
    op = made("rules_fake")

    @register_fake(op)
    def fake(fn, x):
        return dispatch.empty(7), fn(x)

    with FakeTensorMode() as mode:
        new, seen = op(dispatch.sin, mode.from_tensor(X))
    assert new.fake_mode is seen.fake_mode is mode and new.shape == (7,)
    with pytest.raises(AssertionError, match="fake function already"):
        register_fake(op, fake)


def test_a_mode_handles_an_operator_that_is_redirected_to_it():
    op, seen = made("rules_mode"), []

    class Notes(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(func)
            return func(*args, **(kwargs or {}))

    redirect_to_mode(op, Notes)
    with Notes():
        assert op(dispatch.neg, X).equal(X)
    assert seen[0] is op


def test_without_a_formula_the_error_is_now_or_later():
    x = dispatch.ones(2, requires_grad=True)
    now, later = made("rules_now", deferred=False), made("rules_later")
    for op in (now, later):
        assert not op(dispatch.neg, X).requires_grad
        with dispatch.no_grad():
            assert not op(dispatch.neg, x).requires_grad
    assert later(dispatch.neg, x).requires_grad
    with pytest.raises(RuntimeError, match="Autograd not implemented for rules_now"):
        now(dispatch.neg, x)
