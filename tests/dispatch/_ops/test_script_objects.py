"""Operators that take objects of custom classes."""

import pytest

import dispatch
from dispatch import DispatchKey, _ops, ops
from dispatch.registry.entries import singleton
from dispatch.registry.script_classes import FakeScriptObject

pytestmark = pytest.mark.usefixtures("same_state_after")

STACK = "__torch__.torch.classes.shop.Stack"


@pytest.fixture
def op(library):
    lib = library("shop", "DEF")
    lib.define(f"f({STACK} obj, Tensor x) -> Tensor")
    return ops.shop.f.default


def test_stand_ins_are_dispatched_in_python(op):
    op.py_impl(DispatchKey.CompositeExplicitAutograd)(lambda obj, x: x + obj.wrapped_obj)
    fake = FakeScriptObject(2, STACK, None)
    assert isinstance(op, _ops.TorchBindOpOverload)
    assert op(fake, dispatch.ones(1)).item() == 3
    assert ops.shop.f(fake, x=dispatch.ones(1)).item() == 3


def test_stand_in_of_another_class_fits_no_overload_of_the_packet(op):
    with pytest.raises(RuntimeError, match=r"shop.f.*fit none"):
        ops.shop.f(FakeScriptObject(2, STACK + "2", None), dispatch.ones(1))


def test_stand_in_without_a_python_kernel_is_an_error(op, library):
    library("shop", "FRAGMENT").impl("f", lambda obj, x: x, "CPU")
    with pytest.raises(RuntimeError, match="FakeScriptObject"):
        op(FakeScriptObject(2, STACK, None), dispatch.ones(1))


def test_effect_for_a_block(op):
    holder = singleton.find("shop::f").effect
    with op._register_as_effectful_op_temporarily():
        assert holder.effect.name == "ORDERED"
    assert holder.effect is None
