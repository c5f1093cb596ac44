"""The operators of PyTorch's own tests: defaults, lists, views."""

import pytest

import dispatch
from dispatch import ops

aten = ops.aten
X = dispatch.arange(3.0)


def test_defaults_reach_the_kernel():
    assert aten._test_ambiguous_defaults(X).item() == 1
    assert aten._test_ambiguous_defaults.b(X).item() == 2
    assert aten._test_string_default(X) is X
    with pytest.raises(RuntimeError, match="_string_default: expected the default of B, got 'x'"):
        aten._test_string_default(X, b="x")


def test_lists_are_optional():
    numbers = dispatch.tensor([1, 2], dtype=dispatch.int32)
    assert aten._test_optional_intlist(numbers, None) is numbers
    assert aten._test_optional_intlist(numbers, [3, 4]).tolist() == [4, 6]
    assert aten._test_optional_filled_intlist(numbers, 3).tolist() == [4, 5]
    assert aten._test_optional_floatlist(X[:2], [0.5, 1.5]).tolist() == [0.5, 2.5]
    with pytest.raises(RuntimeError, match=r"values of .*int32"):
        aten._test_optional_intlist(dispatch.tensor([1, 2]), [3, 4])


def test_a_view_and_its_copy():
    x = X.reshape(3, 1)
    view = aten._test_autograd_multiple_dispatch_view(x)
    assert view.shape == (3,) and view.data_ptr() == x.data_ptr()
    copy = aten._test_autograd_multiple_dispatch_view_copy(x)
    assert copy.tolist() == [0, 1, 2] and copy.data_ptr() != x.data_ptr()


def test_what_is_not_true_everywhere_is_refused():
    assert aten._test_check_tensor(X >= 0).tolist() == [True, True, True]
    with pytest.raises(RuntimeError, match=r"_test_check_tensor: .* TORCH_CHECK_TENSOR_ALL"):
        aten._test_check_tensor(X > 0)
