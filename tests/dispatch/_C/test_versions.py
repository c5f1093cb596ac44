"""Version counters: those that programs set, and of what stands in lists."""

import pytest

import dispatch
from dispatch.as_torch.autograd import _unsafe_preserve_version_counter, increment_version

A = dispatch.ops.aten
set_versions = dispatch._C._unsafe_set_version_counter


def test_a_version_is_set_for_all_that_share_it():
    x = dispatch.ones(2)
    view = x.view(1, 2)
    set_versions((view,), (9,))
    assert x._version == view._version == 9
    x.add_(1)
    increment_version([x])
    assert view._version == 11


@pytest.mark.parametrize(
    ("tensors", "versions", "error", "text"),
    [
        (1, [1, 2], RuntimeError, "1 tensors and 2 versions"),
        (2, [3, -1], RuntimeError, "begin at 0, got -1"),
        (1, [2.5], TypeError, "float"),
        (0, 7, TypeError, "a list of tensors and one of ints"),
    ],
)
def test_wrong_versions_are_refused_before_any_is_set(tensors, versions, error, text):
    x = dispatch.ones(2)
    with pytest.raises(error, match=text):
        set_versions([x] * tensors, versions)
    assert x._version == 0


def test_tensors_of_inference_mode_have_no_counter_to_set():
    with dispatch.inference_mode():
        x = dispatch.ones(2)
    with pytest.raises(RuntimeError, match="inference mode has no version counter"):
        set_versions([x], [1])


def test_writes_in_a_block_are_not_counted():
    x, y = dispatch.ones(2), dispatch.ones(2)
    y.add_(1)
    with _unsafe_preserve_version_counter((x, y)):
        x.add_(1)
        y.add_(1)
    with _unsafe_preserve_version_counter(x):
        x.add_(1)
    assert (x._version, y._version, x.tolist()) == (0, 1, [3, 3])
    with pytest.raises(AssertionError, match="expected tensors, got 3"):
        _unsafe_preserve_version_counter(3)


def test_resizing_to_the_same_sizes_is_no_write():
    same = dispatch.ones(4)
    same.resize_(4).resize_as_(dispatch.zeros(4)).resize_as_(same)
    assert same._version == 0
    assert same.resize_as_(dispatch.ones(4, 1))._version == 1
    assert same.resize_(5)._version == 2


@pytest.mark.parametrize(
    ("call", "n"),
    [
        (lambda o: A.split_copy.Tensor_out(dispatch.ones(6), 3, out=o), 1),
        (lambda o: A.unbind_copy.int_out(dispatch.ones(2, 3), out=o), 1),
        (lambda o: A.split_with_sizes_copy.out(dispatch.ones(6), [3, 3], out=o), 1),
        (lambda o: A._foreach_add.Scalar_out([dispatch.ones(3)] * 2, 1, out=o), 1),
        (lambda o: A._foreach_mul_.Scalar(o, 2), 1),
        (lambda o: A._fused_sgd_(
            o, [dispatch.ones(3)] * 2, [], weight_decay=0.0, momentum=0.0, lr=0.1, dampening=0.0,
            nesterov=False, maximize=False, is_first_step=True), 0),
    ],
)  # fmt: skip
def test_what_is_written_of_a_list_counts(call, n):
    """Fused optimisers count nothing, as in PyTorch."""
    written = [dispatch.zeros(3), dispatch.zeros(3)]
    call(written)
    assert [t._version for t in written] == [n, n]
