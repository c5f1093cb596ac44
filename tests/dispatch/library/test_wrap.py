"""`wrap*`: functions that run under a setting of gradients or autocast."""

import pytest

import dispatch
from dispatch import FakeTensorMode
from dispatch.library.wrap import wrap, wrap_with_autocast, wrap_with_set_grad_enabled

X = dispatch.ones(2, 2)


def test_a_function_is_called():
    assert dispatch.ops.higher_order.wrap(lambda x, *, n: x + n, X, n=2).tolist() == [[3, 3]] * 2
    assert wrap is dispatch.ops.higher_order.wrap


@pytest.mark.parametrize("flag", [True, False])
def test_gradients_are_on_or_off_inside_and_as_before_behind(flag):
    before = dispatch.is_grad_enabled()
    assert wrap_with_set_grad_enabled(flag, lambda: (dispatch.is_grad_enabled(),)) == (flag,)
    assert dispatch.is_grad_enabled() is before
    with pytest.raises(ZeroDivisionError):
        wrap_with_set_grad_enabled(not before, lambda: 1 // 0)
    assert dispatch.is_grad_enabled() is before


@pytest.mark.parametrize(("enabled", "dtype"), [(True, "bfloat16"), (False, "float32")])
def test_operators_inside_choose_the_dtype(enabled, dtype):
    given = "cpu", dispatch.bfloat16, enabled, None
    assert str(wrap_with_autocast(*given, dispatch.mm, X, X).dtype) == f"dispatch.{dtype}"
    assert dispatch.mm(X, X).dtype == dispatch.float32


def test_a_device_that_is_a_name_alone_is_cast_as_where_the_program_was_traced():
    with FakeTensorMode():
        x = dispatch.empty(2, 2, device="cuda")
        out = wrap_with_autocast("cuda", dispatch.float16, True, False, dispatch.mm, x, x)
    assert out.dtype == dispatch.float16
    assert not dispatch.is_autocast_enabled("cuda")
