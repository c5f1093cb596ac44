"""What a functional wrapper says of itself, and what programs do with one by hand."""

from collections.abc import Callable
from typing import Any

import pytest

import dispatch
from dispatch import FakeTensor, FakeTensorMode, Tensor, ops
from dispatch.functional import functionalize, wrappers

A = ops.aten
wrap = wrappers._to_functional_tensor
value_of = wrappers._from_functional_tensor


def fake(device: str) -> Tensor:
    with FakeTensorMode():
        return dispatch.empty(2, 3, device=device)


def laid_out() -> Tensor:
    """A wrapper subclass may have any layout, and so may the fake tensor that is made of it."""

    class Sparse(Tensor):
        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None):
            raise AssertionError("not called")

    layout = dispatch.sparse_coo
    wrapper = Tensor._make_wrapper_subclass(Sparse, (2, 2), (1, 2), layout=layout, device="meta")
    return FakeTensor(FakeTensorMode(), wrapper, dispatch.device("cpu"))


MADE: dict[str, Callable[[], Tensor]] = {
    "meta": lambda: dispatch.empty(2, 3, device="meta"),
    "another device": lambda: fake("cuda:1"),
    "an offset": lambda: dispatch.ones(4, 3)[1:],
    "strides": lambda: dispatch.ones(4, 3).t(),
    "dtype": lambda: dispatch.ones(2, dtype=dispatch.int16),
    "layout": laid_out,
    "conj": lambda: dispatch.ones(2, dtype=dispatch.complex64).conj(),
}


@pytest.mark.parametrize("what", MADE)
def test_a_wrapper_says_what_its_value_says(what: str) -> None:
    value = MADE[what]()
    made = wrap(value)
    for name in ("shape", "dtype", "device", "layout"):
        assert getattr(made, name) == getattr(value, name)
    assert made.is_conj() == value.is_conj()
    if value.layout is dispatch.strided:
        assert (made.stride(), made.storage_offset()) == (value.stride(), value.storage_offset())
        assert made.untyped_storage().device == value.device


def test_a_wrapper_is_an_inference_tensor_where_its_value_is():
    with dispatch.inference_mode():
        value = dispatch.ones(2)
    assert wrap(value).is_inference() and not wrap(dispatch.ones(2)).is_inference()


def test_a_value_given_by_hand_stays_until_the_storage_sees_a_write():
    w = wrap(dispatch.ones(2))
    w.add_(1)
    wrappers._sync(w)
    wrappers._replace_(w, dispatch.full((2,), 7.0))
    wrappers._sync(w)
    assert value_of(w).tolist() == [7, 7]
    wrappers._commit_update(w)
    assert value_of(w.view(1, 2)).tolist() == [[7, 7]]


def test_a_view_lies_as_its_value_does_once_its_base_was_written():
    """Rows with gaps are written as rows without."""

    def turned(x: Tensor) -> Tensor:
        view = x[0]
        assert view.stride() == (2,)
        x.add_(1)
        wrappers._sync(view)
        assert view.stride() == value_of(view).stride() == (1,)
        return view

    assert functionalize(turned)(dispatch.arange(12.0).view(2, 6)[:, ::2]).tolist() == [1, 3, 5]


def test_a_wrapper_put_over_anothers_storage_writes_there():
    dst, src = wrap(dispatch.ones(2)), wrap(dispatch.zeros(2))
    wrappers._functionalize_unsafe_set(dst, src)
    assert dst.untyped_storage() is src.untyped_storage()
    dst.add_(1)
    wrappers._sync(src)
    assert value_of(src).tolist() == [2, 2]


def test_a_wrapper_cut_off_has_a_storage_of_its_own():
    base = wrap(dispatch.zeros(2, 3))
    row = base[1]
    wrappers._unsafe_reset_storage(row)
    assert row.untyped_storage() is not base.untyped_storage()
    assert wrappers._is_functional_tensor_base(row)
    row.add_(1)
    wrappers._sync(base)
    assert value_of(base).tolist() == [[0, 0, 0], [0, 0, 0]]
    assert value_of(row).tolist() == [1, 1, 1]


def test_what_requires_grad_is_mirrored_as_no_leaf():
    source, target = wrap(dispatch.ones(2)), wrap(dispatch.ones(2))
    wrappers._mirror_autograd_meta_to(source, target)
    assert not target.requires_grad
    wrappers._mirror_autograd_meta_to(dispatch.ones(2, requires_grad=True), target)
    assert target.requires_grad and not target.is_leaf


def test_every_tensor_of_a_result_is_wrapped():
    x = wrap(dispatch.arange(4.0))
    for results in (A._foreach_add.Scalar([x, x], 1), A.sort.default(x), A.unbind_copy.int(x)):
        assert isinstance(results, (list, tuple))
        assert all(wrappers._is_functional_tensor(t) for t in results)


def test_a_transform_leaves_autograd_to_the_values_below():
    x = dispatch.ones(2, requires_grad=True)
    seen: list[bool] = []

    def program(t: Tensor) -> Tensor:
        y = t * 2
        seen.append(value_of(y).requires_grad)
        y.add_(1)
        wrappers._sync(y)
        seen.append(value_of(y).requires_grad)
        return y

    assert functionalize(program)(x).requires_grad and seen == [True, True]


def test_writes_in_inference_mode_are_told_from_others_though_gradients_are_on():
    told = wrappers._functionalize_are_all_mutations_under_no_grad_or_inference_mode
    w = wrap(dispatch.ones(2))
    with dispatch.inference_mode(), dispatch.enable_grad():
        w.add_(1)
    assert told(w)
    w.add_(1)
    assert not told(w)
