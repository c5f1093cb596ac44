"""Methods of Tensor that programs seldom call."""

import pytest

import dispatch
from dispatch.tensor import storage_classes


def test_elements_are_replaced_by_what_a_function_makes_of_them():
    x = dispatch.tensor([[1, 2], [3, 4]])
    assert x.t().apply_(lambda v: v * 10).tolist() == [[10, 30], [20, 40]]
    assert x.tolist() == [[10, 20], [30, 40]]
    assert x.map_(dispatch.tensor([1, 2]), lambda a, b: a + b).tolist() == [[11, 22], [31, 42]]
    ones = dispatch.ones(2, 2, dtype=dispatch.int64)
    assert x.map2_(ones, ones, lambda a, b, c: a - b - c).tolist() == [[9, 20], [29, 40]]


def test_elements_of_other_devices_and_of_leaves_are_not_replaced():
    with pytest.raises(TypeError, match="on meta"):
        dispatch.ones(2, device="meta").map_(dispatch.ones(2), lambda a, b: a)
    x = dispatch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="requires grad"):
        x.apply_(lambda v: v)
    assert x.tolist() == [1, 1]


def test_resize_keeps_the_elements():
    x = dispatch.arange(6)
    with pytest.warns(UserWarning, match="deprecated"):
        assert x.resize(2, 3).tolist() == [[0, 1, 2], [3, 4, 5]]
    with pytest.warns(UserWarning, match="deprecated"):
        assert x.resize_as(dispatch.ones(3, 2)).shape == (3, 2)
    with pytest.warns(UserWarning), pytest.raises(RuntimeError, match="6 elements"):
        x.resize(4)


def test_hooks_say_why_nobody_would_call_them():
    with pytest.raises(RuntimeError, match="does not require grad"):
        dispatch.ones(1).register_hook(print)
    with pytest.raises(RuntimeError, match="no autograd engine"):
        dispatch.ones(1, requires_grad=True).register_post_accumulate_grad_hook(print)
    with pytest.raises(RuntimeError, match="not shared"):
        dispatch.ones(1).share_memory_()


def test_the_class_of_a_storage_and_loading():
    x = dispatch.zeros(2)
    assert x.storage_type() is storage_classes.FloatStorage
    assert x.to(dispatch.uint16).storage_type() is x.to("meta").storage_type() is None
    assert x.module_load(dispatch.ones(2)).tolist() == x.tolist() == [1, 1]
    other = dispatch.ones(3)
    assert x.module_load(other, assign=True).data_ptr() == other.data_ptr()


def test_handlers_see_these_methods_by_name():
    class Sub(dispatch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func

    x = Sub([1.0])
    assert x.apply_(abs) is dispatch.Tensor.apply_
    assert x.resize(1) is dispatch.Tensor.resize


def test_callables_give_numbers_and_read_tensors_of_one_dtype():
    x, y = dispatch.ones(2), dispatch.ones(2, dtype=dispatch.int64)
    for wrong in ("text", [1], None):
        with pytest.raises(TypeError, match="expected a number"):
            x.apply_(lambda v, wrong=wrong: wrong)
    with pytest.raises(TypeError, match=r"map_: expected dispatch\.float32"):
        x.map_(y, lambda a, b: a)
    with pytest.raises(RuntimeError, match=r"map2_: .*requires grad"):
        x.map2_(x.clone(), dispatch.ones(2, requires_grad=True), lambda a, b, c: a)
    assert x.tolist() == [1, 1]
